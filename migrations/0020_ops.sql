-- What watches over the program itself: incidents that the operator hears of once, and what is known of
-- the database's own history, so that a restored backup is noticed before anything is published from it.
-- Owner: internal/ops.

-- +goose Up
CREATE TABLE incidents (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            text        NOT NULL,                -- the alert's name: one spelling here, in Prometheus and in the runbook
    subject         text        NOT NULL DEFAULT '',     -- the tier, where there is one
    severity        text        NOT NULL CHECK (severity IN ('warning', 'critical')),
    detail          text        NOT NULL DEFAULT '',
    first_true_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_true_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    opened_at       timestamptz,                         -- null: true, but not yet for long enough; nobody was told
    closed_at       timestamptz,
    CHECK (closed_at IS NULL OR opened_at IS NOT NULL)
);
CREATE UNIQUE INDEX incidents_open ON incidents (name, subject) WHERE closed_at IS NULL;

CREATE TABLE watch_samples (                             -- an hour of depths: growth is seen against them
    tier            text        NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    depth           integer     NOT NULL,
    PRIMARY KEY (tier, at)
);

-- By what the database was recognised last. A dump restored elsewhere changes the system identifier, one
-- restored in place the object ids, a point-in-time recovery or a promoted standby the timeline.
CREATE TABLE database_marks (
    id              smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    system_id       bigint      NOT NULL,
    timeline        integer     NOT NULL,
    database_oid    bigint      NOT NULL,
    anchor_oid      bigint      NOT NULL,                -- of the table publications
    declared_by     text        NOT NULL DEFAULT '',     -- a person said that history is torn; the next check begins a restore
    noted_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE restores (                                  -- each time that history was found to be torn
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    noticed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    how             text        NOT NULL CHECK (how IN ('command', 'other_server', 'other_timeline', 'rebuilt')),
    said_by         text        NOT NULL DEFAULT '',
    last_known_at   timestamptz,                         -- the newest trace of work in the database
    suspended       integer     NOT NULL DEFAULT 0,      -- queued jobs with outside effects that went to the archive
    closed_at       timestamptz
);

-- A channel publishes nothing while it has an open hold.
CREATE TABLE restore_holds (
    restore_id      bigint      NOT NULL REFERENCES restores,
    channel_id      bigint      NOT NULL,
    held_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    found           integer     NOT NULL DEFAULT 0,      -- drafts whose posts were found in the channel
    alike           integer     NOT NULL DEFAULT 0,      -- drafts whose link stands in another post: skipped as duplicates
    returned        integer     NOT NULL DEFAULT 0,      -- scheduled drafts that went back to their owner
    looks           integer     NOT NULL DEFAULT 0,      -- at the channel, failed ones too
    complete        boolean     NOT NULL DEFAULT false,  -- every post since the last known one could be read
    note            text        NOT NULL DEFAULT '',
    released_at     timestamptz,
    released_by     text,
    PRIMARY KEY (restore_id, channel_id),
    CHECK ((released_at IS NULL) = (released_by IS NULL))
);
CREATE UNIQUE INDEX restore_holds_open ON restore_holds (channel_id) WHERE released_at IS NULL;
