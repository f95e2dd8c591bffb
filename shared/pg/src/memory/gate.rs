//! The queries that tell versions of catalog objects, and stop a flight when one is not in the version that was judged.
//!
//! They run under whatever `search_path` the caller's statement has, so every name and operator in them is qualified.
//!
//! A version is made of a row's `xmin` and of what hangs on the object by `pg_depend`: whoever adds, drops or replaces a
//! rule, policy, index, check, statistics object, child or constraint writes a row there anew. What only a superuser can
//! change without such a trace (operator families, members of extensions, who is a superuser) is not covered.

/// A sum of hashes over pairs of an OID and an `xmin`, whatever their order.
macro_rules! sum {
    ($oid:literal, $xmin:literal, $seed:literal) => {
        concat!(
            "pg_catalog.sum(pg_catalog.hashint8extended((",
            $oid,
            "::pg_catalog.int8 OPERATOR(pg_catalog.<<) 32) OPERATOR(pg_catalog.|) ",
            $xmin,
            "::pg_catalog.text::pg_catalog.int8, ",
            $seed,
            "::pg_catalog.int8))"
        )
    };
}

/// `$1` OIDs. Rows of kind, key and version, as in all of these. Functions (1255) that use a relation do not change it. The last
/// part of a version is empty where the relation is no partition: for these alone nothing stands in its place.
macro_rules! relations {
    () => {
        relations!(concat!(
            ", CASE WHEN c.relispartition THEN (SELECT ",
            sum!("a.oid", "a.xmin", "0"),
            " FROM pg_catalog.pg_partition_ancestors(c.oid) p \
             JOIN pg_catalog.pg_class a ON a.oid OPERATOR(pg_catalog.=) p.relid::pg_catalog.oid) END"
        ))
    };
    ($ancestors:expr) => {
        concat!(
            "SELECT 'r' AS kind, c.oid::pg_catalog.text AS key, pg_catalog.concat(c.xmin, ':', (SELECT ",
            sum!("d.objid", "d.xmin", "d.classid"),
            " FROM pg_catalog.pg_depend d WHERE d.refclassid OPERATOR(pg_catalog.=) 1259::pg_catalog.oid \
             AND d.refobjid OPERATOR(pg_catalog.=) c.oid \
             AND d.classid OPERATOR(pg_catalog.<>) 1255::pg_catalog.oid), ':'",
            $ancestors,
            ") AS version \
             FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.oid[])"
        )
    };
}

/// All objects of a name, whatever their schemas.
macro_rules! named {
    ($kind:literal, $names:literal, $catalog:literal, $column:literal) => {
        concat!(
            " UNION ALL SELECT '",
            $kind,
            "', k.name, pg_catalog.concat((SELECT pg_catalog.string_agg(o.oid::pg_catalog.text, ',' ORDER BY o.oid) \
             FROM pg_catalog.",
            $catalog,
            " o WHERE o.",
            $column,
            " OPERATOR(pg_catalog.=) k.name)) FROM pg_catalog.unnest(",
            $names,
            "::pg_catalog.text[]) AS k(name)"
        )
    };
}

/// `$2` functions, `$3` operators, `$4` types by OID; `$5` functions, `$6` operators, `$7` types by name; `$8` casts, if true.
/// Of what hangs on a type only casts (2605) and constraints (2606) count: each column of it hangs on it, too.
macro_rules! others {
    () => {
        concat!(
            " UNION ALL SELECT 'f', p.oid::pg_catalog.text, pg_catalog.concat(p.xmin, ':', (SELECT a.xmin \
             FROM pg_catalog.pg_aggregate a WHERE a.aggfnoid::pg_catalog.oid OPERATOR(pg_catalog.=) p.oid)) \
             FROM pg_catalog.pg_proc p WHERE p.oid OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.oid[]) \
             UNION ALL SELECT 'o', o.oid::pg_catalog.text, o.xmin::pg_catalog.text \
             FROM pg_catalog.pg_operator o WHERE o.oid OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.oid[]) \
             UNION ALL SELECT 't', t.oid::pg_catalog.text, pg_catalog.concat(t.xmin, ':', (SELECT ",
            sum!("d.objid", "d.xmin", "d.classid"),
            " FROM pg_catalog.pg_depend d WHERE d.refclassid OPERATOR(pg_catalog.=) 1247::pg_catalog.oid \
             AND d.refobjid OPERATOR(pg_catalog.=) t.oid \
             AND d.classid OPERATOR(pg_catalog.=) ANY ('{2605,2606}'::pg_catalog.oid[])), ':', (SELECT ",
            sum!("a.attnum", "a.xmin", "0"),
            " FROM pg_catalog.pg_attribute a WHERE a.attrelid OPERATOR(pg_catalog.=) t.typrelid \
             AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2)) \
             FROM pg_catalog.pg_type t WHERE t.oid OPERATOR(pg_catalog.=) ANY ($4::pg_catalog.oid[])",
            named!("F", "$5", "pg_proc", "proname"),
            named!("O", "$6", "pg_operator", "oprname"),
            named!("T", "$7", "pg_type", "typname"),
            " UNION ALL SELECT 'c', '', pg_catalog.concat(",
            sum!("k.oid", "k.xmin", "0"),
            ") FROM pg_catalog.pg_cast k WHERE k.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid \
             HAVING $8::pg_catalog.bool"
        )
    };
}

