// A small bot written with grammY, run against the sandbox by peer_test.go:
// it answers /start, asks for a channel, posts on a tap, edits, and takes a
// payment. It prints what it saw, one JSON line each.
import { Bot, GrammyError, InlineKeyboard, InputFile, Keyboard } from 'grammy';

const bot = new Bot(process.env.BOT_TOKEN, { client: { apiRoot: process.env.API_ROOT } });
const say = (event, data = {}) => console.log(JSON.stringify({ event, ...data }));

bot.command('start', async ctx => {
  say('start', { arg: ctx.match, lang: ctx.from.language_code });
  await ctx.reply('<b>Hello</b>, which channel?', {
    parse_mode: 'HTML',
    reply_markup: new Keyboard().requestChat('Choose', 1, {
      chat_is_channel: true, request_title: true,
      user_administrator_rights: rights, bot_administrator_rights: rights,
    }).resized(),
  });
});
const rights = {
  is_anonymous: false, can_manage_chat: true, can_delete_messages: false, can_manage_video_chats: false, can_restrict_members: false,
  can_promote_members: false, can_change_info: false, can_invite_users: false, can_post_messages: true, can_post_stories: false, can_edit_stories: false, can_delete_stories: false,
};
bot.on('my_chat_member', ctx => say('member', { status: ctx.myChatMember.new_chat_member.status, may: ctx.myChatMember.new_chat_member.can_post_messages }));
bot.on('message:chat_shared', async ctx => {
  const id = ctx.message.chat_shared.chat_id;
  const me = await ctx.api.getChatMember(id, ctx.me.id);
  say('shared', { title: ctx.message.chat_shared.title, status: me.status });
  await ctx.reply('Approve?', { reply_markup: new InlineKeyboard().text('✅ Approve', 'ok:' + id) });
});
bot.callbackQuery(/^ok:(.+)$/, async ctx => {
  const post = await ctx.api.sendMessage(Number(ctx.match[1]), 'A <i>post</i>', { parse_mode: 'HTML' });
  await ctx.editMessageText('Posted as ' + post.message_id);
  await ctx.answerCallbackQuery({ text: 'Done' });
  say('posted', { id: post.message_id, sender: post.sender_chat.title });
  try {
    await ctx.api.editMessageText(ctx.chat.id, ctx.msg.message_id, 'Posted as ' + post.message_id);
  } catch (e) {
    if (!(e instanceof GrammyError)) throw e;
    say('refused', { code: e.error_code, description: e.description });
  }
  await ctx.api.sendDocument(ctx.chat.id, new InputFile(new TextEncoder().encode('<opml/>'), 'list.opml'));
  await ctx.replyWithInvoice('Plan', 'A month', 'plan:1', 'XTR', [{ label: 'Plan', amount: 50 }]);
});
bot.on('pre_checkout_query', ctx => ctx.answerPreCheckoutQuery(true));
bot.on('message:successful_payment', ctx => say('paid', { total: ctx.message.successful_payment.total_amount, charge: ctx.message.successful_payment.telegram_payment_charge_id.length > 0 }));
bot.on('message:text', ctx => { say('text', { text: ctx.message.text, entities: (ctx.message.entities ?? []).map(e => e.type), forwarded: ctx.message.forward_origin?.type }); });
bot.catch(e => { say('error', { message: String(e.error) }); process.exit(1); });
process.stdin.on('end', () => bot.stop()).resume();
await bot.start({ onStart: me => say('ready', { username: me.username }) });
