//! The catalog query of the list. It runs with `search_path` at `pg_catalog`. System schemas, temporary ones and the chunk
//! schemas of time-series extensions are left out, and so are partitions.

/// `$1` limit: quoted name, kind, readable columns, comment; materialized views, views, then tables of all kinds.
pub(super) const RELATIONS: &str = "
WITH listed AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind,
         CASE c.relkind WHEN 'm' THEN 0 WHEN 'v' THEN 1 ELSE 2 END AS place
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
     AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE '\\_timescaledb\\_%'
     AND has_schema_privilege(n.oid, 'USAGE')
     AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
   ORDER BY place, n.nspname, c.relname LIMIT $1::int8)
SELECT quote_ident(l.nspname) || '.' || quote_ident(l.relname), l.relkind::text,
       (SELECT count(*) FROM pg_attribute a
         WHERE a.attrelid = l.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND has_column_privilege(a.attrelid, a.attnum, 'SELECT'))::text,
       left(obj_description(l.oid, 'pg_class'), 1000)
  FROM listed AS l
 ORDER BY l.place, l.nspname, l.relname";
