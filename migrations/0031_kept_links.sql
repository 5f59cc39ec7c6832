-- Links that a person sent before there was a channel are kept, and followed as soon as one is linked.
-- Owner: internal/chat.

-- +goose Up
ALTER TABLE pastes DROP CONSTRAINT pastes_kind_check;
ALTER TABLE pastes ADD CONSTRAINT pastes_kind_check CHECK (kind IN ('link', 'text', 'forward', 'file', 'kept'));
