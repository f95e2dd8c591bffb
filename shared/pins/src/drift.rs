//! Columns that are not those of the test any more. A call is not blocked by it; its answer warns.

use serde_json::{Value as Json, json};

use crate::stamp::{Column, Test};

/// How the columns of a result differ from those of the pin's test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    tested: Vec<Column>,
    returned: Vec<Column>,
}

impl Test {
    /// The difference in names, order or types; none where there is none.
    pub fn drift(&self, returned: &[Column]) -> Option<Drift> {
        (self.columns != returned)
            .then(|| Drift { tested: self.columns.clone(), returned: returned.to_vec() })
    }
}

impl Drift {
    /// What an answer holds as `columnsChanged`.
    pub fn to_json(&self) -> Json {
        let columns = |columns: &[Column]| columns.iter().map(Column::to_json).collect::<Vec<_>>();
        json!({"tested": columns(&self.tested), "returned": columns(&self.returned)})
    }

    /// What an answer holds as `warning`.
    pub fn warning(&self) -> &'static str {
        let names = |columns: &[Column]| columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
        let (mut tested, mut returned) = (names(&self.tested), names(&self.returned));
        if tested == returned {
            return "column types differ from those of the pin's test; the pin needs a re-test";
        }
        tested.sort_unstable();
        returned.sort_unstable();
        if tested == returned {
            return "the columns stand in another order than in the pin's test; the pin needs a re-test";
        }
        "the column names differ from those of the pin's test; the pin needs a re-test"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(columns: &[(&str, &str)]) -> Vec<Column> {
        columns.iter().map(|(name, ty)| Column { name: (*name).to_owned(), ty: (*ty).to_owned() }).collect()
    }

    #[test]
    fn names_order_and_types_are_compared() {
        let test =
            |tested: &[(&str, &str)]| Test { columns: columns(tested), by: String::new(), at: String::new() };
        let tested = test(&[("a", "text"), ("b", "bigint")]);
        let warning =
            |returned: &[(&str, &str)]| tested.drift(&columns(returned)).map(|drift| drift.warning());
        assert_eq!(warning(&[("a", "text"), ("b", "bigint")]), None);
        assert!(warning(&[("a", "text"), ("b", "integer")]).unwrap().contains("types"));
        assert!(warning(&[("b", "bigint"), ("a", "text")]).unwrap().contains("order"));
        assert!(warning(&[("a", "text")]).unwrap().contains("names"));
        assert!(warning(&[("a", "text"), ("c", "bigint")]).unwrap().contains("names"));
        assert!(warning(&[("a", "text"), ("b", "bigint"), ("b", "bigint")]).unwrap().contains("names"));
    }
}
