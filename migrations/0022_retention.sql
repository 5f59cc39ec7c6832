-- Raw answers of models are erased after a while: this finds the ones that are still there, however many calls
-- there were before. Owner: internal/drafting.

-- +goose Up
CREATE INDEX model_calls_answers ON model_calls (made_at) WHERE answer IS NOT NULL;
