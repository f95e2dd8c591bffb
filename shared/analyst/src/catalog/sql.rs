//! Catalog queries of the lists. They run with `search_path` at `pg_catalog`. System schemas, temporary ones and the
//! chunk schemas of time-series extensions are left out, partitions are folded into their parents.

/// `$1`, `$2` selection: schema, readable relations, comment.
pub(super) const SCHEMAS: &str = "
SELECT quote_ident(n.nspname), count(c.oid)::text, obj_description(n.oid, 'pg_namespace')
  FROM pg_namespace n
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
   AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
   AND ($1::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
        (SELECT s.schema, s.name FROM unnest($1::text[], $2::text[]) AS s(schema, name)))
 WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE '\\_timescaledb\\_%'
   AND has_schema_privilege(n.oid, 'USAGE')
 GROUP BY n.oid, n.nspname
 ORDER BY n.nspname";

/// `$1` schema or NULL, `$2` limit, `$3` offset, `$4`, `$5` selection: how many there are in all, then of each on the page
/// name, kind, columns, estimated rows, children, comment. A page past the end is one row without a name.
pub(super) const TABLES: &str = "
WITH listed AS (
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
     AND CASE WHEN $1::text IS NULL
              THEN n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE '\\_timescaledb\\_%'
              ELSE n.nspname = $1::text END
     AND has_schema_privilege(n.oid, 'USAGE')
     AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
     AND ($4::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
          (SELECT s.schema, s.name FROM unnest($4::text[], $5::text[]) AS s(schema, name)))),
page AS (SELECT * FROM listed ORDER BY nspname, relname LIMIT $2::int8 OFFSET $3::int8)
SELECT total.count::text, quote_ident(p.nspname) || '.' || quote_ident(p.relname), p.relkind::text,
       (SELECT count(*) FROM pg_attribute a
         WHERE a.attrelid = p.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND has_column_privilege(a.attrelid, a.attnum, 'SELECT'))::text,
       CASE WHEN p.reltuples >= 0 AND p.relkind IN ('r', 'p', 'm') THEN p.reltuples::int8::text END,
       (SELECT nullif(count(*), 0) FROM pg_inherits i WHERE i.inhparent = p.oid)::text,
       left(obj_description(p.oid, 'pg_class'), 1000)
  FROM (SELECT count(*) FROM listed) AS total LEFT JOIN page AS p ON true
 ORDER BY p.nspname, p.relname";