/// The server's start, and which domains with checks and which ranges there are. What PostgreSQL brings has lower OIDs.
macro_rules! parsing {
    () => {
        concat!(
            "pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), '/', (SELECT ",
            sum!("k.oid", "k.xmin", "0"),
            " FROM pg_catalog.pg_constraint k WHERE k.contypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid), '/', (SELECT ",
            sum!("g.rngtypid", "g.xmin", "0"),
            " FROM pg_catalog.pg_range g WHERE g.rngtypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid))"
        )
    };
}

/// An error, 22012, unless something holds.
macro_rules! unless {
    ($holds:expr) => {
        concat!("1 OPERATOR(pg_catalog./) (", $holds, ")::pg_catalog.int4")
    };
}

/// The server's start, and which transactions a query sees.
macro_rules! moment {
    () => {
        "pg_catalog.concat(pg_catalog.pg_postmaster_start_time(), '/', pg_catalog.pg_current_snapshot())"
    };
}

/// The moment, for a flight that holds if all of the versions are there: a list, and how many it has. Each is there once.
macro_rules! gate {
    ($versions:expr, $expected:literal, $count:literal) => {
        concat!(
            "SELECT ",
            moment!(),
            ", ",
            unless!(concat!(
                "(SELECT pg_catalog.count(*) FROM (",
                $versions,
                ") v WHERE pg_catalog.concat(v.kind, v.key, '=', v.version) OPERATOR(pg_catalog.=) ANY (",
                $expected,
                "::pg_catalog.text[])) OPERATOR(pg_catalog.=) ",
                $count,
                "::pg_catalog.int8"
            ))
        )
    };
}

/// The log's level as it was, and the moment.
macro_rules! print_trees {
    ($holds:expr, $quietly:literal) => {
        concat!(
            "SELECT pg_catalog.current_setting('log_min_messages'), ",
            moment!(),
            ", ",
            unless!(concat!($holds, " OPERATOR(pg_catalog.=) $1::pg_catalog.text")),
            ", pg_catalog.set_config('debug_pretty_print', 'off', true)",
            $quietly,
            ", pg_catalog.set_config('client_min_messages', 'log', true), \
             pg_catalog.set_config('debug_print_parse', 'on', true)"
        )
    };
}

/// The versions of everything that is asked for.
pub(crate) const VERSIONS: &str = concat!(relations!(), others!());
/// Stops unless these relations, none of them a partition, are in these versions.
pub(crate) const GATE: &str = gate!(relations!(""), "$2", "$3");
/// Stops unless these relations are in these versions.
pub(crate) const GATE_PARTITIONS: &str = gate!(relations!(), "$2", "$3");
/// Stops unless everything is in these versions.
pub(crate) const GATE_ALL: &str = gate!(concat!(relations!(), others!()), "$9", "$10");
/// Stops unless it is still this moment.
pub(crate) const GATE_MOMENT: &str =
    concat!("SELECT ", unless!(concat!(moment!(), " OPERATOR(pg_catalog.=) $1::pg_catalog.text")));

/// The version of what PostgreSQL may run while it parses, and the types that it is about.
pub(crate) const PARSING: &str = concat!(
    "SELECT ",
    parsing!(),
    ", pg_catalog.to_json(ARRAY(SELECT k.contypid::pg_catalog.int8 FROM pg_catalog.pg_constraint k \
     WHERE k.contypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid \
     UNION SELECT g.rngtypid::pg_catalog.int8 FROM pg_catalog.pg_range g \
     WHERE g.rngtypid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid))::pg_catalog.text"
);

/// Has trees printed to the client and not to the server's log. A login for which the log is already that quiet need not be
/// able to change it.
macro_rules! print_quietly {
    ($holds:expr) => {
        print_trees!(
            $holds,
            ", CASE WHEN pg_catalog.current_setting('log_min_messages') OPERATOR(pg_catalog.<>) ALL (ARRAY['fatal', 'panic']) \
             THEN pg_catalog.set_config('log_min_messages', 'fatal', true) END"
        )
    };
}

/// Has trees printed quietly, unless something could run while a statement is parsed that was not judged (`$1` is its version).
pub(crate) const PRINT_QUIETLY: &str = print_quietly!(parsing!());
/// The same, leaving the server's log as it is.
pub(crate) const PRINT_LOUDLY: &str = print_trees!(parsing!(), "");
/// Has trees printed quietly, unless the moment is another one.
pub(crate) const PRINT_QUIETLY_STILL: &str = print_quietly!(moment!());
/// The same, leaving the server's log as it is.
pub(crate) const PRINT_LOUDLY_STILL: &str = print_trees!(moment!(), "");
/// Only looks whether something could run while a statement is parsed.
pub(crate) const LOOK: &str =
    concat!("SELECT ", unless!(concat!(parsing!(), " OPERATOR(pg_catalog.=) $1::pg_catalog.text")));

/// Has no more trees printed, and the log as it was (`$1`; null where it was left alone).
pub(crate) const RESTORE: &str = "SELECT pg_catalog.set_config('debug_print_parse', 'off', true), \
     pg_catalog.set_config('client_min_messages', 'notice', true), \
     CASE WHEN $1::pg_catalog.text IS NOT NULL THEN pg_catalog.set_config('log_min_messages', $1, true) END";
