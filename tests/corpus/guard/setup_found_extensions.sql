-- Set-ups for found.jsonl: what somebody makes ahead of an extension's own names. Run after setup.sql, as superuser, in a
-- database of its own.
SET client_min_messages = warning;
CREATE SCHEMA extensions;
GRANT USAGE ON SCHEMA extensions TO PUBLIC;
CREATE EXTENSION cube SCHEMA extensions;
CREATE EXTENSION earthdistance SCHEMA extensions VERSION '1.1';
CREATE EXTENSION isn SCHEMA extensions;
CREATE EXTENSION pg_stat_statements SCHEMA extensions;
SET ROLE guard_app;
CREATE FUNCTION earth() RETURNS float8 LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM set_config('a.b', 'c', false); RETURN 1; END $$;
RESET ROLE;
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, extensions', current_database()); END $$;
