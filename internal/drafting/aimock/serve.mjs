// Serves the answers that the drafting tests ask for. Which case a request
// belongs to is told by a word in the item's title, which every turn repeats.
import { LLMock } from '@copilotkit/aimock';

const mock = new LLMock({ port: 0, logLevel: 'silent' });
const text = JSON.stringify({
  skip: false, reason: '', headline: 'Tenth radar satellite is up', language: 'en', tags: ['space'],
  body: 'Rocket Lab sent its tenth radar satellite into orbit from Mahia on Tuesday. It wants to launch 16 rockets this year.',
  evidence: [{ claim: 'tenth', quote: 'put its tenth radar satellite into orbit' }],
});
const usage = { prompt_tokens: 900, completion_tokens: 150, input_tokens: 900, output_tokens: 150 };
const good = { content: text, usage };
const cut = { content: text.slice(0, 70), finishReason: 'length', usage };

/** Adds the answer of a case, of its n-th turn only where turn is given. */
function on(word, response, { turn, nth, format, ...opts } = {}) {
  const match = {
    predicate: req => JSON.stringify(req.messages).includes(word)
      && (turn === undefined || req.messages.filter(m => m.role === 'assistant').length === turn)
      && (format === undefined || req.response_format?.type === format),
  };
  if (nth !== undefined) match.sequenceIndex = nth;
  mock.on(match, response, opts);
}
const fails = (status, message, more = {}) => ({ error: { message, ...more }, status });
const later = ms => new Promise(done => setTimeout(done, ms));

on('Quuxgood', good);
on('Quuxbroken', { content: '{"headline": "Tenth', usage });
on('Quuxmended', { content: '{"headline": "Tenth', usage }, { turn: 0 });
on('Quuxmended', good, { turn: 1 });
on('Quuxlength', cut, { turn: 0 });
on('Quuxlength', good, { turn: 1 });
on('Quuxendless', cut);
on('Quuxrefusal', { content: '', finishReason: 'content_filter', usage });
on('Quuxprose', { content: 'I am sorry, but I cannot help with that request.', usage });
on('Quuxdenied', fails(401, 'Incorrect API key provided: sk-abcdefgh', { type: 'invalid_request_error', code: 'invalid_api_key' }));
on('Quuxlater', { ...fails(429, 'Slow down', { type: 'rate_limit_error' }), retryAfter: 2 }, { nth: 0 });
on('Quuxlater', good);
on('Quuxquota', fails(429, 'You exceeded your current quota', { type: 'insufficient_quota', code: 'insufficient_quota' }));
on('Quuxfails', fails(500, 'The server had an error', { type: 'server_error' }));
on('Quuxbusy', fails(503, 'Overloaded', { type: 'server_error' }));
on('Quuxhang', async () => { await later(4000); return good; });
on('Quuxdrop', good, { chaos: { disconnectRate: 1 } });
on('Quuxgarbled', good, { chaos: { malformedRate: 1 } });
on('Quuxladder', fails(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported", { type: 'invalid_request_error' }), { format: 'json_schema' });
on('Quuxladder', fails(400, "'response_format' of type 'json_object' is not supported", { type: 'invalid_request_error' }), { format: 'json_object' });
on('Quuxladder', good);

console.log(await mock.start());
process.stdin.on('end', () => process.exit(0)).resume(); // ends with the test
