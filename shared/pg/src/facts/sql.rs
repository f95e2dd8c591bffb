//! The catalog queries behind [`guard::facts`]. They run with `search_path` at `pg_catalog`, so a plain name in them is
//! PostgreSQL's own. Lists come back as JSON arrays.

/// `$1` OIDs: a function, with what makes it an aggregate. An extension counts only for what a superuser owns, since whoever
/// owns an extension can add functions of his own to it.
pub(super) const FUNCTIONS: &str = "
SELECT p.oid::text, n.nspname, p.proname, CASE WHEN r.rolsuper THEN e.extname END, p.provolatile::text, p.prosecdef,
       p.proconfig IS NOT NULL, r.rolsuper, l.lanname, p.prosrc, p.prosqlbody::text, p.proargdefaults::text,
       to_json(p.proargnames)::text,
       to_json(ARRAY(SELECT t::int8 FROM unnest(p.proargtypes::oid[] || p.proallargtypes || p.prorettype) AS t))::text,
       p.prokind::text,
       to_json(ARRAY(SELECT f::int8 FROM unnest(ARRAY[a.aggtransfn::oid, a.aggfinalfn, a.aggcombinefn, a.aggserialfn,
                     a.aggdeserialfn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn]) AS f WHERE f <> 0))::text,
       to_json(ARRAY(SELECT o::int8 FROM unnest(ARRAY[a.aggsortop]) AS o WHERE o <> 0))::text,
       to_json(ARRAY(SELECT t::int8 FROM unnest(ARRAY[a.aggtranstype, a.aggmtranstype]) AS t WHERE t <> 0))::text
  FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_language l ON l.oid = p.prolang
  JOIN pg_roles r ON r.oid = p.proowner
  LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
  LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
  LEFT JOIN pg_extension e ON e.oid = d.refobjid
 WHERE p.oid = ANY ($1::oid[])";

/// `$1` OIDs: an operator, what it runs, and what the planner may run for it. Sorting and hashing by an operator runs the
/// functions of its families (access methods 403 and 405 are `btree` and `hash`); estimates and proofs, which compare
/// constants, run the families' other operators too.
pub(super) const OPERATORS: &str = "
SELECT o.oid::text, n.nspname, o.oprname,
       to_json(ARRAY(
         SELECT f::int8 FROM (
           SELECT o.oprcode::oid AS f
           UNION SELECT m.amproc::oid FROM pg_amop a JOIN pg_amproc m ON m.amprocfamily = a.amopfamily
                  WHERE a.amopopr = o.oid AND a.amopmethod IN (403, 405)
           UNION SELECT s.oprcode::oid FROM pg_amop a JOIN pg_amop b ON b.amopfamily = a.amopfamily
                   JOIN pg_operator s ON s.oid = b.amopopr
                  WHERE a.amopopr = o.oid AND a.amopmethod IN (403, 405)) AS functions
          WHERE f <> 0))::text,
       to_json(ARRAY(SELECT s::int8 FROM unnest(ARRAY[o.oprnegate, o.oprcom]) AS s WHERE s <> 0))::text
  FROM pg_operator o JOIN pg_namespace n ON n.oid = o.oprnamespace
 WHERE o.oid = ANY ($1::oid[])";

/// `$1` OIDs: a type, what it is made of, and what it runs.
pub(super) const TYPES: &str = "
SELECT t.oid::text, n.nspname, t.typname, t.typtype::text, CASE WHEN r.rolsuper THEN e.extname END,
       CASE WHEN c.relkind <> 'c' THEN c.oid::text END,
       to_json(ARRAY(
         SELECT part::int8 FROM (
           SELECT t.typelem AS part UNION SELECT t.typbasetype
           UNION SELECT g.rngsubtype FROM pg_range g WHERE t.oid IN (g.rngtypid, g.rngmultitypid)
           UNION SELECT a.atttypid FROM pg_attribute a
                  WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) AS parts
          WHERE part <> 0))::text,
       to_json(ARRAY(
         SELECT f::int8 FROM (
           SELECT unnest(ARRAY[t.typinput::oid, t.typoutput, t.typreceive, t.typsend, t.typmodin, t.typmodout,
                               t.typsubscript]) AS f
           UNION SELECT unnest(ARRAY[g.rngcanonical::oid, g.rngsubdiff]) FROM pg_range g
                  WHERE t.oid IN (g.rngtypid, g.rngmultitypid)
           UNION SELECT m.amproc::oid FROM pg_range g
                   JOIN pg_opclass k ON k.oid = g.rngsubopc
                   JOIN pg_amproc m ON m.amprocfamily = k.opcfamily AND m.amproclefttype = k.opcintype
                  WHERE t.oid IN (g.rngtypid, g.rngmultitypid)
           UNION SELECT m.amproc::oid FROM pg_opclass k
                   JOIN pg_amproc m ON m.amprocfamily = k.opcfamily AND m.amproclefttype = k.opcintype
                  WHERE k.opcintype = t.oid AND k.opcdefault
           UNION SELECT o.oprcode::oid FROM pg_opclass k
                   JOIN pg_amop m ON m.amopfamily = k.opcfamily AND m.amoplefttype = k.opcintype
                   JOIN pg_operator o ON o.oid = m.amopopr
                  WHERE k.opcintype = t.oid AND k.opcdefault) AS functions
          WHERE f <> 0))::text,
       to_json(ARRAY(
         SELECT k.castfunc::int8 FROM pg_cast k
          WHERE k.castsource = t.oid AND k.casttarget IN (114, 3802) AND k.castfunc <> 0))::text,
       to_json(ARRAY(
         SELECT json_build_array('the check ' || k.conname || ' of domain ' || t.typname, k.conbin::text)
           FROM pg_constraint k WHERE k.contypid = t.oid AND k.conbin IS NOT NULL))::text
  FROM pg_type t
  JOIN pg_namespace n ON n.oid = t.typnamespace
  JOIN pg_roles r ON r.oid = t.typowner
  LEFT JOIN pg_class c ON c.oid = t.typrelid
  LEFT JOIN pg_depend d ON d.classid = 'pg_type'::regclass AND d.objid = t.oid AND d.deptype = 'e'
  LEFT JOIN pg_extension e ON e.oid = d.refobjid
 WHERE t.oid = ANY ($1::oid[])";

