//! What must be known of a result column's type before its text becomes JSON: its name and its form.
//!
//! Built-in types are known by a compiled-in table ([`unknown`] leaves them out); everything else is asked of the
//! server with [`FACTS_SQL`], whose rows [`parse_facts`] turns into a [`TypeBook`].

mod builtin;
mod facts;
mod modifier;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use facts::{FACTS_SQL, TypeBook, facts_parameters, parse_facts};

/// A column's type: how PostgreSQL names it and by which rule its text becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeFact {
    /// The type's OID.
    pub oid: u32,
    /// The type's modifier, -1 where there is none.
    pub modifier: i32,
    /// The name that `format_type(oid, modifier)` prints; `oid 12345` for a type nobody knows.
    pub name: Cow<'static, str>,
    /// How the text is to be read. A domain has the form of its base type.
    pub form: Form,
}

/// What PostgreSQL's text output of a type looks like, as far as JSON cares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// `t` or `f`.
    Bool,
    /// A whole number in decimal digits: int2, int4, int8, oid, xid, cid, xid8.
    Integer,
    /// A float4 or float8: digits, or `NaN`, `Infinity`, `-Infinity`.
    Float,
    /// A json or jsonb document.
    Json,
    /// A bytea in hex: `\x` and two digits a byte.
    Bytea,
    /// The output of `array_out`.
    Array {
        /// The form of every element.
        element: Box<Self>,
        /// The element type's `typdelim`: `,`, and `;` for box.
        delimiter: u8,
    },
    /// Anything else: the text is the value.
    Text,
}

impl TypeFact {
    /// The fact of a type that the server has dropped in the meantime, or never named.
    fn nameless(oid: u32, modifier: i32) -> Self {
        Self { oid, modifier, name: Cow::Owned(format!("oid {oid}")), form: Form::Text }
    }
}

/// The types, given as (OID, modifier), of which the server must be asked; each once, in order of appearance.
pub fn unknown(columns: impl IntoIterator<Item = (u32, i32)>) -> Vec<(u32, i32)> {
    let mut asked = Vec::new();
    for column in columns {
        if known(column.0, column.1).is_none() && !asked.contains(&column) {
            asked.push(column);
        }
    }
    asked
}

/// The fact of a built-in type, if the name of this modifier can be worked out here.
fn known(oid: u32, modifier: i32) -> Option<TypeFact> {
    let entry = builtin::find(oid)?;
    let name = if modifier < 0 {
        Cow::Borrowed(entry.name)
    } else if entry.element == 0 {
        Cow::Owned(modifier::name(oid, modifier)?)
    } else {
        Cow::Owned(modifier::name(entry.element, modifier)? + "[]")
    };
    Some(TypeFact { oid, modifier, name, form: builtin_form(oid) })
}

/// The form of a type that is no domain and no array of a user's type; unknown ones are text.
fn builtin_form(oid: u32) -> Form {
    match oid {
        16 => Form::Bool,
        17 => Form::Bytea,
        // int8, int2, int4, oid, xid, cid, xid8
        20 | 21 | 23 | 26 | 28 | 29 | 5069 => Form::Integer,
        114 | 3802 => Form::Json,
        700 | 701 => Form::Float,
        _ => match builtin::find(oid) {
            Some(entry) if entry.element != 0 => {
                Form::Array { element: Box::new(builtin_form(entry.element)), delimiter: entry.delimiter }
            }
            _ => Form::Text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, TypeBook, TypeFact, unknown};

    fn fact(oid: u32, modifier: i32) -> TypeFact {
        TypeBook::default().resolve(oid, modifier)
    }

    #[track_caller]
    fn check(oid: u32, modifier: i32, name: &str) {
        assert_eq!(fact(oid, modifier).name, name);
        assert!(unknown([(oid, modifier)]).is_empty());
    }

    #[test]
    fn built_in_types_have_the_servers_names() {
        check(16, -1, "boolean");
        check(18, -1, "\"char\"");
        check(23, -1, "integer");
        check(1007, -1, "integer[]");
        check(1042, -1, "bpchar");
        check(1043, -1, "character varying");
        check(1560, -1, "\"bit\"");
        check(1184, -1, "timestamp with time zone");
        check(2249, -1, "record");
        check(4535, -1, "datemultirange");
    }

    #[test]
    fn modifiers_are_part_of_the_name() {
        check(1043, 14, "character varying(10)");
        check(1015, 14, "character varying(10)[]");
        check(1042, 5, "character(1)");
        check(1700, 655_366, "numeric(10,2)");
        check(1231, 655_366, "numeric(10,2)[]");
        check(1700, 131_074 + 4 + 2_045, "numeric(2,-1)");
        check(1083, 0, "time(0) without time zone");
        check(1266, 6, "time(6) with time zone");
        check(1114, 3, "timestamp(3) without time zone");
        check(1185, 3, "timestamp(3) with time zone[]");
        check(1560, 8, "bit(8)");
        check(1562, 9, "bit varying(9)");
    }

    #[test]
    fn an_interval_names_its_fields_and_precision() {
        check(1186, 0x7fff_0003, "interval(3)");
        check(1186, 0x7fff_ffff, "interval");
        check(1186, 0x0006_ffff, "interval year to month");
        check(1186, 0x1c08_0002, "interval day to second(2)");
        check(1187, 0x1000_ffff, "interval second[]");
    }

    #[test]
    fn forms_follow_the_output_function() {
        assert_eq!(fact(20, -1).form, Form::Integer);
        assert_eq!(fact(5069, -1).form, Form::Integer);
        assert_eq!(fact(1700, -1).form, Form::Text);
        // Each of these has an element type and is no array.
        for oid in [19, 22, 30, 600] {
            assert_eq!(fact(oid, -1).form, Form::Text);
        }
        assert_eq!(fact(1020, -1).form, Form::Array { element: Box::new(Form::Text), delimiter: b';' });
        assert_eq!(fact(3807, -1).form, Form::Array { element: Box::new(Form::Json), delimiter: b',' });
    }

    #[test]
    fn only_what_is_not_known_is_asked_and_only_once() {
        let columns = [(23, -1), (16_400, -1), (1043, 9), (16_400, -1), (600, 5), (13_000, -1)];
        assert_eq!(unknown(columns), [(16_400, -1), (600, 5), (13_000, -1)]);
    }

    #[test]
    fn a_type_that_nobody_knows_is_text_with_its_number() {
        assert_eq!(fact(12_345, -1).name, "oid 12345");
        assert_eq!(fact(12_345, -1).form, Form::Text);
    }
}
