//! Keys of rows that are objects: the column names, told apart where two are equal.

use std::collections::HashSet;

use super::json::RESERVED;
use super::page::Column;

/// One key a column, no two equal: a name that is taken gets `_2`, `_3` and so on, and no other column's name.
/// A name that serde_json would read back as something else loses its `$`.
pub(super) fn unique(columns: &[Column]) -> Vec<String> {
    let all: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let mut used = HashSet::new();
    columns
        .iter()
        .map(|Column { name, .. }| {
            let base = name.strip_prefix('$').filter(|_| name.starts_with(RESERVED)).unwrap_or(name.as_str());
            let mut key = base.to_owned();
            let mut number = 1_u32;
            while used.contains(&key) || (key != *name && all.contains(key.as_str())) {
                number += 1;
                key = format!("{base}_{number}");
            }
            used.insert(key.clone());
            key
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Column, unique};
    use crate::types::TypeBook;

    #[track_caller]
    fn check(names: &[&str], keys: &[&str]) {
        let column =
            |name: &&str| Column { name: (*name).to_owned(), fact: TypeBook::default().resolve(25, -1) };
        assert_eq!(unique(&names.iter().map(column).collect::<Vec<_>>()), keys);
    }

    #[test]
    fn equal_names_are_numbered() {
        check(&["id", "name", "id", "id"], &["id", "name", "id_2", "id_3"]);
        check(&["?column?", "?column?"], &["?column?", "?column?_2"]);
        check(&[], &[]);
    }

    #[test]
    fn a_number_never_takes_another_columns_name() {
        check(&["id", "id", "id_2"], &["id", "id_3", "id_2"]);
        check(&["id_2", "id", "id", "id_2"], &["id_2", "id", "id_3", "id_2_2"]);
    }

    #[test]
    fn a_reserved_name_loses_its_dollar() {
        check(&["$serde_json::private::Number"], &["serde_json::private::Number"]);
        check(&["$a", "$a"], &["$a", "$a_2"]);
    }
}
