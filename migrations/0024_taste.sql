-- Which languages a channel wants items in (empty: every one), and an index by which the share of
-- proposals that explore is kept without reading what fell below. Owners: internal/channels, internal/scoring.

-- +goose Up
ALTER TABLE channels
    ADD COLUMN item_languages text[] NOT NULL DEFAULT '{}';
CREATE INDEX scores_proposed ON scores (channel_id, scored_at DESC) WHERE verdict IN ('proposed', 'explore');
