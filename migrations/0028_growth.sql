-- Two costs that grew with the number of sources and items, found by loading 100,000 and 5 million: the
-- operator's figures read every source to count the few that fail, and the search for like stories read the
-- heap for each word of each title. Owners: internal/sources, internal/stories.

-- +goose Up
CREATE INDEX sources_unwell ON sources (state) WHERE state <> 'active' OR failures >= 3;
ALTER TABLE story_words
    DROP CONSTRAINT story_words_pkey,
    ADD PRIMARY KEY (word, story_id) INCLUDE (at);
