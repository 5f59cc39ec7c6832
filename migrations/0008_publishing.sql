-- The one delivery of a draft. A draft is published once, for ever (unique draft_id), and a channel has
-- one send in flight (the partial unique index). Owner: internal/publishing.

-- +goose Up
CREATE TABLE publications (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    draft_id        bigint      NOT NULL UNIQUE,
    channel_id      bigint      NOT NULL,
    chat_id         bigint      NOT NULL,
    state           text        NOT NULL CHECK (state IN ('sending', 'published', 'failed', 'unconfirmed')),
    effect_key      text        NOT NULL,                -- of the newest send: publish:draft:<id>[:after-review:<n>]
    attempt         smallint    NOT NULL DEFAULT 1,      -- sends that a person asked for after a review count here
    form            text        NOT NULL CHECK (form IN ('text', 'preview', 'photo', 'album', 'plain')),   -- how it was sent
    html_hash       bytea       NOT NULL,                -- of the text that is in the channel
    message_id      bigint,
    message_ids     bigint[]    NOT NULL DEFAULT '{}',   -- of an album
    after_message_id bigint     NOT NULL DEFAULT 0,      -- the newest known id before the send: probes start there
    started_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    published_at    timestamptz,
    settled_how     text        NOT NULL DEFAULT '' CHECK (settled_how IN ('', 'answer', 'preview', 'probe', 'person', 'operator')),
    settled_by      bigint,
    settled_at      timestamptz,
    error           text        NOT NULL DEFAULT '',     -- code; never a message body
    deleted_at      timestamptz,                         -- the post was deleted from the channel by us
    edited_at       timestamptz,
    delete_attempt  smallint    NOT NULL DEFAULT 0,      -- requests of people to delete it: part of the effect's key
    CHECK (state <> 'published' OR (message_id IS NOT NULL AND published_at IS NOT NULL) OR settled_how IN ('person', 'operator')),
    CHECK (state <> 'failed' OR error <> '')
);
CREATE UNIQUE INDEX publications_one_send ON publications (channel_id) WHERE state = 'sending';
CREATE INDEX publications_channel ON publications (channel_id, id DESC);
CREATE INDEX publications_doubt ON publications (channel_id) WHERE state = 'unconfirmed';

CREATE TABLE publication_reviews (                       -- each look at a doubt, and each decision on it, once
    publication_id  bigint      NOT NULL REFERENCES publications,
    ordinal         smallint    NOT NULL,
    how             text        NOT NULL CHECK (how IN ('preview', 'probe', 'person', 'operator')),
    finding         text        NOT NULL CHECK (finding IN ('there', 'not_there', 'leave', 'nothing_found')),
    person_id       bigint,
    message_id      bigint,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (publication_id, ordinal)
);
