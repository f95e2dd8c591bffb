-- Set-up for found.jsonl and found_benign.jsonl: expressions that the planner simplifies when a table is read. Run after
-- setup.sql, as superuser, in a database of its own. Every table `folds_…` has one that runs trojan() at such a read (or could:
-- folds_operator and folds_virtual are refused to be on the safe side); those called `kept_…` have calls of it on columns alone, which stay calls. Names in bodies have their schema, since 17 builds indexes
-- with a search path of its own.
SET client_min_messages = warning;
SET ROLE guard_app;
CREATE FUNCTION trojan(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM set_config('guard.trojan', 'ran', false); RETURN $1; END $$;
CREATE FUNCTION trojan_with(text, text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public.trojan($1); END $$;
CREATE FUNCTION trojan_default(a text, b text DEFAULT trojan('x')) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN a; END $$;
CREATE FUNCTION trojan_like(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public.trojan($1) = $2; END $$;
CREATE OPERATOR ~~! (LEFTARG = text, RIGHTARG = text, FUNCTION = trojan_like);
CREATE FUNCTION drops(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT 'x'::text $$;
CREATE FUNCTION body_on_constant(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1 || public.trojan('x') $$;
CREATE FUNCTION body_on_second(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1 || public.trojan($2) $$;
CREATE FUNCTION body_on_default(a text, b text DEFAULT 'x') RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT a || public.trojan(b) $$;
CREATE FUNCTION body_on_dropped(a text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT a || public.trojan(public.drops(a)) $$;
CREATE FUNCTION body_deeper(a text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT public.body_on_constant(a) $$;
CREATE FUNCTION body_atomic(a text) RETURNS text LANGUAGE sql IMMUTABLE RETURN a || public.trojan('x');
CREATE TABLE folds_constant(id int, a text); CREATE INDEX ON folds_constant ((a || trojan('x')));
CREATE TABLE folds_case(id int, a text); CREATE INDEX ON folds_case (trojan(CASE WHEN true THEN 'x' ELSE a END));
CREATE TABLE folds_coalesce(id int, a text); CREATE INDEX ON folds_coalesce (trojan(coalesce('x', a)));
CREATE TABLE folds_null(id int, a text); CREATE INDEX ON folds_null (trojan(a || NULL));
CREATE TABLE folds_boolean(id int, a text); CREATE INDEX ON folds_boolean (trojan(CASE WHEN false AND a = 'x' THEN a ELSE 'x' END));
CREATE TABLE folds_row(id int, a text); CREATE INDEX ON folds_row (trojan(CASE WHEN ROW('x', a) IS NULL THEN a ELSE 'x' END)); CREATE INDEX ON folds_row (trojan((ROW('x', a) IS NULL)::text));
CREATE TABLE folds_dropped(id int, a text); CREATE INDEX ON folds_dropped (trojan(drops(a)));
CREATE TABLE folds_body(id int, a text); CREATE INDEX ON folds_body (body_on_constant(a));
CREATE TABLE folds_body_argument(id int, a text); CREATE INDEX ON folds_body_argument (body_on_second(a, 'x'));
CREATE TABLE folds_body_default(id int, a text); CREATE INDEX ON folds_body_default (body_on_default(a));
CREATE TABLE folds_body_dropped(id int, a text); CREATE INDEX ON folds_body_dropped (body_on_dropped(a));
CREATE TABLE folds_body_deeper(id int, a text); CREATE INDEX ON folds_body_deeper (body_deeper(a));
CREATE TABLE folds_body_atomic(id int, a text); CREATE INDEX ON folds_body_atomic (body_atomic(a));
CREATE TABLE folds_default(id int, a text); CREATE INDEX ON folds_default (trojan_default(a));
CREATE TABLE folds_statistics(id int, a text); CREATE STATISTICS folded ON (a || trojan('x')) FROM folds_statistics;
CREATE TABLE folds_check(id int, a text CHECK (a <> trojan('x')));
CREATE TABLE folds_predicate(id int, a text, b text); CREATE INDEX ON folds_predicate USING brin (a) WHERE trojan(b) = 'x' OR id > 0;
CREATE TABLE folds_operator(id int, a text CHECK (a ~~! 'y'));
CREATE TABLE folds_key(id int, a text) PARTITION BY LIST ((a || trojan('x'))); CREATE TABLE folds_key_1 PARTITION OF folds_key FOR VALUES IN ('yx');
-- 18 alone has virtual columns; the check sees the column's expression.
CREATE TABLE folds_virtual(id int, a text);
DO $$ BEGIN
  EXECUTE 'ALTER TABLE folds_virtual ADD v text GENERATED ALWAYS AS (''x'') VIRTUAL';
  EXECUTE 'ALTER TABLE folds_virtual ADD CHECK (trojan(v) IS NOT NULL)';
EXCEPTION WHEN syntax_error OR feature_not_supported THEN NULL; END $$;
RESET ROLE;
CREATE FUNCTION owned_by_superuser(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$;
CREATE FUNCTION kept_body(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT public.owned_by_superuser($1) || public.trojan($1) $$;
CREATE FUNCTION kept_body_named(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT public.trojan(a COLLATE "C") || public.trojan_with(b, 'x') $$;
CREATE FUNCTION kept_body_atomic(a text) RETURNS text LANGUAGE sql IMMUTABLE RETURN lower(public.trojan(coalesce(a, '')));
SET ROLE guard_app;
CREATE TABLE kept_index(id int, a text, b text); CREATE INDEX ON kept_index (lower(owned_by_superuser(a))); CREATE INDEX ON kept_index (trojan(a || ' ' || b)); CREATE INDEX ON kept_index (trojan(coalesce(lower(a), 'x')));
CREATE TABLE kept_constants(id int, a text, b varchar(9)); CREATE INDEX ON kept_constants (trojan_with(a, 'x')); CREATE INDEX ON kept_constants (trojan(b));
CREATE TABLE kept_bodies(id int, a text, b text); CREATE INDEX ON kept_bodies (kept_body(a)); CREATE INDEX ON kept_bodies (kept_body_named(a, b)); CREATE INDEX ON kept_bodies (kept_body_atomic(a));
CREATE TABLE kept_checks(id int, a text CHECK (trojan(a) IS NOT NULL)); CREATE STATISTICS kept ON (trojan(a)), id FROM kept_checks;
CREATE TABLE kept_key(id int, a text) PARTITION BY LIST (trojan(a)); CREATE TABLE kept_key_1 PARTITION OF kept_key FOR VALUES IN ('x');
DO $$ DECLARE t text; BEGIN
  FOR t IN SELECT relname FROM pg_class WHERE relname ~ '^(folds|kept)_' AND relkind = 'r' LOOP
    EXECUTE format('INSERT INTO %I (id, a) SELECT g, %L FROM generate_series(1, 2000) g', t, CASE t WHEN 'kept_key_1' THEN 'x' ELSE 'y' END);
  END LOOP;
END $$;
RESET ROLE;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO guard_agent;
ANALYZE;
