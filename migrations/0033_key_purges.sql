-- How far the retention of job keys has read. Every key was read once an hour, for ever more of them; an index by
-- time would not help, as the keys that are kept for ever are the oldest, and would cost every enqueue. Numbers are
-- given in the order of time, so each kind's keys are read once, in their order, when they are old enough.
-- Owner: internal/queue.

-- +goose Up
ALTER TABLE job_kinds ADD COLUMN keys_read_to bigint NOT NULL DEFAULT 0;
