-- +goose Up
-- The queue: jobs with fenced leases, the ledger of outside effects, the archive, schedules.
-- Why it looks like this: `jobs` is the only hot table and holds only what may
-- still run; names of states are text with CHECKs (one spelling in SQL, Go, JSON and metrics); text that is
-- compared in hot paths has the C collation (memcmp); there are no foreign keys, triggers or GIN indexes on it.

CREATE SEQUENCE job_id_seq;
-- Fencing tokens: one global sequence, a new value at every claim (R1).
CREATE SEQUENCE job_lease_seq;

CREATE TABLE job_kinds (
    name             text COLLATE "C" PRIMARY KEY,
    tier             text NOT NULL CHECK (tier IN ('critical', 'default', 'bulk')),
    policy           text NOT NULL CHECK (policy IN ('db', 'ledger', 'opaque')),
    class            text NOT NULL CHECK (class IN ('strict', 'courtesy')),
    ordered          boolean NOT NULL DEFAULT false,
    lease            interval NOT NULL DEFAULT '60 s',     -- what the code asks for
    measured_lease   interval,                             -- clamp(2 x p99 of 7 days); null until measured
    max_failures     smallint NOT NULL DEFAULT 3,
    keep_keys        interval,                             -- natural keys are kept for ever when null
    paused           boolean NOT NULL DEFAULT false,
    paused_by        text,
    paused_at        timestamptz,
    CHECK (paused = (paused_at IS NOT NULL))
);

-- Hot: only what may still run.
CREATE TABLE jobs (
    id           bigint NOT NULL PRIMARY KEY,              -- job_id_seq
    run_at       timestamptz NOT NULL,
    enqueued_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_at   timestamptz,
    lease_until  timestamptz,                              -- the database's clock; in no index: renewal stays HOT
    lease_token  bigint,                                   -- null when ready
    leased_by    bigint,                                   -- workers.id
    claim_nonce  bigint,                                   -- names one claim statement whose reply may get lost
    parent_id    bigint,                                   -- who asked: the job in whose completion this one was enqueued,
    update_id    bigint,                                   -- the Telegram update,
    person_id    bigint,                                   -- the person
    failures     smallint NOT NULL DEFAULT 0,
    expiries     smallint NOT NULL DEFAULT 0 CHECK (expiries <= 1),  -- R4: returned by the reaper once only
    generation   smallint NOT NULL DEFAULT 0,              -- grows with every replay
    state        text COLLATE "C" NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'leased')),
    tier         text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    ordering     text COLLATE "C",                         -- one at a time, in order of id, per value
    request_id   text,
    last_error   text,
    payload      json NOT NULL,                            -- json, not jsonb: byte for byte what was enqueued
    CHECK ((state = 'leased') = (lease_token IS NOT NULL AND lease_until IS NOT NULL))
) WITH (
    fillfactor = 85,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_vacuum_insert_threshold = -1,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 2000
);
CREATE INDEX jobs_ready ON jobs (tier, run_at, id) WHERE state = 'ready';
CREATE UNIQUE INDEX jobs_lease ON jobs (lease_token) WHERE state = 'leased';
-- Empty for kinds without ordering. The unique one makes "one at a time" a constraint.
CREATE INDEX jobs_ordering ON jobs (ordering, id) WHERE ordering IS NOT NULL;
CREATE UNIQUE INDEX jobs_ordering_leased ON jobs (ordering) WHERE state = 'leased' AND ordering IS NOT NULL;

-- Whether a job of an ordering value has to wait: an earlier one is unfinished, or any one runs. A function only
-- for the planner's sake: as a subquery its guessed cost made Postgres compile every claim (JIT, 35 ms).
-- +goose StatementBegin
CREATE FUNCTION job_waits(of_ordering text, of_id bigint) RETURNS boolean
    LANGUAGE plpgsql STABLE COST 5
AS $$
BEGIN
    RETURN EXISTS (
        SELECT
          FROM jobs
         WHERE ordering = of_ordering
           AND (id < of_id OR state = 'leased')
    );
END
$$;
-- +goose StatementEnd

-- Natural keys and who asked; outlives the job.
CREATE TABLE job_keys (
    job_id      bigint NOT NULL,
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    parent_id   bigint,
    update_id   bigint,
    person_id   bigint,
    generation  smallint NOT NULL DEFAULT 0,
    kind        text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    request_id  text,
    PRIMARY KEY (kind, key, generation)
);
CREATE UNIQUE INDEX job_keys_job ON job_keys (job_id);
CREATE INDEX job_keys_parent ON job_keys (parent_id, job_id) WHERE parent_id IS NOT NULL;
CREATE INDEX job_keys_update ON job_keys (update_id) WHERE update_id IS NOT NULL;
CREATE INDEX job_keys_person ON job_keys (person_id, job_id) WHERE person_id IS NOT NULL;

