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
    ("postgis", &["st_clusterkmeans", "st_generatepoints", "st_symmetricdifference"]),
    ("postgis_raster", &["st_rotation", "st_setbandnodatavalue", "st_setvalue"]),
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
const PGCRYPTO: &[&str] = &[
    "gen_random_bytes",
    "gen_random_uuid",
    "gen_salt",
    "pgp_pub_encrypt",
    "pgp_pub_encrypt_bytea",
    "pgp_sym_encrypt",
    "pgp_sym_encrypt_bytea",
];

/// Functions of those extensions that read a relation or file named by a value, run a text as SQL or a function by its OID,
/// change the session, or tell of what is not selected, though they are not VOLATILE.
const REFUSED: &[&str] = &[
    "_postgis_join_selectivity",
    "_postgis_selectivity",
    "_postgis_stats",
    "_st_mapalgebra",
    "connectby",
    "crosstab",
    "crosstab2",
    "crosstab3",
    "crosstab4",
    "crosstabn",
    "find_srid",
    "isn_weak",
    "st_addband",
    "st_bandfilesize",
    "st_bandfiletimestamp",
    "st_estimatedextent",
    "st_find_extent",
    "st_findextent",
    "st_fromgdalraster",
    "st_mapalgebra",
    "st_mapalgebraexpr",
    "st_mapalgebrafct",
    "st_mapalgebrafctngb",
    "st_retile",
    "st_setbandindex",
    "st_setbandpath",
];

/// Functions of those extensions that tell of relations by their names, or of other statements: not for those who may see only
/// what is selected.
const TELLING: &[&str] = &[
    "_postgis_index_extent",
    "pg_stat_statements",
    "postgis_constraint_dims",
    "postgis_constraint_srid",
    "postgis_constraint_type",
];

/// Prefixes of more such names.
const TELLING_PREFIXES: &[&str] = &["_add_raster_constraint", "_raster_constraint"];

/// What those who ask may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    Everything,
    Selected,
}

/// Whether the extension is one of those that compute.
pub(crate) fn is_listed(extension: &str) -> bool {
    COMPUTING.iter().any(|(name, _)| *name == extension)
}

/// Whether a function of an extension runs.
pub(crate) fn runs(extension: &str, fact: &FunctionFact, sight: Sight) -> bool {
    let Some((_, listed)) = COMPUTING.iter().find(|(name, _)| *name == extension) else { return false };
    let name = fact.name.name.as_str();
    let harmless = fact.volatility != Volatility::Volatile || listed.contains(&name);
    let tells = TELLING.contains(&name) || TELLING_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let seen = sight == Sight::Everything || !tells;
    harmless && seen && !fact.security_definer && !is_refused(fact)
}

/// Whether a function of a listed extension runs for nobody.
pub(crate) fn is_refused(fact: &FunctionFact) -> bool {
    REFUSED.contains(&fact.name.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ObjectName;

    fn sees(extension: &str, name: &str, volatility: Volatility) -> (bool, bool) {
        let fact = FunctionFact {
            name: ObjectName { schema: "public".to_owned(), name: name.to_owned() },
            extension: Some(extension.to_owned()),
            volatility,
            security_definer: false,
            has_settings: false,
            superuser_owned: true,
            language: "c".to_owned(),
            source: String::new(),
            sql_body: None,
            defaults: None,
            argument_names: Vec::new(),
            types: Vec::new(),
            aggregate: None,
        };
        (runs(extension, &fact, Sight::Everything), runs(extension, &fact, Sight::Selected))
    }

    #[test]
    fn functions_that_compute_run_and_others_do_not() {
        assert_eq!(sees("hstore", "akeys", Volatility::Immutable), (true, true));
        assert_eq!(sees("pg_trgm", "set_limit", Volatility::Volatile), (false, false));
        assert_eq!(sees("pgcrypto", "gen_random_uuid", Volatility::Volatile), (true, true));
        assert_eq!(sees("dblink", "dblink", Volatility::Stable), (false, false));
        assert_eq!(sees("isn", "isn_weak", Volatility::Immutable), (false, false));
        assert_eq!(sees("postgis_raster", "st_mapalgebra", Volatility::Immutable), (false, false));
    }

    #[test]
    fn what_tells_of_relations_or_statements_does_not_run_with_a_selection() {
        assert_eq!(sees("pg_stat_statements", "pg_stat_statements", Volatility::Volatile), (true, false));
        assert_eq!(sees("postgis", "postgis_constraint_srid", Volatility::Stable), (true, false));
        assert_eq!(sees("postgis_raster", "_raster_constraint_info_srid", Volatility::Stable), (true, false));
    }
}
