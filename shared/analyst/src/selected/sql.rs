//! The catalog query over a selection. It runs with `search_path` at `pg_catalog`.

/// `$1`, `$2` selection, `$3` how many relations get their columns, `$4` how many columns: of each relation that can be read
/// the quoted name, kind, comment and the quoted columns as a JSON list, in the order of the selection.
pub(super) const SELECTED: &str = "
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind::text,
       left(obj_description(c.oid, 'pg_class'), 1000),
       CASE WHEN row_number() OVER (ORDER BY s.place) <= $3::int8 THEN
         (SELECT json_agg(quote_ident(first.attname) ORDER BY first.attnum)::text
            FROM (SELECT a.attname, a.attnum FROM pg_attribute a
                   WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                     AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
                   ORDER BY a.attnum LIMIT $4::int8) AS first)
       END
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS s(schema, name, place)
  JOIN pg_namespace n ON n.nspname = s.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = s.name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 WHERE has_schema_privilege(n.oid, 'USAGE')
   AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
 ORDER BY s.place";
