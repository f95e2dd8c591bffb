-- Set-ups for found.jsonl and found_benign.jsonl: run after setup.sql, as superuser, in a database of its own.
SET client_min_messages = warning;
SET ROLE guard_app;
CREATE TABLE witness(what text);
CREATE FUNCTION f_note(t text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$ BEGIN INSERT INTO witness VALUES (t); RETURN t; END $$;
CREATE FUNCTION f_passes(t text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM f_note(t); RETURN true; END $$;
CREATE DOMAIN noting AS text CHECK (f_passes(VALUE));
CREATE TYPE holds_noting AS (n int, t noting);
-- a cast written in a text body
CREATE FUNCTION body_cast(t text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT t::noting::text $$;
CREATE FUNCTION body_cast_array(t text) RETURNS int LANGUAGE sql STABLE AS $$ SELECT cardinality(ARRAY[t]::noting[]) $$;
CREATE FUNCTION body_cast_row(t text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT (ROW(1, t)::holds_noting)::text $$;
CREATE FUNCTION body_cast_plpgsql(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN t::noting; END $$;
CREATE FUNCTION body_declares(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ DECLARE d noting := t; BEGIN RETURN d; END $$;
CREATE FUNCTION body_declares_constant(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ DECLARE d CONSTANT noting[] := ARRAY[t]; BEGIN RETURN 'x'; END $$;
CREATE FUNCTION body_regclass(t text) RETURNS oid LANGUAGE sql STABLE AS $$ SELECT t::regclass::oid $$;
CREATE FUNCTION body_row_type() RETURNS text LANGUAGE sql STABLE AS $$ SELECT to_json(NULL::secrets)::text $$;
CREATE FUNCTION body_xml(t text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT x::text FROM xmltable('/a' PASSING xmlparse(CONTENT t) COLUMNS x noting PATH '.') $$;
CREATE FUNCTION body_columns(t text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT r.x::text FROM json_to_record(t::json) AS r(x noting) $$;
-- a type called like a function
CREATE FUNCTION body_calls_type(t text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT noting(t)::text $$;
CREATE FUNCTION body_calls_regtype(t text) RETURNS oid LANGUAGE sql STABLE AS $$ SELECT regtype(t)::oid $$;
CREATE FUNCTION body_calls_regclass(t text) RETURNS oid LANGUAGE sql STABLE AS $$ SELECT regnamespace(t)::oid $$;
CREATE FUNCTION body_calls_array_type(t text) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN cardinality(public._noting(string_to_array(t, ','))); END $$;
CREATE TABLE typed(date noting, note noting);
CREATE FUNCTION body_column_type(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ DECLARE v typed.note%TYPE := t; BEGIN RETURN 'x'; END $$;
CREATE FUNCTION body_column_type_named_like_one(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ DECLARE v public.typed.date%TYPE := t; BEGIN RETURN 'x'; END $$;
CREATE FUNCTION body_row_of_table(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ DECLARE v typed%ROWTYPE := ROW(t, t); BEGIN RETURN 'x'; END $$;
-- arguments and results of a type that runs code
CREATE FUNCTION takes_noting(t noting) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN 1; END $$;
CREATE FUNCTION body_passes_noting() RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT takes_noting('x') $$;
CREATE FUNCTION gives_noting(t text) RETURNS noting LANGUAGE sql STABLE AS $$ SELECT t $$;
CREATE FUNCTION body_takes_noting(t text) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT gives_noting(t) IS NULL $$;
CREATE FUNCTION out_noting(t text, OUT a int, OUT b noting) LANGUAGE sql STABLE AS $$ SELECT 1, t $$;
CREATE FUNCTION table_noting(t text) RETURNS TABLE(a int, b noting) LANGUAGE sql STABLE AS $$ SELECT 1, t $$;
CREATE FUNCTION out_row(t text) RETURNS SETOF holds_noting LANGUAGE sql STABLE AS $$ SELECT 1, t $$;
-- attribute notation deeper in a chain
CREATE TYPE pair AS (a text, b text);
CREATE FUNCTION leak_pair(c customers) RETURNS pair LANGUAGE sql STABLE AS $$ SELECT api_key, owner_name FROM secrets WHERE id = 1 $$;
CREATE FUNCTION leak_array(c customers) RETURNS text[] LANGUAGE sql STABLE AS $$ SELECT array_agg(api_key) FROM secrets $$;
CREATE FUNCTION chain_field(c customers) RETURNS text LANGUAGE sql STABLE AS $$ SELECT ($1).leak_pair.a $$;
CREATE FUNCTION chain_star(c customers) RETURNS pair LANGUAGE sql STABLE AS $$ SELECT ($1).leak_pair.* $$;
CREATE FUNCTION chain_subscript(c customers) RETURNS text LANGUAGE sql STABLE AS $$ SELECT ($1).leak_array[1] $$;
CREATE FUNCTION chain_last(c customers) RETURNS text LANGUAGE sql STABLE AS $$ SELECT (ARRAY[c])[1].leak_array[2] $$;
-- words that only a later grammar takes for its own
DO $$ BEGIN
  EXECUTE 'CREATE FUNCTION json_scalar(t text) RETURNS text LANGUAGE sql STABLE AS ''SELECT api_key FROM secrets WHERE id = 1''';
  EXECUTE 'CREATE FUNCTION json_value(t text, p text) RETURNS text LANGUAGE sql STABLE AS ''SELECT api_key FROM secrets WHERE id = 1''';
  EXECUTE 'CREATE FUNCTION body_json_scalar() RETURNS text LANGUAGE sql STABLE AS ''SELECT json_scalar(''''1'''')''';
  EXECUTE 'CREATE FUNCTION body_json_value() RETURNS text LANGUAGE sql STABLE AS ''SELECT json_value(''''1'''', ''''$'''')''';
EXCEPTION WHEN OTHERS THEN NULL; END $$;
-- settings by detours
CREATE FUNCTION body_setting(t text) RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting(t) $$;
CREATE FUNCTION body_setting_plpgsql(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN pg_catalog.current_setting(t, true); END $$;
CREATE FUNCTION body_setting_literal() RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting('data_directory') $$;
CREATE OPERATOR ~>> (RIGHTARG = text, FUNCTION = pg_catalog.current_setting);
CREATE FUNCTION second_of(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $2 $$;
CREATE AGGREGATE agg_setting(text) (SFUNC = second_of, STYPE = text, FINALFUNC = pg_catalog.current_setting);
-- an operator's negator and commutator
CREATE FUNCTION like_it(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1 = $2; END $$;
CREATE FUNCTION noting_not(text, text) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN f_passes($1); END $$;
CREATE OPERATOR <~~> (LEFTARG = text, RIGHTARG = text, FUNCTION = like_it, NEGATOR = <!~~>);
CREATE OPERATOR <!~~> (LEFTARG = text, RIGHTARG = text, FUNCTION = noting_not, NEGATOR = <~~>);
CREATE OPERATOR <~+> (LEFTARG = text, RIGHTARG = text, FUNCTION = like_it, COMMUTATOR = <+~>);
CREATE OPERATOR <+~> (LEFTARG = text, RIGHTARG = text, FUNCTION = noting_not, COMMUTATOR = <~+>);
CREATE FUNCTION body_negates(t text) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT NOT (t <~~> 'a') $$;
-- a body at which the parser prints
CREATE FUNCTION body_dumped(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ #option dump
BEGIN RETURN t; END $$;
-- a default class whose functions compute and whose operators do not
CREATE TYPE compared AS (a int);
CREATE FUNCTION compared_equal(compared, compared) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN f_passes('equal'); END $$;
CREATE FUNCTION compared_less(compared, compared) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT ($1).a < ($2).a $$;
CREATE FUNCTION compared_order(compared, compared) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT btint4cmp(($1).a, ($2).a) $$;
CREATE OPERATOR ==~ (LEFTARG = compared, RIGHTARG = compared, FUNCTION = compared_equal);
CREATE OPERATOR <<~ (LEFTARG = compared, RIGHTARG = compared, FUNCTION = compared_less);
RESET ROLE;
CREATE OPERATOR CLASS compared_ops DEFAULT FOR TYPE compared USING btree AS OPERATOR 1 <<~, OPERATOR 3 ==~, FUNCTION 1 compared_order(compared, compared);
SET ROLE guard_app;
-- the key of the table above
CREATE FUNCTION key_of(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM f_note($1); RETURN ''; END $$;
CREATE TABLE above(id int, a text) PARTITION BY LIST ((a || key_of('x')));
CREATE TABLE below PARTITION OF above FOR VALUES IN ('a') PARTITION BY LIST (a);
CREATE TABLE lowest PARTITION OF below FOR VALUES IN ('a');
RESET ROLE;
-- a body deeper than any parser's stack
SET ROLE guard_app; SET check_function_bodies = off;
DO $$ BEGIN
  EXECUTE 'CREATE FUNCTION body_chain(i int) RETURNS int LANGUAGE sql IMMUTABLE AS ''SELECT ' || repeat('i+', 20000) || '1''';
  EXECUTE 'CREATE FUNCTION body_nested(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS ''BEGIN ' || repeat('IF i > 0 THEN ', 2000) || 'RETURN 1;' || repeat(' END IF;', 2000) || ' END''';
  EXECUTE 'CREATE FUNCTION body_blank() RETURNS int LANGUAGE sql IMMUTABLE AS '' ''';
END $$;
RESET check_function_bodies; RESET ROLE;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO guard_agent;
