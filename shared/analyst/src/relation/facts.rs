//! What the catalog says of one relation, as values.

use pg::Table;

use super::SHOWN_CHARS;
use crate::line::one_line;

/// Everything about one relation that a caller may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) columns: Vec<Column>,
    pub(crate) primary_key: Vec<String>,
    pub(crate) links: Vec<Link>,
    /// The view's statement, where all that it reads may be known.
    pub(crate) definition: Option<String>,
}

/// One column; names are quoted as PostgreSQL needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) type_name: String,
    pub(crate) not_null: bool,
    pub(crate) default: Option<String>,
    /// `always` or `by default`.
    pub(crate) identity: Option<&'static str>,
    /// Computed from other columns: the default is its expression.
    pub(crate) generated: bool,
    pub(crate) comment: Option<String>,
    /// Whether it is a text or an enumeration, of which a few values may tell what to filter by.
    pub(crate) has_labels: bool,
}

/// How the relation stands to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// A foreign key.
    Key { from: String, from_columns: Vec<String>, to: String, to_columns: Vec<String> },
    /// The view reads this relation.
    Reads(String),
    /// This view reads the relation.
    ReadBy(String),
}

impl Facts {
    /// The answers to the five queries of `sql`, in their order.
    pub(super) fn from_tables([columns, key, foreign_keys, views, definition]: [Table; 5]) -> Self {
        let mut links: Vec<Link> = foreign_keys.into_iter().filter_map(foreign_key).collect();
        // A definition names what the view reads; it is shown where all of that may be named.
        let mut all_told = true;
        for row in views {
            let Ok([direction, Some(name), told]) = <[Option<String>; 3]>::try_from(row) else { continue };
            match (direction.as_deref(), told.as_deref()) {
                (Some("reads"), Some("t")) => links.push(Link::Reads(name)),
                (Some("read by"), Some("t")) => links.push(Link::ReadBy(name)),
                (Some("reads"), _) => all_told = false,
                _ => {}
            }
        }
        Self {
            columns: columns.into_iter().filter_map(column).collect(),
            primary_key: key.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect(),
            links,
            definition: definition.into_iter().flatten().next().flatten().filter(|_| all_told),
        }
    }
}

fn column(row: Vec<Option<String>>) -> Option<Column> {
    let [name, type_name, not_null, default, identity, generated, comment, has_labels] =
        <[Option<String>; 8]>::try_from(row).ok()?;
    Some(Column {
        name: name?,
        type_name: type_name?,
        not_null: not_null.as_deref() == Some("t"),
        default: shown(default),
        identity: match identity.as_deref() {
            Some("a") => Some("always"),
            Some("d") => Some("by default"),
            _ => None,
        },
        generated: generated.is_some_and(|kind| !kind.is_empty()),
        comment: shown(comment),
        has_labels: has_labels.as_deref() == Some("t"),
    })
}

fn shown(text: Option<String>) -> Option<String> {
    text.map(|text| one_line(&text, SHOWN_CHARS))
}

fn foreign_key(row: Vec<Option<String>>) -> Option<Link> {
    let [from, from_columns, to, to_columns] = <[Option<String>; 4]>::try_from(row).ok()?;
    let columns = |json: Option<String>| serde_json::from_str(&json?).ok();
    Some(Link::Key {
        from: from?,
        from_columns: columns(from_columns)?,
        to: to?,
        to_columns: columns(to_columns)?,
    })
}
