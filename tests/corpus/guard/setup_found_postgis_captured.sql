-- On top of setup_found_postgis.sql: what somebody makes ahead of the names in PostGIS's bodies.
SET ROLE guard_app;
CREATE FUNCTION public.upper(varchar) RETURNS text LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM set_config('a.b', 'c', false); RETURN $1; END $$;
CREATE FUNCTION public.array_append(text[], varchar) RETURNS text[] LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM set_config('a.b', 'c', false); RETURN $1; END $$;
RESET ROLE;
