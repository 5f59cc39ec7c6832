-- A forwarded post becomes an item of the channel that it came from: what was pasted remembers which post it was.
-- Owner: internal/chat.

-- +goose Up
ALTER TABLE pastes
    ADD COLUMN post_id   bigint NOT NULL DEFAULT 0,      -- forward: the number of the post there
    ADD COLUMN title     text   NOT NULL DEFAULT '',     -- forward: the title of the channel
    ADD COLUMN posted_at timestamptz;                    -- forward: when it was posted there
