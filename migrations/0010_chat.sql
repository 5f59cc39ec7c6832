-- What the chat remembers between two messages: the open dialog of a person, what was sent without saying what
-- for, and where each card stands, so that a decision can edit it in place. Owner: internal/chat.

-- +goose Up
CREATE TABLE dialogs (
    person_id       bigint PRIMARY KEY,
    step            text        NOT NULL,                -- what the next message means
    data            jsonb       NOT NULL DEFAULT '{}',
    expires_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE pastes (                                    -- links, texts and files whose purpose a button decides
    person_id       bigint      NOT NULL,
    message_id      bigint      NOT NULL,                -- of the person's message
    kind            text        NOT NULL CHECK (kind IN ('link', 'text', 'forward', 'file')),
    address         text        NOT NULL DEFAULT '',     -- link: what was pasted; forward: the channel's address; file: Telegram's file id
    html            text        NOT NULL DEFAULT '',     -- the message as Telegram HTML
    chat_id         bigint      NOT NULL DEFAULT 0,      -- forward: the channel that it comes from
    sent_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (person_id, message_id)
);
CREATE INDEX pastes_sent ON pastes (sent_at);            -- removed after a week

CREATE TABLE cards (
    draft_id        bigint      NOT NULL,
    person_id       bigint      NOT NULL,
    message_id      bigint      NOT NULL,
    revision        integer     NOT NULL,
    transition      integer     NOT NULL,                -- what the card shows
    photo           boolean     NOT NULL DEFAULT false,  -- its text is a caption
    sent_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (draft_id, person_id, message_id)
);
CREATE INDEX cards_person ON cards (person_id, sent_at DESC);
