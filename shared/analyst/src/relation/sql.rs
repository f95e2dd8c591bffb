//! Catalog queries about one relation. They run with `search_path` at `pg_catalog`, so nothing of a user can stand in
//! for a name of theirs. `$2` and `$3` are the selection as two parallel arrays, NULL where everything is selected.

/// `$1` name, `$2` schema or NULL, `$3`, `$4` selection: oid, quoted name, kind, comment, whether a system's own.
pub(super) const FIND: &str = "
SELECT c.oid::text, quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind::text,
       obj_description(c.oid, 'pg_class'),
       n.nspname LIKE 'pg\\_%' OR n.nspname = 'information_schema'
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname = $1::text AND ($2::text IS NULL OR n.nspname = $2::text)
   AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND has_schema_privilege(n.oid, 'USAGE')
   AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
   AND ($3::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
        (SELECT s.schema, s.name FROM unnest($3::text[], $4::text[]) AS s(schema, name)))
 ORDER BY 2";

/// `$1` oid: per readable column its quoted name, type, not null, default, identity, generated, comment, and whether it is
/// text, bpchar, varchar (25, 1042, 1043) or an enumeration.
pub(super) const COLUMNS: &str = "
SELECT quote_ident(a.attname), format_type(a.atttypid, a.atttypmod), a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid), a.attidentity::text, a.attgenerated::text, col_description(a.attrelid, a.attnum),
       a.atttypid IN (25, 1042, 1043) OR EXISTS (SELECT FROM pg_type t WHERE t.oid = a.atttypid AND t.typtype = 'e')
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
   AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
 ORDER BY a.attnum";

/// `$1` oid: the quoted names of the primary key's columns, in key order.
pub(super) const PRIMARY_KEY: &str = "
SELECT quote_ident(a.attname)
  FROM pg_constraint k CROSS JOIN unnest(k.conkey) WITH ORDINALITY AS part(attnum, place)
  JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = part.attnum
 WHERE k.conrelid = $1::oid AND k.contype = 'p'
 ORDER BY part.place";

/// `$1` oid, `$2`, `$3` selection: foreign keys from and to the relation, as both sides' names and columns. The copies
/// that a partitioned table's partitions carry are left out.
pub(super) const FOREIGN_KEYS: &str = "
WITH readable AS (
  SELECT c.oid, quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE NOT c.relispartition AND has_schema_privilege(n.oid, 'USAGE')
     AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
     AND ($2::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
          (SELECT s.schema, s.name FROM unnest($2::text[], $3::text[]) AS s(schema, name))))
SELECT f.name,
       (SELECT json_agg(quote_ident(a.attname) ORDER BY part.place)::text
          FROM unnest(k.conkey) WITH ORDINALITY AS part(attnum, place)
          JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = part.attnum),
       t.name,
       (SELECT json_agg(quote_ident(a.attname) ORDER BY part.place)::text
          FROM unnest(k.confkey) WITH ORDINALITY AS part(attnum, place)
          JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = part.attnum)
  FROM pg_constraint k JOIN readable f ON f.oid = k.conrelid JOIN readable t ON t.oid = k.confrelid
 WHERE k.contype = 'f' AND $1::oid IN (k.conrelid, k.confrelid)
 ORDER BY 1, 2, 3, 4";

/// `$1` oid, `$2`, `$3` selection: what the view reads and which views read the relation: direction, name, and whether
/// the name may be told.
pub(super) const VIEW_LINKS: &str = "
SELECT DISTINCT link.direction, quote_ident(n.nspname) || '.' || quote_ident(c.relname),
       has_schema_privilege(n.oid, 'USAGE')
         AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
         AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
         AND ($2::text[] IS NULL OR (n.nspname::text, c.relname::text) IN
              (SELECT s.schema, s.name FROM unnest($2::text[], $3::text[]) AS s(schema, name)))
  FROM (SELECT 'reads' AS direction, r.ev_class AS self, d.refobjid AS other
          FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
         WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
        UNION ALL
        SELECT 'read by', d.refobjid, r.ev_class
          FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
         WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class) AS link
  JOIN pg_class c ON c.oid = link.other AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE link.self = $1::oid
 ORDER BY 1 DESC, 2";

/// `$1` oid: the view's statement; no row for what is no view.
pub(super) const DEFINITION: &str = "
SELECT pg_get_viewdef(c.oid, true) FROM pg_class c WHERE c.oid = $1::oid AND c.relkind IN ('v', 'm')";
