//! A search path as names, and as the server wants it written.

use thiserror::Error;

/// Schemas in the order in which unqualified names are looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPath(Vec<String>);

/// Why names are no search path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SearchPathError {
    /// An empty name.
    #[error("a search path holds schema names, and none of them is empty")]
    EmptyName,
    /// A NUL character.
    #[error("a schema name holds no NUL character")]
    Nul,
}

impl SearchPath {
    /// Takes schema names as they are, neither quoted nor folded. No names at all is a path, too.
    pub fn new(names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, SearchPathError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        for name in &names {
            if name.is_empty() {
                return Err(SearchPathError::EmptyName);
            }
            if name.contains('\0') {
                return Err(SearchPathError::Nul);
            }
        }
        Ok(Self(names))
    }

    /// The names.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The value of the setting `search_path`.
    pub(crate) fn setting(&self) -> String {
        let quoted: Vec<_> = self.0.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
        quoted.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_quoted() {
        let path = SearchPath::new(["public", "Sales 2026", "a\"b,c", "$user"]).unwrap();
        assert_eq!(path.setting(), r#""public", "Sales 2026", "a""b,c", "$user""#);
        assert_eq!(SearchPath::new(Vec::<String>::new()).unwrap().setting(), "");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        assert_eq!(SearchPath::new(["a", ""]), Err(SearchPathError::EmptyName));
        assert_eq!(SearchPath::new(["a\0"]), Err(SearchPathError::Nul));
    }
}
