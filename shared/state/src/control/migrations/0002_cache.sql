-- The cache, where no Valkey is configured: kept rows and places under counters. Unlogged: a crash of the server empties
-- it, which costs cursors and counts and nothing else. What is one step for callers is a function here, because a
-- statement that waits for a lock would go on with what it saw before it waited.

CREATE UNLOGGED TABLE pinguard.cache_entry (
    id        bytea       PRIMARY KEY,
    workspace bytea       NOT NULL,
    owner     bytea       NOT NULL,
    made      bigint      GENERATED ALWAYS AS IDENTITY,
    bytes     bigint      NOT NULL,
    idle      interval    NOT NULL,
    due       timestamptz NOT NULL,
    ends      timestamptz NOT NULL
);
COMMENT ON COLUMN pinguard.cache_entry.due IS 'when it expires unless it is used before; never after ends';
CREATE INDEX cache_entry_workspace ON pinguard.cache_entry (workspace, made);
CREATE INDEX cache_entry_due ON pinguard.cache_entry (due);

CREATE UNLOGGED TABLE pinguard.cache_part (
    entry  bytea  NOT NULL REFERENCES pinguard.cache_entry ON DELETE CASCADE,
    number bigint NOT NULL,
    body   bytea  NOT NULL,
    PRIMARY KEY (entry, number)
);
-- It comes compressed.
ALTER TABLE pinguard.cache_part ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE UNLOGGED TABLE pinguard.cache_seat (
    counter bytea       NOT NULL,
    id      bytea       NOT NULL,
    due     timestamptz NOT NULL,
    PRIMARY KEY (counter, id)
);
CREATE INDEX cache_seat_due ON pinguard.cache_seat (due);

-- Keeps an entry; the oldest of its owner and of its workspace go where it goes beyond the caps.
CREATE FUNCTION pinguard.cache_put(
    in_workspace bytea, in_owner bytea, in_id bytea, in_parts bytea[], in_idle_ms bigint, in_total_ms bigint,
    in_entries_per_owner bigint, in_bytes_per_workspace bigint
) RETURNS void LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
    size    bigint := coalesce((SELECT sum(octet_length(body)) FROM unnest(in_parts) body), 0);
    idle    interval := make_interval(secs => least(in_idle_ms, in_total_ms) / 1000.0);
    total   interval := make_interval(secs => in_total_ms / 1000.0);
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(in_workspace, 'hex'), 0));
    DELETE FROM pinguard.cache_entry e
    WHERE e.id = in_id OR e.workspace = in_workspace AND e.due <= clock_timestamp();
    DELETE FROM pinguard.cache_entry e WHERE e.id IN (
        SELECT o.id FROM pinguard.cache_entry o WHERE o.workspace = in_workspace AND o.owner = in_owner
        ORDER BY o.made DESC OFFSET greatest(in_entries_per_owner - 1, 0));
    DELETE FROM pinguard.cache_entry e WHERE e.id IN (
        SELECT newest.id FROM (
            SELECT o.id, sum(o.bytes) OVER (ORDER BY o.made DESC) AS bytes
            FROM pinguard.cache_entry o WHERE o.workspace = in_workspace) newest
        WHERE newest.bytes > in_bytes_per_workspace - size);
    INSERT INTO pinguard.cache_entry (id, workspace, owner, bytes, idle, due, ends)
    VALUES (in_id, in_workspace, in_owner, size, idle, clock_timestamp() + idle, clock_timestamp() + total);
    INSERT INTO pinguard.cache_part (entry, number, body)
    SELECT in_id, part.number - 1, part.body FROM unnest(in_parts) WITH ORDINALITY AS part (body, number);
    -- Leftovers of workspaces that ask no more. Last, and never waiting, so that nobody waits in a circle.
    DELETE FROM pinguard.cache_entry e WHERE e.id IN (
        SELECT o.id FROM pinguard.cache_entry o WHERE o.due <= clock_timestamp()
        ORDER BY o.due LIMIT 16 FOR UPDATE SKIP LOCKED);
END $$;

-- Takes a place under a counter. Gives the microseconds until there is one, or 0 for a place.
CREATE FUNCTION pinguard.cache_take(in_counter bytea, in_id bytea, in_limit bigint, in_hold_ms bigint)
RETURNS bigint LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
DECLARE
    hold  interval := make_interval(secs => in_hold_ms / 1000.0);
    taken bigint;
    free  timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(in_counter, 'hex'), 0));
    DELETE FROM pinguard.cache_seat s WHERE s.counter = in_counter AND s.due <= clock_timestamp();
    IF EXISTS (SELECT FROM pinguard.cache_seat s WHERE s.counter = in_counter AND s.id = in_id) THEN
        RETURN 0;
    END IF;
    SELECT count(*) INTO taken FROM pinguard.cache_seat s WHERE s.counter = in_counter;
    IF taken < in_limit THEN
        INSERT INTO pinguard.cache_seat (counter, id, due) VALUES (in_counter, in_id, clock_timestamp() + hold);
        DELETE FROM pinguard.cache_seat s WHERE (s.counter, s.id) IN (
            SELECT o.counter, o.id FROM pinguard.cache_seat o WHERE o.due <= clock_timestamp()
            ORDER BY o.due LIMIT 16 FOR UPDATE SKIP LOCKED);
        RETURN 0;
    END IF;
    -- Where the limit was lowered, more than one has to go first.
    SELECT s.due INTO free FROM pinguard.cache_seat s WHERE s.counter = in_counter
    ORDER BY s.due OFFSET taken - in_limit LIMIT 1;
    RETURN greatest(1, ceil(extract(epoch FROM coalesce(free - clock_timestamp(), hold)) * 1000000))::bigint;
END $$;
