//! Keys of rows that are objects: the column names, told apart where two are equal.

use std::collections::HashSet;

use super::json::RESERVED;

/// One key a column, no two equal: a name that is taken gets `_2`, `_3` and so on, and no other column's name.
pub(super) fn unique<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let all: HashSet<&str> = names.clone().collect();
    let mut used = HashSet::new();
    names
        .map(|name| {
            // A reserved name would read back as something else, so it counts as taken.
            let mut key = name.to_owned();
            let mut number = 1_u32;
            while used.contains(&key) || key.starts_with(RESERVED) || (number > 1 && all.contains(key.as_str())) {
                number += 1;
                key = format!("{}_{number}", name.trim_start_matches('$'));
            }
            used.insert(key.clone());
            key
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::unique;

    #[track_caller]
    fn check(names: &[&str], keys: &[&str]) {
        assert_eq!(unique(names.iter().copied()), keys);
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
    fn a_reserved_name_is_changed() {
        check(&["$serde_json::private::Number"], &["serde_json::private::Number_2"]);
    }
}
