//! Builds a page of an answer: whole rows, within a number of bytes, in the format the caller asked for.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cut, keys, table, to_json};
use crate::raw::RawValue;
use crate::types::TypeFact;

/// The narrowest cut by which a first row that does not fit is squeezed.
const NARROWEST_CUT: usize = 16;

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name as the statement gave it; names may repeat.
    pub name: String,
    /// Its type.
    pub fact: TypeFact,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RowFormat {
    /// A list of values a row: equal column names survive.
    #[default]
    Arrays,
    /// An object a row; equal column names are numbered.
    Objects,
    /// One aligned text for all rows.
    Table,
}

/// What a page may hold, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// The bytes of [`Page::rows`] as compact JSON.
    pub max_bytes: usize,
    /// Where a single value is cut.
    pub cut: Cut,
    /// The format of the rows.
    pub format: RowFormat,
}

/// Whether a row found room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Fit {
    /// The row is on the page.
    Taken,
    /// The row is not on the page, for it would have grown past its bytes: the page ends here.
    Full,
}

/// A finished page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// A list of lists, a list of objects, or one text.
    pub rows: Value,
    /// How many rows it holds.
    pub row_count: usize,
    /// How many values show only their beginning.
    pub values_cut: usize,
    /// The bytes of `rows` as compact JSON: within the limit, unless one row of many columns alone is longer.
    pub bytes: usize,
    /// Whether a row was turned away for lack of room.
    pub full: bool,
    /// What a reader of the rows must know.
    pub notes: Vec<String>,
}

/// Takes rows until one does not fit.
#[derive(Debug)]
pub struct PageBuilder<'a> {
    columns: &'a [Column],
    limits: PageLimits,
    /// The columns' keys, used by rows that are objects.
    keys: Vec<String>,
    rows: Vec<Vec<Value>>,
    size: Size,
    values_cut: usize,
    values_repaired: usize,
    full: bool,
}

/// The size of the rows so far, kept up row by row.
#[derive(Debug, Clone)]
enum Size {
    /// A JSON list of rows, each of which costs `frame` bytes besides its values.
    Json {
        rows: usize,
        values: usize,
        frame: usize,
    },
    Table(table::Size),
}

/// A row ready to be added, and the size of the page with it.
struct Prepared {
    row: Vec<Value>,
    size: Size,
    cut: usize,
    repaired: usize,
}

impl<'a> PageBuilder<'a> {
    /// An empty page for rows of these columns.
    pub fn new(columns: &'a [Column], limits: PageLimits) -> Self {
        let keys = keys::unique(columns);
        // Brackets, and a comma between two values.
        let frame = 2 + columns.len().saturating_sub(1);
        let size = match limits.format {
            RowFormat::Arrays => Size::Json { rows: 0, values: 0, frame },
            RowFormat::Objects => {
                let keys: usize = keys.iter().map(|key| json_bytes(key) + ":".len()).sum();
                Size::Json { rows: 0, values: 0, frame: frame + keys }
            }
            RowFormat::Table => Size::Table(table::Size::new(columns)),
        };
        Self { columns, limits, keys, rows: Vec::new(), size, values_cut: 0, values_repaired: 0, full: false }
    }

    /// Adds a row if it fits. The first one always does: its values are cut until it does.
    pub fn push(&mut self, row: &[Option<RawValue>]) -> Fit {
        if self.full {
            return Fit::Full;
        }
        let mut prepared = self.prepare(row, self.limits.cut);
        if prepared.size.bytes() > self.limits.max_bytes {
            if !self.rows.is_empty() {
                self.full = true;
                return Fit::Full;
            }
            prepared = self.squeeze(row);
        }
        self.rows.push(prepared.row);
        self.size = prepared.size;
        self.values_cut += prepared.cut;
        self.values_repaired += prepared.repaired;
        Fit::Taken
    }

