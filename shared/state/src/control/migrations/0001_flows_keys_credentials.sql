-- Who may call what: flows with their draft and Live, keys by their hash, credentials by the id of their secret.

CREATE TABLE pinguard.flow (
    workspace  text        NOT NULL,
    id         text        NOT NULL,
    kind       text        NOT NULL CHECK (kind IN ('chatflow', 'agentflow')),
    draft      jsonb,
    live       jsonb,
    version    bigint      NOT NULL DEFAULT 0,
    -- New with every change of live, and never the same twice, not even after a restore: instances cache by it.
    revision   uuid        NOT NULL DEFAULT gen_random_uuid(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, id)
);
COMMENT ON COLUMN pinguard.flow.version IS 'how many times live has been written';

CREATE TABLE pinguard.api_key (
    id         uuid        PRIMARY KEY DEFAULT gen_random_uuid(),
    workspace  text        NOT NULL,
    name       text        NOT NULL,
    hash       bytea       NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    scopes     text[]      NOT NULL,
    flows      text[],
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
COMMENT ON COLUMN pinguard.api_key.hash IS 'SHA-256 of the key';
COMMENT ON COLUMN pinguard.api_key.flows IS 'the only flows it opens; null: every flow of the workspace';
CREATE INDEX api_key_workspace ON pinguard.api_key (workspace);

CREATE TABLE pinguard.credential (
    workspace text NOT NULL,
    id        text NOT NULL,
    name      text NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('url')),
    secret_id text NOT NULL,
    PRIMARY KEY (workspace, id)
);
COMMENT ON COLUMN pinguard.credential.secret_id IS 'where the connection URL is kept; the URL itself never lies here';
