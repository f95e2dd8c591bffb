//! What one node lets its callers see and use.

use guard::facts::ObjectName;
use guard::{RowLimit, Rules};
use pg::name::RelationName;
use pg::{Claims, CostLimits, SearchPath};

/// A node's limits and selection, as the use cases need them.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The ticked relations; empty means every readable one.
    pub relations: Vec<RelationName>,
    /// Functions that the owner of the node vouches for, schema and name.
    pub allowed_functions: Vec<ObjectName>,
    /// Foreign tables of postgres_fdw that may be read.
    pub allowed_foreign_tables: Vec<ObjectName>,
    /// Schemas that unqualified names are looked up in; none leaves the login's own setting.
    pub search_path: Option<SearchPath>,
    /// What the caller's access token says, as far as the node hands it to its database.
    pub claims: Option<Claims>,
    /// The node's limits, each already under the deployment's.
    pub ceilings: Ceilings,
    /// What the planner may expect of a statement; none does not ask it.
    pub cost: Option<CostLimits>,
}

/// Limits in force; a caller may ask for less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ceilings {
    /// Rows of one answer.
    pub rows: u32,
    /// Rows of a whole result over all its pages; none leaves it to the result.
    pub result_rows: Option<u32>,
    /// Bytes of the JSON of an answer's rows.
    pub bytes: usize,
    /// Seconds of one call.
    pub seconds: u32,
    /// Characters of one value.
    pub value_chars: usize,
}

impl Scope {
    /// The rules under which a statement is judged.
    pub(crate) fn rules(&self, row_limit: RowLimit) -> Rules {
        Rules {
            selection: self.selection(),
            allowed_functions: self.allowed_functions.clone(),
            allowed_foreign_tables: self.allowed_foreign_tables.clone(),
            told_settings: self.claims.as_ref().map(|claims| claims.settings().to_vec()).unwrap_or_default(),
            row_limit,
        }
    }

    /// The selection in the guard's terms.
    fn selection(&self) -> guard::Selection {
        if self.relations.is_empty() {
            return guard::Selection::Everything;
        }
        guard::Selection::Only(self.relations.iter().map(object_name).collect())
    }

    /// The selection as two parallel array literals for a catalog query; none where everything is selected.
    pub(crate) fn selected_arrays(&self) -> (Option<String>, Option<String>) {
        if self.relations.is_empty() {
            return (None, None);
        }
        let (schemas, names): (Vec<&str>, Vec<&str>) =
            self.relations.iter().map(|relation| (relation.schema(), relation.name())).unzip();
        (Some(array_literal(&schemas)), Some(array_literal(&names)))
    }
}

fn object_name(name: &RelationName) -> ObjectName {
    ObjectName { schema: name.schema().to_owned(), name: name.name().to_owned() }
}

/// A `text[]` in PostgreSQL's own notation, every element quoted.
fn array_literal(items: &[&str]) -> String {
    let quoted: Vec<String> =
        items.iter().map(|item| format!("\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\""))).collect();
    format!("{{{}}}", quoted.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_quotes_and_backslashes_stay_one_element() {
        assert_eq!(array_literal(&["a\"b", "c\\d", "e,f", ""]), r#"{"a\"b","c\\d","e,f",""}"#);
    }
}
