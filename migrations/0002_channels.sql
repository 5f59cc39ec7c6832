-- People, the channels they link, who may do what in them, and which sources a channel follows.
-- Owner: internal/channels.

-- +goose Up
CREATE TABLE people (
    id            bigint PRIMARY KEY,                    -- Telegram's user id
    first_name    text        NOT NULL DEFAULT '',
    username      text        NOT NULL DEFAULT '',
    language      text        NOT NULL DEFAULT 'en',     -- of the interface
    language_set  boolean     NOT NULL DEFAULT false,    -- chosen with /language: no longer follows Telegram's
    access        text        NOT NULL DEFAULT 'none' CHECK (access IN ('none', 'invited', 'operator', 'banned')),
    channel_id    bigint,                                -- the channel that commands speak of
    blocked_at    timestamptz,                           -- the person blocked the bot: nothing is sent
    erased_at     timestamptz,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE channels (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    chat_id       bigint      NOT NULL UNIQUE,           -- Telegram's; changes only by migration
    title         text        NOT NULL DEFAULT '',
    username      text        NOT NULL DEFAULT '',       -- without @; empty for a private channel
    state         text        NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'no_rights', 'kicked', 'unlinked')),
    state_why     text        NOT NULL DEFAULT '',
    state_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    paused_at     timestamptz,                           -- /pause
    language      text        NOT NULL DEFAULT 'en',     -- of the posts
    tone          text[]      NOT NULL DEFAULT '{}',     -- editable list of style rules
    voice         jsonb       NOT NULL DEFAULT '{}',     -- learned: length, emoji, opening, hashtags
    look_for      text        NOT NULL DEFAULT '',
    avoid         text        NOT NULL DEFAULT '',
    threshold     smallint    NOT NULL DEFAULT 50 CHECK (threshold BETWEEN 0 AND 100),
    footer        text        NOT NULL DEFAULT '',
    link_style    text        NOT NULL DEFAULT 'title' CHECK (link_style IN ('title', 'bottom', 'none')),
    image_style   text        NOT NULL DEFAULT 'preview' CHECK (image_style IN ('preview', 'photo', 'none')),
    hashtags      text[]      NOT NULL DEFAULT '{}',     -- the only tags that a model may choose from
    time_zone     text        NOT NULL DEFAULT 'UTC',    -- IANA
    week          jsonb       NOT NULL DEFAULT '{"mon":["09:00","13:00","18:00"],"tue":["09:00","13:00","18:00"],"wed":["09:00","13:00","18:00"],"thu":["09:00","13:00","18:00"],"fri":["09:00","13:00","18:00"],"sat":["11:00","17:00"],"sun":["11:00","17:00"]}',
    quiet_from    text        NOT NULL DEFAULT '',       -- HH:MM local; empty: no quiet hours
    quiet_to      text        NOT NULL DEFAULT '',
    daily_cap     smallint    NOT NULL DEFAULT 0 CHECK (daily_cap >= 0),       -- 0: none
    missed        text        NOT NULL DEFAULT 'move' CHECK (missed IN ('move', 'skip')),
    autopilot     text        NOT NULL DEFAULT 'off' CHECK (autopilot IN ('off', 'delay', 'score')),
    autopilot_minutes smallint NOT NULL DEFAULT 60 CHECK (autopilot_minutes BETWEEN 5 AND 1440),
    autopilot_score   smallint NOT NULL DEFAULT 80 CHECK (autopilot_score BETWEEN 0 AND 100),
    autopilot_sources bigint[] NOT NULL DEFAULT '{}',    -- empty: all
    digest        text        NOT NULL DEFAULT 'off' CHECK (digest IN ('off', 'daily', 'weekly')),
    digest_at     text        NOT NULL DEFAULT '19:00',
    last_message_id bigint    NOT NULL DEFAULT 0,        -- the newest post of ours that is known: probes start after it
    created_by    bigint      NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    version       integer     NOT NULL DEFAULT 1         -- grows with every change of settings
);

CREATE TABLE memberships (
    channel_id    bigint      NOT NULL REFERENCES channels,
    person_id     bigint      NOT NULL REFERENCES people,
    role          text        NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    notify        boolean     NOT NULL DEFAULT true,     -- gets the cards
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (channel_id, person_id)
);
CREATE INDEX memberships_person ON memberships (person_id);

-- An invitation is a link that works once: into a channel with a role, or (channel_id null) into the bot.
CREATE TABLE invitations (
    token_hash    bytea PRIMARY KEY,                     -- SHA-256 of the token in the link
    channel_id    bigint REFERENCES channels,
    role          text        NOT NULL CHECK (role IN ('owner', 'editor', 'viewer', 'invited', 'operator')),
    created_by    bigint,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at    timestamptz NOT NULL,
    used_by       bigint,
    used_at       timestamptz,
    CHECK ((used_by IS NULL) = (used_at IS NULL))
);

CREATE TABLE subscriptions (
    channel_id    bigint      NOT NULL REFERENCES channels,
    source_id     bigint      NOT NULL,                  -- sources.id; no foreign key across owners
    weight        smallint    NOT NULL DEFAULT 100 CHECK (weight BETWEEN 0 AND 300),   -- percent
    must_words    text[]      NOT NULL DEFAULT '{}',
    never_words   text[]      NOT NULL DEFAULT '{}',
    pattern       text        NOT NULL DEFAULT '',       -- RE2 that title or text must match
    baseline      text        NOT NULL DEFAULT 'some' CHECK (baseline IN ('none', 'latest', 'some')),
    baseline_done_at timestamptz,                        -- null: the channel still owes this source its first proposals
    paused_at     timestamptz,
    rests_at      timestamptz,                           -- beyond the plan's limit after a downgrade
    created_by    bigint      NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (channel_id, source_id)
);
CREATE INDEX subscriptions_source ON subscriptions (source_id);