    /// The page as it stands.
    pub fn finish(self) -> Page {
        let mut notes = Vec::new();
        if self.values_repaired > 0 {
            notes.push(format!(
                "bytes that are not UTF-8 are shown as `{}`; values that hold such: {}",
                char::REPLACEMENT_CHARACTER,
                self.values_repaired
            ));
        }
        let bytes = self.size.bytes();
        let row_count = self.rows.len();
        let rows = match self.limits.format {
            RowFormat::Arrays => self.rows.into_iter().map(Value::Array).collect(),
            RowFormat::Objects => {
                notes.extend(renamed(self.columns, &self.keys));
                let object = |row| Value::Object(self.keys.iter().cloned().zip(row).collect());
                self.rows.into_iter().map(object).collect()
            }
            RowFormat::Table => Value::String(table::render(self.columns, &self.rows)),
        };
        Page { rows, row_count, values_cut: self.values_cut, bytes, full: self.full, notes }
    }

    fn prepare(&self, raw: &[Option<RawValue>], cut: Cut) -> Prepared {
        let (mut values_cut, mut repaired) = (0, 0);
        let mut raw = raw.iter();
        let convert = |column: &Column| {
            let Some(Some(raw)) = raw.next() else { return Value::Null };
            let converted = to_json(raw, &column.fact.form, cut);
            values_cut += usize::from(converted.cut);
            repaired += usize::from(converted.repaired);
            converted.value
        };
        let row: Vec<Value> = self.columns.iter().map(convert).collect();
        let size = self.size.with(&row);
        Prepared { row, size, cut: values_cut, repaired }
    }

    /// Prepares the row with the widest cut that makes it fit, or else with the narrowest.
    fn squeeze(&self, raw: &[Option<RawValue>]) -> Prepared {
        let (mut fits, mut too_wide) = (NARROWEST_CUT.min(self.limits.cut.0), self.limits.cut.0);
        let mut fitting = self.prepare(raw, Cut(fits));
        while fits + 1 < too_wide {
            let middle = fits.midpoint(too_wide);
            let prepared = self.prepare(raw, Cut(middle));
            if prepared.size.bytes() <= self.limits.max_bytes {
                fits = middle;
                fitting = prepared;
            } else {
                too_wide = middle;
            }
        }
        fitting
    }
}

impl Size {
    fn with(&self, row: &[Value]) -> Self {
        match self {
            Self::Json { rows, values, frame } => {
                let row: usize = row.iter().map(json_bytes).sum();
                Self::Json { rows: rows + 1, values: values + row, frame: *frame }
            }
            Self::Table(size) => Self::Table(size.with(row)),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Json { rows, values, frame } => 2 + values + rows * frame + rows.saturating_sub(1),
            Self::Table(size) => size.bytes(),
        }
    }
}

/// Says that columns have another key than their name, with an example.
fn renamed(columns: &[Column], keys: &[String]) -> Option<String> {
    let mut renamed = columns.iter().zip(keys).filter(|(column, key)| column.name != **key);
    let (column, key) = renamed.next()?;
    Some(format!(
        "columns of one name are numbered to keep every value: the next `{}` is `{}`",
        column.name.escape_debug(),
        key.escape_debug()
    ))
}

