-- A plan bounds channels too: what exceeds it rests, whole and undeleted, until a larger plan wakes it. And the
-- reconciliation notes a charge whose person is another in the provider's list than in ours.

-- +goose Up
ALTER TABLE channels ADD COLUMN rests_at timestamptz;  -- beyond the plan's limit: nothing is proposed or published
ALTER TABLE payment_findings DROP CONSTRAINT payment_findings_finding_check;
ALTER TABLE payment_findings ADD CONSTRAINT payment_findings_finding_check
      CHECK (finding IN ('unknown_payload', 'amount_differs', 'person_differs', 'refund_unknown', 'missing_there'));
