-- Times in a channel's plan. The key (channel, instant) means that two drafts never hold one slot.
-- Owner: internal/planning.

-- +goose Up
CREATE TABLE slots (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel_id      bigint      NOT NULL,
    at              timestamptz NOT NULL,
    draft_id        bigint      NOT NULL UNIQUE,         -- a draft holds one slot at most
    taken_by        bigint,                              -- person; null: the autopilot
    taken_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (channel_id, at)
);
