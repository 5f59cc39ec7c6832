-- Proposed posts, their revisions, and every call to a model. A draft changes its state through
-- drafting.Transition alone; the checks tie each state to what it needs. Owner: internal/drafting.

-- +goose Up
CREATE TABLE drafts (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    channel_id      bigint      NOT NULL,
    story_id        bigint,                              -- null for a digest and for what the owner sent
    kind            text        NOT NULL CHECK (kind IN ('post', 'follow_up', 'digest', 'own')),
    subject         text        NOT NULL,                -- 'story:12', 'digest:2026-11-29', 'own:<digest of what was sent>'
    ordinal         smallint    NOT NULL DEFAULT 0,      -- counts follow-ups
    state           text        NOT NULL DEFAULT 'proposed'
                    CHECK (state IN ('proposed', 'scheduled', 'publishing', 'published', 'skipped', 'failed', 'unconfirmed')),
    transition      integer     NOT NULL DEFAULT 1,      -- grows with every change of state
    revision        integer     NOT NULL DEFAULT 1,      -- the current one
    score           smallint    NOT NULL DEFAULT 0,
    explore         boolean     NOT NULL DEFAULT false,
    slot_at         timestamptz,                         -- when it is to go out
    decided_by      bigint,                              -- null: nobody yet, or the autopilot
    decided_at      timestamptz,
    skip_reason     text        NOT NULL DEFAULT '' CHECK (skip_reason IN ('', 'off_topic', 'old', 'duplicate', 'bad_source', 'badly_written', 'missed', 'other')),
    failure         text        NOT NULL DEFAULT '',     -- why it was certainly not posted: code for the catalogue
    approved_hash   bytea,                               -- SHA-256 of the rendered text that was approved
    autopilot_at    timestamptz,                         -- schedules itself then unless somebody objects
    announced_at    timestamptz,                         -- people were told of it, once
    material        jsonb,                               -- what a draft of kind own was written from
    created_by      bigint,                              -- for kind own
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (channel_id, kind, subject, ordinal),
    CHECK ((kind IN ('post', 'follow_up')) = (story_id IS NOT NULL)),
    CHECK (state NOT IN ('scheduled', 'publishing') OR (slot_at IS NOT NULL AND approved_hash IS NOT NULL)),
    CHECK (state <> 'failed' OR failure <> '')
);
CREATE INDEX drafts_waiting ON drafts (channel_id, state, id) WHERE state IN ('proposed', 'scheduled', 'failed', 'unconfirmed');
CREATE INDEX drafts_channel ON drafts (channel_id, id DESC);
CREATE INDEX drafts_story ON drafts (story_id) WHERE story_id IS NOT NULL;

CREATE TABLE draft_revisions (
    draft_id        bigint      NOT NULL REFERENCES drafts,
    revision        integer     NOT NULL,
    html            text        NOT NULL,                -- exactly what is sent
    html_hash       bytea       NOT NULL,
    link            text        NOT NULL DEFAULT '',     -- the item's own link
    image           text        NOT NULL DEFAULT '',
    composer        text        NOT NULL CHECK (composer IN ('extractive', 'model', 'person', 'digest')),
    fallback        text        NOT NULL DEFAULT '',     -- why the composer without a model wrote it
    instruction     text        NOT NULL DEFAULT '',     -- of a rewrite
    author_id       bigint,
    checks          jsonb       NOT NULL DEFAULT '[]',   -- soft findings, shown as a badge
    evidence        jsonb       NOT NULL DEFAULT '[]',
    tokens_in       integer     NOT NULL DEFAULT 0,
    tokens_out      integer     NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (draft_id, revision)
);

CREATE TABLE model_calls (
    draft_id        bigint      NOT NULL REFERENCES drafts,
    revision        integer     NOT NULL,
    turn            smallint    NOT NULL,
    channel_id      bigint      NOT NULL,
    request_hash    bytea       NOT NULL,
    model           text        NOT NULL,
    reserved        integer     NOT NULL,                -- tokens reserved against the budgets, worst case
    tokens_in       integer     NOT NULL DEFAULT 0,
    tokens_out      integer     NOT NULL DEFAULT 0,
    tries           smallint    NOT NULL DEFAULT 1,      -- certain refusals may be tried again
    state           text        NOT NULL DEFAULT 'reserved' CHECK (state IN ('reserved', 'answered', 'refused', 'unknown')),
    answer          text,                                -- raw, before it is parsed; removed by retention
    fault           text        NOT NULL DEFAULT '',     -- what is known of a call without an answer
    made_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (draft_id, revision, turn)
);
CREATE INDEX model_calls_day ON model_calls (made_at);

-- Tokens per UTC day: what was reserved and not given back. Channel 0 is all channels together.
CREATE TABLE model_spend (
    day             date        NOT NULL,
    channel_id      bigint      NOT NULL,
    tokens          bigint      NOT NULL DEFAULT 0,
    told_at         timestamptz,                         -- the one notice that the budget is spent
    PRIMARY KEY (day, channel_id)
);