/// The length of a value as compact JSON.
pub(super) fn json_bytes(value: &(impl Serialize + ?Sized)) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // A count takes every write, and what is counted here has string keys only: this cannot fail.
    let written = serde_json::to_writer(&mut count, value);
    debug_assert!(written.is_ok());
    count.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Column, Fit, Page, PageBuilder, PageLimits, RowFormat};
    use crate::raw::RawValue;
    use crate::types::TypeBook;
    use crate::values::{Cut, whole};

    const INT4: u32 = 23;
    const TEXT: u32 = 25;
    const JSONB: u32 = 3802;

    fn columns(columns: &[(&str, u32)]) -> Vec<Column> {
        let book = TypeBook::default();
        let column =
            |&(name, oid): &(&str, u32)| Column { name: name.to_owned(), fact: book.resolve(oid, -1) };
        columns.iter().map(column).collect()
    }

    fn row(texts: &[Option<&str>]) -> Vec<Option<RawValue>> {
        texts.iter().map(|text| text.map(|text| whole(text.as_bytes()))).collect()
    }

    fn build(
        columns: &[Column],
        rows: &[Vec<Option<RawValue>>],
        format: RowFormat,
        max_bytes: usize,
    ) -> Page {
        let mut builder = PageBuilder::new(columns, PageLimits { max_bytes, cut: Cut::default(), format });
        for row in rows {
            if builder.push(row) == Fit::Full {
                break;
            }
        }
        builder.finish()
    }

    #[track_caller]
    fn check(columns: &[Column], rows: &[Vec<Option<RawValue>>], format: RowFormat, expected: &Value) {
        let page = build(columns, rows, format, usize::MAX);
        assert_eq!(page.rows, *expected);
        assert_eq!(page.bytes, page.rows.to_string().len());
        assert_eq!((page.row_count, page.full, page.values_cut), (rows.len(), false, 0));
    }

    #[test]
    fn equal_column_names_survive_in_arrays_and_objects() {
        let columns = columns(&[("id", INT4), ("id", INT4), ("doc", JSONB)]);
        let rows = [row(&[Some("1"), Some("2"), Some(r#"{"a": 1}"#)]), row(&[Some("3"), None, Some("null")])];
        check(&columns, &rows, RowFormat::Arrays, &json!([[1, 2, {"a": 1}], [3, null, null]]));
        check(
            &columns,
            &rows,
            RowFormat::Objects,
            &json!([
                {"id": 1, "id_2": 2, "doc": {"a": 1}}, {"id": 3, "id_2": null, "doc": null}
            ]),
        );
        let page = build(&columns, &rows, RowFormat::Objects, usize::MAX);
        assert_eq!(
            page.notes,
            ["columns of one name are numbered to keep every value: the next `id` is `id_2`"]
        );
        assert!(build(&columns, &rows, RowFormat::Arrays, usize::MAX).notes.is_empty());
    }

    #[test]
    fn a_table_is_aligned_and_tells_nulls_apart() {
        let columns = columns(&[("id", INT4), ("what", TEXT), ("note", TEXT)]);
        let rows = [
            row(&[Some("1"), Some("NULL"), Some("a\nb")]),
            row(&[Some("10"), None, Some("")]),
            row(&[None, Some("x"), Some("plain")]),
        ];
        let text = [
            "  id | what   | note",
            "-----+--------+--------",
            "   1 | 'NULL' | E'a\\nb'",
            "  10 | NULL   | ''",
            "NULL | x      | plain",
        ];
        check(&columns, &rows, RowFormat::Table, &json!(text.join("\n")));
        check(&columns, &[], RowFormat::Table, &json!("id | what | note\n---+------+-----"));
    }

    #[test]
    fn rows_without_columns_are_counted() {
        let rows = [row(&[]), row(&[]), row(&[])];
        check(&[], &rows, RowFormat::Arrays, &json!([[], [], []]));
        check(&[], &rows, RowFormat::Objects, &json!([{}, {}, {}]));
        check(&[], &rows, RowFormat::Table, &json!("\n\n\n\n"));
        check(&[], &[], RowFormat::Arrays, &json!([]));
    }

    #[test]
    fn a_page_ends_before_the_row_that_would_not_fit() {
        let columns = columns(&[("a", TEXT)]);
        let rows = [row(&[Some("one")]), row(&[Some("two")]), row(&[Some("three")]), row(&[Some("x")])];
        let page = build(&columns, &rows, RowFormat::Arrays, r#"[["one"],["two"]]"#.len());
        assert_eq!((page.rows, page.row_count, page.full), (json!([["one"], ["two"]]), 2, true));
        let page = build(&columns, &rows, RowFormat::Arrays, r#"[["one"],["two"]]"#.len() - 1);
        assert_eq!((page.rows, page.row_count, page.full), (json!([["one"]]), 1, true));
    }

    #[test]
    fn a_page_that_is_full_takes_no_smaller_row() {
        let columns = columns(&[("a", TEXT)]);
        let limits = PageLimits { max_bytes: 20, cut: Cut::default(), format: RowFormat::Arrays };
        let mut builder = PageBuilder::new(&columns, limits);
        assert_eq!(builder.push(&row(&[Some("one")])), Fit::Taken);
        assert_eq!(builder.push(&row(&[Some("a long one indeed")])), Fit::Full);
        assert_eq!(builder.push(&row(&[Some("x")])), Fit::Full);
    }

    #[test]
    fn a_first_row_that_does_not_fit_is_cut_and_never_dropped() {
        let columns = columns(&[("id", INT4), ("a", TEXT), ("b", TEXT)]);
        let long = "\u{1}".repeat(3_000);
        let rows = [row(&[Some("7"), Some(&long), Some("short")]), row(&[Some("8"), Some("x"), None])];
        for format in [RowFormat::Arrays, RowFormat::Objects, RowFormat::Table] {
            let page = build(&columns, &rows, format, 1_000);
            assert_eq!((page.row_count, page.values_cut, page.full), (1, 1, true), "{format:?}");
            assert!(page.bytes <= 1_000 && page.bytes > 980, "{format:?}: {}", page.bytes);
            assert_eq!(page.bytes, page.rows.to_string().len());
            assert!(page.rows.to_string().contains("of 3000 characters]"));
            assert!(page.rows.to_string().contains("short"));
        }
    }

    #[test]
    fn a_row_of_very_many_columns_is_still_shown() {
        let names: Vec<String> = (0..1_600).map(|number| format!("c{number}")).collect();
        let columns = columns(&names.iter().map(|name| (name.as_str(), TEXT)).collect::<Vec<_>>());
        let cells = vec![Some("some text that is longer than the narrowest cut"); 1_600];
        let page = build(&columns, &[row(&cells)], RowFormat::Arrays, 1_000);
        assert_eq!((page.row_count, page.values_cut, page.bytes), (1, 1_600, page.rows.to_string().len()));
    }

    #[test]
    fn repaired_values_are_counted_in_a_note() {
        let columns = columns(&[("a", TEXT)]);
        let page = build(&columns, &[vec![Some(whole(&[0xff]))]], RowFormat::Arrays, usize::MAX);
        assert_eq!(
            page.notes,
            ["bytes that are not UTF-8 are shown as `\u{fffd}`; values that hold such: 1"]
        );
    }

    proptest! {
        #[test]
        fn bytes_are_those_of_the_printed_rows(
            texts in prop::collection::vec(prop::collection::vec(prop::option::of(any::<String>()), 3), 0..12),
            format in prop_oneof![Just(RowFormat::Arrays), Just(RowFormat::Objects), Just(RowFormat::Table)],
            max_bytes in 60_usize..600,
            last in prop_oneof![Just(TEXT), Just(JSONB), Just(INT4)],
        ) {
            let columns = columns(&[("a", INT4), ("a\n", TEXT), ("\"b\u{202e}", last)]);
            let rows: Vec<_> = texts
                .iter()
                .map(|texts| row(&texts.iter().map(Option::as_deref).collect::<Vec<_>>()))
                .collect();
            let page = build(&columns, &rows, format, max_bytes);
            prop_assert_eq!(page.bytes, page.rows.to_string().len());
            prop_assert!(page.bytes <= max_bytes || page.row_count <= 1);
            prop_assert_eq!(page.full, page.row_count < rows.len());
            prop_assert!(rows.is_empty() || page.row_count > 0);
        }
    }
}
