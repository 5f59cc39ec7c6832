-- How well a story fits a channel, why, and what people's decisions taught. Owner: internal/scoring.

-- +goose Up
CREATE TABLE scores (
    channel_id      bigint      NOT NULL,
    story_id        bigint      NOT NULL,
    version         smallint    NOT NULL DEFAULT 1,      -- of the scoring rule
    score           smallint    NOT NULL CHECK (score BETWEEN 0 AND 100),
    verdict         text        NOT NULL CHECK (verdict IN ('proposed', 'explore', 'below', 'ruled_out', 'baseline', 'rescued')),
    reasons         jsonb       NOT NULL DEFAULT '[]',
    features        text[]      NOT NULL DEFAULT '{}',   -- the distinct words that a lesson counts
    source_id       bigint      NOT NULL DEFAULT 0,
    scored_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (channel_id, story_id, version)
);
CREATE INDEX scores_channel ON scores (channel_id, scored_at DESC);

CREATE TABLE lessons (                                   -- the last decision counts once; undo takes it back
    channel_id      bigint      NOT NULL,
    story_id        bigint      NOT NULL,
    label           smallint    NOT NULL CHECK (label IN (-1, 1)),
    features        text[]      NOT NULL,
    person_id       bigint,
    taught_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (channel_id, story_id)
);

CREATE TABLE word_counts (                               -- naive Bayes counts; word '' holds the totals
    channel_id      bigint      NOT NULL,
    word            text        NOT NULL,
    liked           integer     NOT NULL DEFAULT 0 CHECK (liked >= 0),
    disliked        integer     NOT NULL DEFAULT 0 CHECK (disliked >= 0),
    PRIMARY KEY (channel_id, word)
);
