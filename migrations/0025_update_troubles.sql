-- What keeps updates from coming is known to one process alone (the one that polls); the operator hears of it from
-- any. Owner: internal/telegram. One row per bot while the trouble lasts.

-- +goose Up
CREATE TABLE update_troubles (
    bot_id          bigint PRIMARY KEY,
    what            text        NOT NULL CHECK (what <> ''),     -- a sentence with its mend, in English
    since           timestamptz NOT NULL DEFAULT clock_timestamp()
);
