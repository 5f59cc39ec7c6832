-- What the chat remembers between two messages: the open dialog of a person, and where each card stands,
-- so that a decision can edit it in place. Owner: internal/chat.

-- +goose Up
CREATE TABLE dialogs (
    person_id       bigint PRIMARY KEY,
    step            text        NOT NULL,                -- what the next message means
    data            jsonb       NOT NULL DEFAULT '{}',
    expires_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE cards (
    draft_id        bigint      NOT NULL,
    person_id       bigint      NOT NULL,
    message_id      bigint      NOT NULL,
    revision        integer     NOT NULL,
    transition      integer     NOT NULL,                -- what the card shows
    sent_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (draft_id, person_id, message_id)
);
CREATE INDEX cards_person ON cards (person_id, sent_at DESC);
