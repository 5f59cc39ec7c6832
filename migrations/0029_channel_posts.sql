-- What already stands in a channel, as its public page shows it: a story that was told there is not proposed again.
-- The newest fifty of each channel. Owner: internal/drafting.

-- +goose Up
CREATE TABLE channel_posts (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel_id      bigint      NOT NULL,
    digest          bytea       NOT NULL,
    text            text        NOT NULL,
    seen_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (channel_id, digest)
);
