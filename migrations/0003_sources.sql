-- What is polled, what was read, and every identity under which an entry was ever seen.
-- Keys outlive contents: an item's text may go, its keys never. Owner: internal/sources.

-- +goose Up
CREATE TABLE sources (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    address         text        NOT NULL UNIQUE,         -- normalised: the natural key
    url             text        NOT NULL,                -- what is fetched
    site_url        text        NOT NULL DEFAULT '',
    host            text        NOT NULL,
    kind            text        NOT NULL,                -- feed, site, telegram, youtube, reddit, hackernews, github, forwarded, …
    title           text        NOT NULL DEFAULT '',
    language        text        NOT NULL DEFAULT '',
    state           text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'gone', 'merged')),
    merged_into     bigint REFERENCES sources,
    etag            text        NOT NULL DEFAULT '',
    last_modified   text        NOT NULL DEFAULT '',
    validators_at   timestamptz,                         -- forgotten after 8 days
    body_hash       bytea,
    interval_s      integer     NOT NULL DEFAULT 1800,   -- adaptive, before the clamp
    next_poll_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    failures        integer     NOT NULL DEFAULT 0,      -- in a row
    failing_since   timestamptz,
    error_code      text        NOT NULL DEFAULT '',     -- stable code of the last failure; empty: healthy
    error_text      text        NOT NULL DEFAULT '',     -- redacted
    told_at         timestamptz,                         -- owners heard of the present failure
    moved_to        text        NOT NULL DEFAULT '',     -- target of a permanent redirect seen once
    key_version     smallint    NOT NULL DEFAULT 1,      -- of the rule that makes identities
    distrust_ids    boolean     NOT NULL DEFAULT false,  -- its ids rotate
    distrust_links  boolean     NOT NULL DEFAULT false,  -- its links do
    newest_post     bigint      NOT NULL DEFAULT 0,      -- of a Telegram channel: where paging back ends
    baseline_at     timestamptz,                         -- null: the next document is a baseline
    baseline_oldest timestamptz,                         -- an older entry that slides in is recorded, not proposed
    last_poll_at    timestamptz,
    last_success_at timestamptz,
    last_new_at     timestamptz,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((state = 'merged') = (merged_into IS NOT NULL))
);
CREATE INDEX sources_due ON sources (next_poll_at) WHERE state = 'active';

CREATE TABLE source_aliases (                            -- earlier addresses of a source
    address         text PRIMARY KEY,
    source_id       bigint      NOT NULL REFERENCES sources,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE items (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id       bigint      NOT NULL,
    url             text        NOT NULL DEFAULT '',     -- as shown to people; empty: the entry has no link
    canonical       text        NOT NULL DEFAULT '',     -- canonical link: one story per link across sources
    title           text        NOT NULL DEFAULT '',
    text            text        NOT NULL DEFAULT '',     -- plain text, bounded
    author          text        NOT NULL DEFAULT '',
    image           text        NOT NULL DEFAULT '',
    enclosure       text        NOT NULL DEFAULT '',
    language        text        NOT NULL DEFAULT '',
    published_at    timestamptz,                         -- null: undated or absurd
    first_seen_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at      timestamptz,                         -- the entry was edited
    fingerprint     bigint      NOT NULL DEFAULT 0,      -- of title and body as served: tells an edit without reading the text
    result          text        NOT NULL DEFAULT 'new' CHECK (result IN ('new', 'baseline', 'old', 'over_cap')),
    purged_at       timestamptz                          -- text removed by retention
);
CREATE INDEX items_source ON items (source_id, id);
CREATE INDEX items_unpurged ON items (first_seen_at) WHERE purged_at IS NULL;
CREATE INDEX items_canonical ON items (canonical) WHERE canonical <> '';

CREATE TABLE item_keys (
    source_id       bigint      NOT NULL,
    key             bytea       NOT NULL,                -- 16 bytes: class and digest of an identity
    item_id         bigint      NOT NULL,
    PRIMARY KEY (source_id, key)
);
CREATE INDEX item_keys_item ON item_keys (item_id);

CREATE TABLE polls (                                     -- the ledger for people: one line a poll
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source_id       bigint      NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    result          text        NOT NULL,                -- ok, unchanged, or an error code
    status          smallint    NOT NULL DEFAULT 0,
    entries         integer     NOT NULL DEFAULT 0,
    known           integer     NOT NULL DEFAULT 0,
    new             integer     NOT NULL DEFAULT 0,
    baseline        integer     NOT NULL DEFAULT 0,
    edited          integer     NOT NULL DEFAULT 0,
    old             integer     NOT NULL DEFAULT 0,
    over_cap        integer     NOT NULL DEFAULT 0,
    bytes           integer     NOT NULL DEFAULT 0,
    millis          integer     NOT NULL DEFAULT 0,
    note            text        NOT NULL DEFAULT ''
);
CREATE INDEX polls_source ON polls (source_id, at DESC);

CREATE TABLE hosts (                                     -- politeness across processes: one request a host at a time
    host            text PRIMARY KEY,
    busy_until      timestamptz NOT NULL DEFAULT '-infinity',
    rests_until     timestamptz NOT NULL DEFAULT '-infinity',
    holder          text        NOT NULL DEFAULT ''
);