/// `$1` OIDs: a relation, and every stored tree that reading it may run, or that planning it simplifies. A partition's
/// constraint is made of the keys of the tables above it. Where a check names a virtual generated column, the planner may put
/// the column's expression in its place; so beside such a column everything counts as running.
pub(super) const RELATIONS: &str = "
SELECT c.oid::text, n.nspname, c.relname, c.relkind::text, w.fdwname, e.extname, stored.runs::text, stored.folds::text,
       to_json(ARRAY(SELECT i.inhrelid::int8 FROM pg_inherits i WHERE i.inhparent = c.oid))::text
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN LATERAL (
       SELECT coalesce(json_agg(json_build_array(s.owner, s.tree)) FILTER (WHERE s.runs OR v.virtual), '[]') AS runs,
              coalesce(json_agg(json_build_array(s.owner, s.tree)) FILTER (WHERE NOT (s.runs OR v.virtual)), '[]') AS folds
         FROM (
           SELECT 'view ' || c.oid::regclass, r.ev_action::text, true
             FROM pg_rewrite r WHERE r.ev_class = c.oid AND r.ev_type = '1' AND c.relkind = 'v'
           UNION ALL
           SELECT 'the policy ' || p.polname || ' of ' || c.oid::regclass, p.polqual::text, true
             FROM pg_policy p WHERE p.polrelid = c.oid AND c.relrowsecurity AND p.polcmd IN ('*', 'r')
           UNION ALL
           SELECT 'the generated column ' || a.attname || ' of ' || c.oid::regclass, g.adbin::text, true
             FROM pg_attrdef g JOIN pg_attribute a ON a.attrelid = g.adrelid AND a.attnum = g.adnum
            WHERE g.adrelid = c.oid AND a.attgenerated = 'v'
           UNION ALL
           SELECT 'the index ' || i.indexrelid::regclass, x.tree, x.runs
             FROM pg_index i
            CROSS JOIN LATERAL (VALUES (i.indpred::text, true), (i.indexprs::text, false)) AS x(tree, runs)
            WHERE i.indrelid = c.oid
           UNION ALL
           SELECT 'the check ' || k.conname || ' of ' || c.oid::regclass, k.conbin::text, false
             FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'
           UNION ALL
           SELECT 'the statistics ' || s.stxname || ' of ' || c.oid::regclass, s.stxexprs::text, false
             FROM pg_statistic_ext s WHERE s.stxrelid = c.oid
           UNION ALL
           SELECT 'the partition key of ' || k.partrelid::regclass, k.partexprs::text, false
             FROM pg_partitioned_table k
            WHERE k.partrelid = c.oid OR k.partrelid IN (SELECT a.relid FROM pg_partition_ancestors(c.oid) AS a)
         ) AS s(owner, tree, runs)
        CROSS JOIN (SELECT EXISTS (
              SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated = 'v')) AS v(virtual)
        WHERE s.tree IS NOT NULL) AS stored
  LEFT JOIN pg_foreign_table t ON t.ftrelid = c.oid
  LEFT JOIN pg_foreign_server f ON f.oid = t.ftserver
  LEFT JOIN pg_foreign_data_wrapper w ON w.oid = f.srvfdw
  LEFT JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
  LEFT JOIN pg_extension e ON e.oid = d.refobjid
 WHERE c.oid = ANY ($1::oid[])";

/// `$1` names: every function of them, in any schema. A server whose characters are single bytes also folds letters that are
/// not ASCII, by its locale; whoever took the name from a text did not.
pub(super) const FUNCTION_NAMES: &str = "
SELECT w.name, p.oid::text FROM unnest($1::text[]) AS w(name) JOIN pg_proc p ON p.proname = w.name::name
 UNION
SELECT w.name, p.oid::text FROM unnest($1::text[]) AS w(name) JOIN pg_proc p ON p.proname = lower(w.name)::name
 WHERE pg_encoding_max_length(pg_char_to_encoding(getdatabaseencoding())) = 1";

/// `$1` names: every operator of them that was not made with the cluster, in any schema.
pub(super) const OPERATOR_NAMES: &str =
    "SELECT o.oprname, o.oid::text FROM pg_operator o WHERE o.oprname = ANY ($1::name[]) AND o.oid >= 16384";

/// `$1` names: every type of them, in any schema, folded as those of functions are.
pub(super) const TYPE_NAMES: &str = "
SELECT w.name, t.oid::text FROM unnest($1::text[]) AS w(name) JOIN pg_type t ON t.typname = w.name::name
 UNION
SELECT w.name, t.oid::text FROM unnest($1::text[]) AS w(name) JOIN pg_type t ON t.typname = lower(w.name)::name
 WHERE pg_encoding_max_length(pg_char_to_encoding(getdatabaseencoding())) = 1";

/// Functions of all casts that were not made with the cluster, and what they make: JSON, text or something else.
pub(super) const CASTS: &str = "
SELECT k.castfunc::oid::text,
       CASE WHEN k.casttarget IN (114, 3802) THEN 'json' WHEN k.casttarget = 25 THEN 'text' ELSE 'other' END
  FROM pg_cast k WHERE k.oid >= 16384 AND k.castfunc <> 0";
