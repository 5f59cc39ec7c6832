-- The outcome of an effect is written over its intent within milliseconds. An index whose condition names the state
-- makes that a new entry in every index of the ledger; without it the new version of the row stays in its page,
-- where it has room now. What looks for effects by time alone (a day's doubts) reads the ledger's blocks of that day.
-- Owner: internal/queue.

-- +goose Up
DROP INDEX effects_unsettled;
CREATE INDEX effects_intent_at ON effects USING brin (intent_at) WITH (pages_per_range = 16);
ALTER TABLE effects SET (fillfactor = 50);
