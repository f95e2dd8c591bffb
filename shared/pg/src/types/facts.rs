//! Types that only the server knows: the query that asks, and the book of its answers.

use std::collections::HashMap;

use super::{Form, TypeFact, builtin_form, known};

/// Asks for the facts of types: `$1` is an `oid[]`, `$2` an `int4[]` of their modifiers ([`facts_parameters`]).
///
/// Answers a row for each asked type and each one below it (the base of a domain, the element of an array):
/// oid, modifier, name, typtype, base oid, base modifier, element oid, `t` where it is an array, the element's
/// delimiter. A dropped type has no row. A type is an array if and only if `array_out` (OID 751) prints it:
/// point, name and int2vector have elements, too.
///
/// Every name and operator is qualified, because the query runs under the search path of the caller's statement.
pub const FACTS_SQL: &str = r#"WITH RECURSIVE wanted (oid, modifier) AS (
  SELECT asked.oid, asked.modifier
  FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.oid[]), pg_catalog.unnest($2::pg_catalog.int4[])) AS asked (oid, modifier)
  UNION
  SELECT below.oid, below.modifier
  FROM wanted
  JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) wanted.oid
  CROSS JOIN LATERAL (
    SELECT t.typbasetype, t.typtypmod WHERE t.typtype OPERATOR(pg_catalog.=) 'd'::pg_catalog."char"
    UNION ALL
    SELECT t.typelem, wanted.modifier
    WHERE t.typtype OPERATOR(pg_catalog.<>) 'd'::pg_catalog."char"
      AND t.typoutput OPERATOR(pg_catalog.=) 751::pg_catalog.oid
  ) AS below (oid, modifier)
)
SELECT wanted.oid, wanted.modifier, pg_catalog.format_type(wanted.oid, wanted.modifier), t.typtype,
  t.typbasetype, t.typtypmod, t.typelem, t.typoutput OPERATOR(pg_catalog.=) 751::pg_catalog.oid, element.typdelim
FROM wanted
JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) wanted.oid
LEFT JOIN pg_catalog.pg_type AS element ON element.oid OPERATOR(pg_catalog.=) t.typelem"#;

/// Domains over domains and arrays of domains end somewhere; a book that says otherwise is not followed.
const MAX_DEPTH: usize = 64;

/// The two parameters of [`FACTS_SQL`]: the OIDs and the modifiers as array literals.
pub fn facts_parameters(types: &[(u32, i32)]) -> [String; 2] {
    let list = |items: Vec<String>| format!("{{{}}}", items.join(","));
    [
        list(types.iter().map(|(oid, _)| oid.to_string()).collect()),
        list(types.iter().map(|(_, modifier)| modifier.to_string()).collect()),
    ]
}

/// Reads the rows of [`FACTS_SQL`]. A row that does not read as one is left out: its type is then text.
pub fn parse_facts(rows: Vec<Vec<Option<String>>>) -> TypeBook {
    TypeBook { types: rows.into_iter().filter_map(parse_row).collect() }
}

/// What the server said about the types of one statement, and what is known without it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeBook {
    types: HashMap<(u32, i32), Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    shape: Shape,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    Plain,
    Domain { base: (u32, i32) },
    Array { element: (u32, i32), delimiter: u8 },
}

impl TypeBook {
    /// The fact of a column's type. One that nobody knows is text and named by its OID.
    pub fn resolve(&self, oid: u32, modifier: i32) -> TypeFact {
        if let Some(fact) = known(oid, modifier) {
            return fact;
        }
        match self.types.get(&(oid, modifier)) {
            Some(entry) => {
                let form = self.form((oid, modifier), MAX_DEPTH);
                TypeFact { oid, modifier, name: entry.name.clone().into(), form }
            }
            None => TypeFact::nameless(oid, modifier),
        }
    }

    fn form(&self, key: (u32, i32), depth: usize) -> Form {
        let entry = self.types.get(&key).filter(|_| depth > 0);
        match entry.map(|entry| &entry.shape) {
            Some(Shape::Domain { base }) => self.form(*base, depth - 1),
            Some(Shape::Array { element, delimiter }) => {
                Form::Array { element: Box::new(self.form(*element, depth - 1)), delimiter: *delimiter }
            }
            Some(Shape::Plain) | None => builtin_form(key.0),
        }
    }
}

fn parse_row(row: Vec<Option<String>>) -> Option<((u32, i32), Entry)> {
    let [oid, modifier, name, kind, base, base_modifier, element, is_array, delimiter] =
        <[Option<String>; 9]>::try_from(row).ok()?;
    let key = (oid?.parse().ok()?, modifier?.parse().ok()?);
    let shape = if kind.as_deref() == Some("d") {
        Shape::Domain { base: (base?.parse().ok()?, base_modifier?.parse().ok()?) }
    } else if is_array.as_deref() == Some("t") {
        let delimiter = delimiter.and_then(|text| text.bytes().next()).unwrap_or(b',');
        Shape::Array { element: (element?.parse().ok()?, key.1), delimiter }
    } else {
        Shape::Plain
    };
    Some((key, Entry { name: name?, shape }))
}

#[cfg(test)]
mod tests {
    use super::{TypeBook, facts_parameters, parse_facts};
    use crate::types::Form;

    fn book(rows: &[&str]) -> TypeBook {
        let cell = |cell: &str| (!cell.is_empty()).then(|| cell.to_owned());
        parse_facts(rows.iter().map(|row| row.split('|').map(cell).collect()).collect())
    }

    fn list(element: Form) -> Form {
        Form::Array { element: Box::new(element), delimiter: b',' }
    }

    #[test]
    fn domains_and_arrays_are_followed_down_to_their_bases() {
        let book = book(&[
            "16386|-1|sales.d2[]|b|0|-1|16387|t|,",
            "16387|-1|sales.d2|d|16384|-1|0|t|",
            "16384|-1|sales.d1[]|b|0|-1|16385|t|,",
            "16385|-1|sales.d1|d|23|-1|0|f|",
            "16394|-1|mood|e|0|-1|0|f|",
        ]);
        let fact = book.resolve(16_386, -1);
        assert_eq!((fact.name.as_ref(), fact.form), ("sales.d2[]", list(list(Form::Integer))));
        assert_eq!(book.resolve(16_387, -1).form, list(Form::Integer));
        let fact = book.resolve(16_385, -1);
        assert_eq!((fact.name.as_ref(), fact.form), ("sales.d1", Form::Integer));
        assert_eq!(book.resolve(16_394, -1).form, Form::Text);
    }

    #[test]
    fn types_that_lead_back_to_themselves_end_as_text() {
        let book = book(&["1000001|-1|a|d|1000002|-1|0|f|", "1000002|-1|b|d|1000001|-1|0|f|"]);
        assert_eq!(book.resolve(1_000_001, -1).form, Form::Text);
    }

    #[test]
    fn a_row_that_does_not_read_is_left_out() {
        let book = book(&["16394|-1|mood", "x|-1|mood|e|0|-1|0|f|", "16395|-1||e|0|-1|0|f|"]);
        assert_eq!(book, TypeBook::default());
    }

    #[test]
    fn parameters_are_array_literals() {
        assert_eq!(facts_parameters(&[(16_384, -1), (1043, 9)]), ["{16384,1043}", "{-1,9}"]);
        assert_eq!(facts_parameters(&[]), ["{}", "{}"]);
    }
}
