-- Who pays for what. Money is integers with a currency; every movement is a row that is never changed; a charge
-- is credited once (its id is the key). Quotas are counted in the transaction that uses them.
-- Owner: internal/billing.

-- +goose Up
CREATE TABLE accounts (
    person_id       bigint PRIMARY KEY,
    plan            text        NOT NULL DEFAULT 'free',
    paid_until      timestamptz,                         -- null: never paid
    renews          boolean     NOT NULL DEFAULT false,
    charge_id       text        NOT NULL DEFAULT '',     -- of the newest payment: Telegram names the subscription by its first
    trial_until     timestamptz,                         -- null: the trial was not taken
    updated_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX accounts_ending ON accounts (paid_until) WHERE plan <> 'free';

CREATE TABLE invoices (                                  -- what a payload in an invoice stands for
    payload         text PRIMARY KEY CHECK (octet_length(payload) BETWEEN 1 AND 128),
    person_id       bigint      NOT NULL,
    provider        text        NOT NULL,
    plan            text        NOT NULL,
    amount          bigint      NOT NULL CHECK (amount > 0),
    currency        text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at      timestamptz NOT NULL
);

CREATE TABLE payments (
    charge_id       text PRIMARY KEY,                    -- telegram_payment_charge_id
    provider        text        NOT NULL,
    person_id       bigint      NOT NULL,
    plan            text        NOT NULL,
    amount          bigint      NOT NULL CHECK (amount > 0),
    currency        text        NOT NULL,
    payload         text        NOT NULL,
    recurring       boolean     NOT NULL DEFAULT false,  -- a renewal
    paid_until      timestamptz NOT NULL,
    source          text        NOT NULL CHECK (source IN ('update', 'reconciled')),
    paid_at         timestamptz NOT NULL,
    recorded_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    refunded_at     timestamptz,
    refunded_by     bigint
);
CREATE INDEX payments_person ON payments (person_id, paid_at DESC);

CREATE TABLE movements (                                 -- append only: what came in and what went out
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    charge_id       text        NOT NULL REFERENCES payments,
    kind            text        NOT NULL CHECK (kind IN ('payment', 'refund')),
    person_id       bigint      NOT NULL,
    amount          bigint      NOT NULL CHECK ((kind = 'payment') = (amount > 0) AND amount <> 0),
    currency        text        NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (charge_id, kind)
);
CREATE INDEX movements_person ON movements (person_id);

CREATE TABLE quotas (                                    -- what was used in a period
    person_id       bigint      NOT NULL,
    meter           text        NOT NULL,
    period          date        NOT NULL,                -- first day
    used            bigint      NOT NULL CHECK (used >= 0),
    PRIMARY KEY (person_id, meter, period)
);

CREATE TABLE payment_findings (                          -- what does not match between the provider's list and ours
    charge_id       text        NOT NULL,
    finding         text        NOT NULL CHECK (finding IN ('unknown_payload', 'amount_differs', 'refund_unknown', 'missing_there')),
    detail          text        NOT NULL DEFAULT '',
    found_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    settled_at      timestamptz,
    settled_by      bigint,
    PRIMARY KEY (charge_id, finding)
);
