-- What Telegram told us, before anything is acknowledged: an update is a row first, and a job in the same
-- transaction. Owner: internal/telegram. Rows are kept for 72 hours (Telegram itself delivers for 24), so that an
-- update which comes again is known.

-- +goose Up
CREATE TABLE updates (
    bot_id          bigint      NOT NULL,
    update_id       bigint      NOT NULL,                -- (bot, update_id) is the natural key; may restart lower after a quiet week
    kind            text        NOT NULL,                -- message, callback_query, …; '' where none is known
    chat_id         bigint      NOT NULL DEFAULT 0,      -- what it is ordered by
    person_id       bigint      NOT NULL DEFAULT 0,
    body            json        NOT NULL,                -- as received, byte for byte
    via             text        NOT NULL CHECK (via IN ('polling', 'webhook')),
    received_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    job_id          bigint,                              -- empty: answered ahead of the queue, or a dead letter
    PRIMARY KEY (bot_id, update_id)
);
CREATE INDEX updates_received ON updates (received_at);

CREATE TABLE update_cursors (                            -- where polling goes on: last + 1, never a maximum
    bot_id          bigint PRIMARY KEY,
    next_offset     bigint      NOT NULL,
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

CREATE TABLE update_pollers (                            -- one poller per token among all processes
    bot_id          bigint PRIMARY KEY,
    holder          text        NOT NULL,
    token           bigint      NOT NULL,                -- grows with every takeover; fences the cursor
    lease_until     timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE update_dead_letters (                       -- what does not decode; nothing downstream reads it
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bot_id          bigint      NOT NULL,
    update_id       bigint      NOT NULL DEFAULT 0,
    body            text        NOT NULL,
    error           text        NOT NULL,
    received_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX update_dead_letters_once ON update_dead_letters (bot_id, update_id) WHERE update_id <> 0;
