-- Set-ups for found.jsonl that need a cast: it counts against every text body, so it has a database of its own.
SET client_min_messages = warning;
SET ROLE guard_app;
-- JSON of records whose columns no tree names
CREATE FUNCTION feeling_to_json(mood) RETURNS json LANGUAGE sql STABLE AS $$ SELECT to_json(array_agg(api_key)) FROM secrets $$;
CREATE CAST (mood AS json) WITH FUNCTION feeling_to_json(mood);
CREATE FUNCTION out_mood(OUT a mood, OUT b int) LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT 'sad'::mood, 1; END;
CREATE FUNCTION some_record() RETURNS record LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT 'sad'::mood, 1; END;
-- a body in SQL's own form ends in a value that is cast to the result's type
CREATE FUNCTION note_cast(mood) RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN INSERT INTO secrets(id) VALUES (99); RETURN 1; END $$;
CREATE CAST (mood AS int) WITH FUNCTION note_cast(mood) AS ASSIGNMENT;
CREATE FUNCTION result_is_cast(m mood) RETURNS int LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT m; END;
CREATE FUNCTION result_is_cast_out(m mood, OUT a int, OUT b int) LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT m, m; END;
CREATE FUNCTION result_is_cast_return(m mood) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN m; END $$;
-- what writes text of any value
CREATE FUNCTION feeling_to_text(mood) RETURNS text LANGUAGE sql STABLE AS $$ SELECT string_agg(api_key, ',') FROM secrets $$;
CREATE CAST (mood AS text) WITH FUNCTION feeling_to_text(mood);
CREATE DOMAIN moodiness AS mood;
CREATE OPERATOR ~|| (LEFTARG = anynonarray, RIGHTARG = text, FUNCTION = pg_catalog.anytextcat);
CREATE AGGREGATE text_of(anynonarray) (SFUNC = pg_catalog.textanycat, STYPE = text, INITCOND = '');
RESET ROLE;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO guard_agent;
