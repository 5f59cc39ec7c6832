-- An operator settles a finding of the reconciliation: each gets a number that fits into a command and a button,
-- the name of who settled it (nothing had written settled_by before), and a word on what was found. And a refund
-- keeps the name of who asked for it.

-- +goose Up
ALTER TABLE payment_findings ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY;
ALTER TABLE payment_findings ADD CONSTRAINT payment_findings_number UNIQUE (id);
ALTER TABLE payment_findings ALTER COLUMN settled_by TYPE text USING settled_by::text;
ALTER TABLE payment_findings ADD COLUMN note text NOT NULL DEFAULT '';
ALTER TABLE payments ADD COLUMN refund_author text NOT NULL DEFAULT '';  -- empty: the provider told of it
