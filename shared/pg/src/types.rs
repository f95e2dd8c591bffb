//! What must be known of a result column's type before its text becomes JSON: its name and its form.
//!
//! Built-in types are known by a compiled-in table ([`unknown`] leaves them out); everything else is asked of the
//! server with [`FACTS_SQL`], whose rows [`parse_facts`] turns into a [`TypeBook`].

mod builtin;
mod facts;
mod modifier;

use std::borrow::Cow;

pub use facts::{FACTS_SQL, TypeBook, facts_parameters, parse_facts};

/// The modifier of a type that has none.
pub const NO_MODIFIER: i32 = -1;

/// A column's type: how PostgreSQL names it and by which rule its text becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeFact {
    /// The type's OID.
    pub oid: u32,
    /// The type's modifier, [`NO_MODIFIER`] where there is none.
    pub modifier: i32,
    /// The name that `format_type(oid, modifier)` prints; `oid 12345` for a type nobody knows.
    pub name: Cow<'static, str>,
    /// How the text is to be read. A domain has the form of its base type.
    pub form: Form,
}

/// What PostgreSQL's text output of a type looks like, as far as JSON cares.
#[derive(Debug, Clone, PartialEq, Eq)]
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
