//! Extensions whose functions run by default, and what of them does not.

use crate::facts::{FunctionFact, Volatility};

/// Extensions that compute on their arguments: types, operators, search, hashing, geometry. A VOLATILE function of theirs does
/// not run unless it is listed.
const COMPUTING: &[(&str, &[&str])] = &[
    ("btree_gin", &[]),
    ("btree_gist", &[]),
    ("citext", &[]),
    ("cube", &[]),
    ("dict_int", &[]),
    ("dict_xsyn", &[]),
    ("earthdistance", &[]),
    ("fuzzystrmatch", &[]),
    ("hstore", &[]),
    ("intarray", &[]),
    ("isn", &[]),
    ("ltree", &[]),
    ("pg_trgm", &[]),
    ("pgcrypto", PGCRYPTO),
    ("pg_stat_statements", &["pg_stat_statements", "pg_stat_statements_info"]),
    ("postgis", &[]),
    ("postgis_raster", &[]),
    ("postgis_sfcgal", &[]),
    ("seg", &[]),
    ("tablefunc", &["normal_rand"]),
    ("tsm_system_rows", &["system_rows"]),
    ("tsm_system_time", &["system_time"]),
    ("unaccent", &[]),
    ("uuid-ossp", &["uuid_generate_v1", "uuid_generate_v1mc", "uuid_generate_v4"]),
    ("vector", &[]),
];

/// Its VOLATILE functions that only draw random bytes.
const PGCRYPTO: &[&str] = &["gen_random_bytes", "gen_random_uuid", "gen_salt"];

/// Functions of those extensions that read a relation named by a value, run a text as SQL, or tell of what is not selected,
/// though they are not VOLATILE.
const REFUSED: &[&str] = &[
    "_postgis_join_selectivity",
    "_postgis_selectivity",
    "_postgis_stats",
    "connectby",
    "crosstab",
    "crosstab2",
    "crosstab3",
    "crosstab4",
    "crosstabn",
    "find_srid",
    "st_estimatedextent",
    "st_find_extent",
    "st_findextent",
];

/// Whether the extension is one of those that compute.
pub(crate) fn is_listed(extension: &str) -> bool {
    COMPUTING.iter().any(|(name, _)| *name == extension)
}

/// Whether a function of an extension runs.
pub(crate) fn runs(extension: &str, fact: &FunctionFact) -> bool {
    let Some((_, listed)) = COMPUTING.iter().find(|(name, _)| *name == extension) else { return false };
    let name = fact.name.name.as_str();
    let harmless = fact.volatility != Volatility::Volatile || listed.contains(&name);
    harmless && !fact.security_definer && !REFUSED.contains(&name)
}
