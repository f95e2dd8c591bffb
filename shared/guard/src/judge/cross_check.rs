//! What PostgreSQL itself says that a statement uses, held against what the judgement saw of it.

use super::Clear;
use crate::facts::Oid;
use crate::rules::{Rules, Selection};
use crate::verdict::{Code, Finding, Refusal};

/// Catalogs, by the OIDs that they have in every installation.
const PG_TYPE: u32 = 1247;
const PG_PROC: u32 = 1255;
const PG_CLASS: u32 = 1259;
const PG_OPERATOR: u32 = 2617;
/// Languages, schemas, collations, text search configurations and dictionaries: data to a statement, never code.
const DATA: &[u32] = &[2612, 2615, 3456, 3600, 3602];

/// Types whose constants name objects that the statement does not use: `regclass` and its kin.
const NAMING: &[&str] = &["24", "2202", "2203", "2204", "2205", "2206", "4089", "4096", "4191"];

impl Clear {
    /// The same, unless PostgreSQL recorded that the statement uses an object that was not judged. `uses` holds catalog and OID
    /// of every object that is not PostgreSQL's own, `tree` is what was judged.
    pub fn cross_checked(self, uses: &[(Oid, Oid)], tree: &str, rules: &Rules) -> Result<Self, Refusal> {
        let names_objects = match rules.selection {
            Selection::Everything => NAMING.iter().any(|oid| tree.contains(&format!(":consttype {oid} "))),
            Selection::Only(_) => false,
        };
        let seen = |(catalog, oid): &(Oid, Oid)| match catalog.0 {
            PG_CLASS => self.relied_on.relations.contains(oid),
            PG_PROC => self.relied_on.functions.contains(oid),
            PG_OPERATOR => self.relied_on.operators.contains(oid),
            PG_TYPE => self.relied_on.types.contains(oid),
            other => DATA.contains(&other),
        };
        match uses.iter().find(|used| !seen(used)) {
            Some((catalog, oid)) if !names_objects => {
                let message = format!(
                    "PostgreSQL says that the statement uses object {} of catalog {}, which was not found in it",
                    oid.0, catalog.0
                );
                Err(Refusal::one(Finding::new(Code::UnknownNode, message, "write it in another way")))
            }
            Some(_) | None => Ok(self),
        }
    }
}
