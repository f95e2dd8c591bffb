//! Rows for people: columns side by side, under their names.

use std::fmt::Write as _;

/// A table of texts. Without rows it is one line that says so.
pub(super) fn table<const N: usize>(names: [&str; N], rows: &[[String; N]], none: &str) -> String {
    if rows.is_empty() {
        return format!("{none}\n");
    }
    let names = names.map(str::to_owned);
    let mut widths = [0; N];
    for row in rows.iter().chain([&names]) {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    let mut table = String::new();
    for row in [&names].into_iter().chain(rows) {
        let mut line = String::new();
        for (text, width) in row.iter().zip(widths) {
            // Writing to a String cannot fail.
            let _ = write!(line, "{text:width$}  ");
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_are_as_wide_as_their_widest() {
        let rows = [["a".to_owned(), "größer".to_owned()], ["bbb".to_owned(), String::new()]];
        assert_eq!(table(["id", "name"], &rows, "none"), "id   name\na    größer\nbbb\n");
        assert_eq!(table(["id", "name"], &[], "no keys"), "no keys\n");
    }
}
