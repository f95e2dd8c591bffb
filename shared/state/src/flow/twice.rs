//! Keys that stand twice in one object. Readers of JSON take the last one without a word, so that a document could show
//! one selection to whoever reviews it and carry another.

use std::collections::HashSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::Problem;

/// Every such key of a text that is JSON.
pub(super) fn find(text: &str, problems: &mut Vec<Problem>) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_str(text);
    Walk { path: String::new(), problems }.deserialize(&mut json)?;
    json.end()
}

/// A walk over one value.
struct Walk<'a> {
    path: String,
    problems: &'a mut Vec<Problem>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        loop {
            let entry = Walk { path: format!("{}[{index}]", self.path), problems: &mut *self.problems };
            if list.next_element_seed(entry)?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = object.next_key::<String>()? {
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if !seen.insert(key) {
                let message = "stands twice; keep one".to_owned();
                self.problems.push(Problem { path: path.clone(), message });
            }
            object.next_value_seed(Walk { path, problems: &mut *self.problems })?;
        }
        Ok(())
    }
}
