-- Each change of what a channel's decisions taught carries a stamp that only grows, so that a process which holds
-- the counts in memory reads only those that changed since. Owner: internal/scoring.

-- +goose Up
ALTER TABLE word_counts
    ADD COLUMN changed bigint NOT NULL DEFAULT 0;             -- µs; the row of the totals holds the channel's latest
CREATE INDEX word_counts_changed ON word_counts (channel_id, changed);
