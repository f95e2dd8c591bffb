-- What an operator agreed to for a credential whose login lacks the grants for the best way to have statements resolved.

ALTER TABLE pinguard.credential
    ADD COLUMN agreed text[] NOT NULL DEFAULT '{}' CHECK (agreed <@ ARRAY['event-triggers', 'loud']);
COMMENT ON COLUMN pinguard.credential.agreed IS
    'loud: trees may go to the server''s log; event-triggers: those on DDL may fire; it ends when the secret changes';
