-- Links that lead into the chat carry the bot's name, which only Telegram knows. Kept from the last start at which it
-- answered, an outage of Telegram keeps no later start from happening. Owner: internal/telegram. One row per bot.

-- +goose Up
CREATE TABLE bots (
    bot_id          bigint PRIMARY KEY,
    username        text   NOT NULL        -- without @
);
