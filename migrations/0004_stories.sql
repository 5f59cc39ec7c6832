-- Which items tell the same news. Owner: internal/stories.

-- +goose Up
CREATE TABLE stories (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    lead_item_id    bigint      NOT NULL UNIQUE,         -- the item that opened it
    title           text        NOT NULL DEFAULT '',
    language        text        NOT NULL DEFAULT '',
    fingerprint     bigint      NOT NULL DEFAULT 0,      -- simhash of title and lead
    items           integer     NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    grown_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX stories_created ON stories (created_at);

CREATE TABLE story_items (
    item_id         bigint PRIMARY KEY,                  -- an item is in one story
    story_id        bigint      NOT NULL REFERENCES stories,
    how             text        NOT NULL CHECK (how IN ('lead', 'link', 'text', 'title', 'likeness')),
    certain         boolean     NOT NULL,                -- identical link or text: the item adds nothing
    likeness        real        NOT NULL DEFAULT 1,
    added_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX story_items_story ON story_items (story_id);

CREATE TABLE story_keys (                                -- canonical links and title digests by which a story is found
    key             bytea PRIMARY KEY,
    story_id        bigint      NOT NULL REFERENCES stories
);

CREATE TABLE story_words (                               -- words of titles and names of the last days: likely stories are found by them
    word            text        NOT NULL,
    story_id        bigint      NOT NULL REFERENCES stories,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (word, story_id)
);
CREATE INDEX story_words_at ON story_words (at);
