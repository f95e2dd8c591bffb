//! The names that a pin gives: its tool's and its parameters'.

use std::fmt;

/// What every tool name of a pin begins with.
const PREFIX: &str = "pq_";

/// The longest tool name, in characters.
const MAX_TOOL_NAME: usize = 64;

/// The longest parameter name, in characters: as long as PostgreSQL's identifiers.
const MAX_PARAM_NAME: usize = 63;

/// Argument names that mean something else in the other tools, so that a pin which used one could be mistaken for
/// them.
pub(crate) const RESERVED: [&str; 9] =
    ["sql", "statement", "query", "cursor", "page", "max_rows", "max_bytes", "timeout_seconds", "format"];

/// The name of a pin's tool: `pq_` and a slug of `[a-z0-9_]`, at most 64 characters in all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(String);

impl ToolName {
    /// Checks a given name. The error says which rule it breaks.
    pub fn parse(name: &str) -> Result<Self, String> {
        let Some(slug) = name.strip_prefix(PREFIX) else {
            return Err(format!("a pin's tool name begins with `{PREFIX}`"));
        };
        if slug.is_empty() {
            return Err(format!(
                "nothing follows `{PREFIX}`; say what the pin answers, as in `pq_revenue_by_region`"
            ));
        }
        if !slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
            return Err("a tool name holds lower-case letters a to z, digits and underscores only".to_owned());
        }
        if name.len() > MAX_TOOL_NAME {
            return Err(format!("has {} characters; a tool name has at most {MAX_TOOL_NAME}", name.len()));
        }
        Ok(Self(name.to_owned()))
    }

    /// The name that a pin starts with: a slug of its purpose, cut between words where it is too long.
    pub fn suggest(purpose: &str) -> Self {
        let words = purpose.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let slug = words.collect::<Vec<_>>().join("_").to_ascii_lowercase();
        let slug = match slug.get(..MAX_TOOL_NAME - PREFIX.len()) {
            None if slug.is_empty() => "query",
            None => &slug,
            Some(start) => start.rsplit_once('_').map_or(start, |(words, _)| words),
        };
        Self(format!("{PREFIX}{slug}"))
    }

    /// The name as agents see it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a parameter, written `:name` in the statement: ASCII letters, digits and underscores, no digit first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamName(String);

impl ParamName {
    /// Checks a given name. The error says which rule it breaks.
    pub fn parse(name: &str) -> Result<Self, String> {
        if !is_param_name(name) {
            return Err(
                "a parameter name holds letters a to z, digits and underscores, and begins with no digit"
                    .to_owned(),
            );
        }
        if name.len() > MAX_PARAM_NAME {
            return Err(format!(
                "has {} characters; a parameter name has at most {MAX_PARAM_NAME}",
                name.len()
            ));
        }
        if RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name)) {
            return Err(format!("`{name}` is an argument of other tools; choose another name"));
        }
        Ok(Self(name.to_owned()))
    }

    /// The name without its colon.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ParamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a word of a statement can name a parameter.
pub(crate) fn is_param_name(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_suggested_from_the_purpose_and_is_always_valid() {
        let cases = [
            ("Revenue by region", "pq_revenue_by_region"),
            ("  Top products, per month! ", "pq_top_products_per_month"),
            ("Umsätze je Monat", "pq_ums_tze_je_monat"),
            ("売上", "pq_query"),
            ("", "pq_query"),
            ("___", "pq_query"),
        ];
        for (purpose, expected) in cases {
            assert_eq!(ToolName::suggest(purpose).as_str(), expected, "{purpose}");
        }
        for purpose in ["x".repeat(200), "four ".repeat(40), format!("a {}", "y".repeat(80))] {
            let name = ToolName::suggest(&purpose);
            assert_eq!(ToolName::parse(name.as_str()), Ok(name));
        }
    }

    #[test]
    fn a_long_purpose_is_cut_at_a_word() {
        let name = ToolName::suggest(&"four ".repeat(40));
        assert!(name.as_str().ends_with("_four") && name.as_str().len() > 58, "{name}");
    }

    #[test]
    fn a_tool_name_keeps_its_prefix_its_letters_and_its_length() {
        assert!(ToolName::parse("pq_a1_b").is_ok());
        assert!(ToolName::parse(&format!("pq_{}", "a".repeat(61))).is_ok());
        for name in [
            "",
            "pq_",
            "revenue",
            "PQ_a",
            "pq_A",
            "pq_a-b",
            "pq_ä",
            "pq_a b",
            &format!("pq_{}", "a".repeat(62)),
        ] {
            assert!(ToolName::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn reserved_and_odd_parameter_names_are_refused() {
        for name in RESERVED {
            assert!(ParamName::parse(name).is_err(), "{name}");
            assert!(ParamName::parse(&name.to_uppercase()).is_err(), "{name}");
        }
        for name in ["", "1a", "a-b", "ä", "a b", ":a", "\"a\"", &"a".repeat(64)] {
            assert!(ParamName::parse(name).is_err(), "{name}");
        }
        for name in ["month", "_a1", "Month", "date", "pages", &"a".repeat(63)] {
            assert!(ParamName::parse(name).is_ok(), "{name}");
        }
    }
}
