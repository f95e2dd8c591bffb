//! Catalog queries of the lists. They run with `search_path` at `pg_catalog`. System schemas, temporary ones and the
//! chunk schemas of time-series extensions are left out, partitions are folded into their parents.

/// `$1`, `$2` selection: schema, readable relations, comment.
pub(super) const SCHEMAS: &str = "
SELECT quote_ident(n.nspname), count(c.oid)::text, obj_description(n.oid, 'pg_namespace')
  FROM pg_namespace n
  LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
   AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
   AND ($1::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
        (SELECT s.schema, s.name FROM unnest($1::text[], $2::text[]) AS s(schema, name)))
 WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE '\\_timescaledb\\_%'
   AND has_schema_privilege(n.oid, 'USAGE')
 GROUP BY n.oid, n.nspname
HAVING $1::text[] IS NULL OR count(c.oid) > 0
 ORDER BY n.nspname";

/// `$1` schema or NULL, `$2` limit, `$3` offset, `$4`, `$5` selection: name, kind, columns, estimated rows, children,
/// comment, total.
pub(super) const TABLES: &str = "
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind::text,
       (SELECT count(*) FROM pg_attribute a
         WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
           AND has_column_privilege(a.attrelid, a.attnum, 'SELECT'))::text,
       CASE WHEN c.reltuples >= 0 AND c.relkind IN ('r', 'p', 'm') THEN c.reltuples::int8::text END,
       (SELECT nullif(count(*), 0) FROM pg_inherits i WHERE i.inhparent = c.oid)::text,
       left(obj_description(c.oid, 'pg_class'), 120),
       count(*) OVER ()::text
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
   AND CASE WHEN $1::text IS NULL
            THEN n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE '\\_timescaledb\\_%'
            ELSE n.nspname = $1::text END
   AND has_schema_privilege(n.oid, 'USAGE')
   AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
   AND ($4::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
        (SELECT s.schema, s.name FROM unnest($4::text[], $5::text[]) AS s(schema, name)))
 ORDER BY n.nspname, c.relname
 LIMIT $2::int8 OFFSET $3::int8";