-- Completed jobs, append only; a partition a day, dropped after 14. The default partition is the net below
-- the partition keeper: an insert never fails because a day is missing.
CREATE TABLE job_history (
    id           bigint NOT NULL,
    lease_token  bigint NOT NULL,                          -- answers "did my completion commit?" after a lost reply
    enqueued_at  timestamptz NOT NULL,
    claimed_at   timestamptz NOT NULL,
    finished_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    failures     smallint NOT NULL,
    expiries     smallint NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL
) PARTITION BY RANGE (finished_at);
CREATE INDEX job_history_id ON job_history USING brin (id int8_minmax_multi_ops, finished_at) WITH (pages_per_range = 16);
CREATE TABLE job_history_default PARTITION OF job_history DEFAULT;

-- Attempts that did not end in completion.
CREATE TABLE job_attempts (
    job_id       bigint NOT NULL,
    lease_token  bigint,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_at   timestamptz,
    leased_by    bigint,
    kind         text COLLATE "C" NOT NULL,
    outcome      text NOT NULL CHECK (outcome IN
                 ('transient', 'rate_limited', 'permanent', 'unknown', 'lease_expired', 'released', 'snoozed', 'cancelled')),
    error        text
) PARTITION BY RANGE (at);
CREATE INDEX job_attempts_job ON job_attempts (job_id, at);
CREATE TABLE job_attempts_default PARTITION OF job_attempts DEFAULT;

-- What will not run again by itself.
CREATE TABLE job_archive (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job_id           bigint NOT NULL UNIQUE,
    kind             text COLLATE "C" NOT NULL,
    tier             text COLLATE "C" NOT NULL,
    key              text COLLATE "C" NOT NULL,
    ordering         text COLLATE "C",
    generation       smallint NOT NULL,
    payload          json NOT NULL,
    reason           text NOT NULL CHECK (reason IN
                     ('unconfirmed', 'lease_lost_twice', 'permanent', 'exhausted', 'cancelled')),
    needs_reconcile  boolean NOT NULL,                     -- an effect is in doubt and a person may have to look
    lease_token      bigint,
    leased_by        bigint,
    failures         smallint NOT NULL,
    expiries         smallint NOT NULL,
    last_error       text,
    enqueued_at      timestamptz NOT NULL,
    archived_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    status           text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'reconciled', 'replayed', 'closed')),
    resolved_at      timestamptz,
    resolved_by      text,
    resolution       text,
    replay_job_id    bigint,
    CHECK ((status = 'open') = (resolved_at IS NULL)),
    CHECK ((status = 'open') = (resolved_by IS NULL)),
    CHECK ((status = 'replayed') = (replay_job_id IS NOT NULL)),
    CHECK (status = 'open' OR NOT needs_reconcile)
);
CREATE INDEX job_archive_open ON job_archive (kind, archived_at) WHERE status = 'open';

-- The ledger: one row per outside effect that must not repeat.
CREATE TABLE effects (
    effect_key     text COLLATE "C" PRIMARY KEY,           -- from natural keys, never from a job's id or the time
    job_id         bigint NOT NULL,
    lease_token    bigint NOT NULL,                        -- who holds the right to perform it
    intent_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    deadline_at    timestamptz NOT NULL,                   -- the request cannot still be under way after this
    outcome_at     timestamptz,
    tries          smallint NOT NULL DEFAULT 1,
    kind           text COLLATE "C" NOT NULL,
    class          text NOT NULL CHECK (class IN ('strict', 'courtesy')),
    state          text COLLATE "C" NOT NULL DEFAULT 'intent' CHECK (state IN ('intent', 'done', 'not_done', 'unknown')),
    request_hash   bytea NOT NULL,                         -- SHA-256; the same key with another request is refused
    external_id    text,                                   -- the provider's identifier: message id, charge id
    detail         json,
    error          text,
    reconciled_by  text,
    CHECK ((state = 'intent') = (outcome_at IS NULL))
) WITH (fillfactor = 70);
CREATE INDEX effects_job ON effects (job_id);
CREATE INDEX effects_unsettled ON effects (intent_at) WHERE state IN ('intent', 'unknown');

-- One row per start of a process.
CREATE TABLE workers (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host        text NOT NULL,
    pid         integer NOT NULL,
    build       text NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    stopped_at  timestamptz
);

CREATE TABLE schedules (
    name      text COLLATE "C" PRIMARY KEY,
    spec      text NOT NULL,                               -- "every 5m0s" or "at 03:30 UTC"
    kind      text COLLATE "C" NOT NULL,
    catch_up  text NOT NULL DEFAULT 'last' CHECK (catch_up IN ('none', 'last', 'all')),
    enabled   boolean NOT NULL DEFAULT true,
    since     timestamptz NOT NULL DEFAULT clock_timestamp()  -- nothing before this was ever due
);
CREATE TABLE schedule_runs (
    name    text COLLATE "C" NOT NULL,
    fire_at timestamptz NOT NULL,
    job_id  bigint,                                        -- null: skipped by catch_up
    PRIMARY KEY (name, fire_at)
);
