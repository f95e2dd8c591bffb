-- Drafts that can be saved by several at one time, and what was changed, tested and asked.

ALTER TABLE pinguard.flow
    ADD COLUMN draft_version   bigint NOT NULL DEFAULT 1,
    ADD COLUMN published_draft bigint;
COMMENT ON COLUMN pinguard.flow.draft_version IS 'how many times the draft has been written';
COMMENT ON COLUMN pinguard.flow.published_draft IS 'the draft_version that live is a copy of';
UPDATE pinguard.flow SET published_draft = draft_version WHERE live IS NOT NULL AND live = draft;

-- Events that were written together with the change they tell of and have not been handed on yet.
CREATE TABLE pinguard.outbox (
    position   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event      json        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- The newest row of each workspace's chain. Writers lock it, so that no two of them follow the same row.
CREATE TABLE pinguard.audit_head (
    workspace text   PRIMARY KEY,
    count     bigint NOT NULL,
    hmac      bytea  NOT NULL
);

CREATE TABLE pinguard.audit (
    workspace text        NOT NULL,
    number    bigint      NOT NULL CHECK (number > 0),
    id        uuid        NOT NULL,
    at        timestamptz NOT NULL,
    type      text        NOT NULL,
    change    text        NOT NULL,
    actor     text        NOT NULL,
    user_name text        NOT NULL,
    flow      text        NOT NULL,
    node      text        NOT NULL,
    summary   text        NOT NULL,
    -- As it was written, byte by byte: the HMAC is over it.
    detail    json,
    previous  bytea       NOT NULL,
    hmac      bytea       NOT NULL,
    PRIMARY KEY (workspace, number),
    UNIQUE (workspace, id)
);
COMMENT ON COLUMN pinguard.audit.previous IS 'the hmac of the row before; 32 zero bytes in the first';
COMMENT ON COLUMN pinguard.audit.hmac IS 'over all other columns';

CREATE FUNCTION pinguard.audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit rows are never changed or removed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON pinguard.audit
    FOR EACH STATEMENT EXECUTE FUNCTION pinguard.audit_is_append_only();

CREATE TABLE pinguard.call (
    id                 text        PRIMARY KEY,
    at                 timestamptz NOT NULL,
    workspace          text        NOT NULL,
    flow               text        NOT NULL,
    node               text,
    caller             text,
    tool               text        NOT NULL,
    pin                text,
    pin_version        bigint,
    sql_hash           text,
    lane               text,
    effect             text        NOT NULL CHECK (effect IN ('none', 'allowed', 'refused', 'failed')),
    code               text,
    rows_returned      bigint,
    tables_read        text[],
    bytes              bigint,
    elapsed_ms         bigint      NOT NULL,
    page               bigint,
    free_sql_with_pin  text[],
    preview            text
);
CREATE INDEX call_workspace_at ON pinguard.call (workspace, at);
