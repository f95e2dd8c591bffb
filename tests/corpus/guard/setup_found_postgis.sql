-- Set-up for found_postgis.jsonl, where PostGIS is at hand: run after setup.sql, as superuser, in a database of its own.
SET client_min_messages = warning;
CREATE EXTENSION postgis;
CREATE EXTENSION postgis_raster;
CREATE EXTENSION postgis_topology;
GRANT USAGE ON SCHEMA topology TO PUBLIC;
SET ROLE guard_app;
CREATE TABLE places(id int, g geometry);
INSERT INTO places SELECT n, ST_MakePoint(n, n) FROM generate_series(1, 9) AS n;
-- a body kept as text may use any cast, but has no value for that of postgis_topology, unless it takes one
CREATE FUNCTION near(g geometry) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT ST_X(g) > 1 $$;
CREATE FUNCTION near_topology(t topology.topogeometry) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT ST_X($1) > 1 $$;
-- an aggregate of somebody's that calls what the extension calls in its own alone
RESET ROLE;
CREATE AGGREGATE collects(geometry) (SFUNC = pgis_geometry_accum_transfn, STYPE = internal, FINALFUNC = pgis_geometry_collect_finalfn);
ALTER AGGREGATE collects(geometry) OWNER TO guard_app;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO guard_agent;
