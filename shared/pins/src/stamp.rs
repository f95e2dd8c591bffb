//! The stamp: proof that a pin was tested as it stands.

use std::collections::BTreeSet;
use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value as Json, json};
use sha2::Sha256;

use crate::canonical::Canonical;
use crate::fields::{self, Fields};
use crate::pin::Pin;
use crate::problem::Problem;
use crate::{compile, hash};

/// The shortest key, in bytes: as long as the digest (RFC 2104, section 3).
const MIN_KEY_BYTES: usize = 32;

const KEYS: [&str; 4] = ["hmac", "testedColumns", "testedBy", "testedAt"];
const COLUMN_KEYS: [&str; 2] = ["name", "type"];

/// The secret that stamps are made with. Another key, and every pin has to be tested again.
#[derive(Clone)]
pub struct StampKey(Hmac<Sha256>);

/// Where a pin was tested: everything but the pin that its stamp covers. The flow is not in it, so that a copy of a
/// flow in the same workspace keeps its stamps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The workspace's id.
    pub workspace: String,
    /// What the node connects with.
    pub credential: ScopeCredential,
    /// The ticked tables and views, each in the one way in which the workspace writes it.
    pub selection: BTreeSet<String>,
    /// The node's allowed functions.
    pub allowed_functions: BTreeSet<String>,
    /// The node's allowed foreign tables.
    pub allowed_foreign_tables: BTreeSet<String>,
    /// The node's search path, in its order.
    pub search_path: Vec<String>,
}

/// What a node connects with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeCredential {
    /// The deployment's default credential.
    Default,
    /// A credential of the workspace and the secret behind it.
    Named {
        /// The credential's id.
        id: String,
        /// The id of the secret that holds its URL.
        secret: String,
    },
}

/// A column that a test returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name, as the server gave it.
    pub name: String,
    /// The type, as `format_type` names it.
    pub ty: String,
}

/// A passing test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// The columns that it returned.
    pub columns: Vec<Column>,
    /// Who ran it. Tested is not approved.
    pub by: String,
    /// When it ran, RFC 3339.
    pub at: String,
}

/// What a passing test left with its pin. As read from a document it is a claim; [`Pin::verify`] finds out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    hmac: [u8; 32],
    test: Test,
}

/// What became of a pin's stamp. Only a verified pin is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StampState {
    /// The pin stands as it was tested.
    Verified,
    /// It was never tested.
    Missing,
    /// The pin, its node, its workspace or the key is another than when it was tested.
    Mismatch,
}

impl StampKey {
    /// Takes a key of at least 32 bytes. The error says so.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < MIN_KEY_BYTES {
            return Err(format!(
                "the stamp key has {} bytes; at least {MIN_KEY_BYTES} random ones are needed",
                bytes.len()
            ));
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }
}

impl fmt::Debug for StampKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StampKey(…)")
    }
}

impl Pin {
    /// The stamp of a test that this pin just passed, or what is wrong with the pin.
    pub fn stamp_test(&self, key: &StampKey, scope: &Scope, test: Test) -> Result<Stamp, Vec<Problem>> {
        let mac = mac(key, scope, self.compile()?.statement_hash(), &test.columns);
        Ok(Stamp { hmac: mac.finalize().into_bytes().into(), test })
    }

    /// Whether the pin stands as it was tested. The stamp is compared in constant time.
    pub fn verify(&self, key: &StampKey, scope: &Scope) -> StampState {
        let Some(stamp) = self.stamp() else { return StampState::Missing };
        let Some(hash) = compile::statement_hash(self) else { return StampState::Mismatch };
        match mac(key, scope, &hash, &stamp.test.columns).verify_slice(&stamp.hmac) {
            Ok(()) => StampState::Verified,
            Err(_) => StampState::Mismatch,
        }
    }
}

impl Stamp {
    pub(crate) fn read(json: &Json, path: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut stamp = Fields::open(json, path, &KEYS, problems)?;
        let hmac = stamp.required("hmac", read_hmac);
        let columns = stamp.required("testedColumns", fields::array)?;
        let tested_by = stamp.required("testedBy", |json| fields::text(json).map(str::to_owned));
        let tested_at = stamp.required("testedAt", |json| fields::text(json).map(str::to_owned));
        let mut tested_columns = Vec::with_capacity(columns.len());
        for (index, json) in columns.iter().enumerate() {
            let path = format!("{path}.testedColumns[{index}]");
            tested_columns.extend(Column::read(json, &path, stamp.problems()));
        }
        Some(Self { hmac: hmac?, test: Test { columns: tested_columns, by: tested_by?, at: tested_at? } })
    }

    /// The stamp as the document of a flow holds it.
    pub fn to_json(&self) -> Json {
        json!({
            "hmac": self.hmac_hex(),
            "testedColumns": self.test.columns.iter().map(Column::to_json).collect::<Vec<_>>(),
            "testedBy": self.test.by,
            "testedAt": self.test.at,
        })
    }

    /// The HMAC-SHA-256: 64 hexadecimal digits.
    pub fn hmac_hex(&self) -> String {
        hash::hex(&self.hmac)
    }

    /// The test that it stands for.
    pub fn test(&self) -> &Test {
        &self.test
    }
}

impl Column {
    fn read(json: &Json, path: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut column = Fields::open(json, path, &COLUMN_KEYS, problems)?;
        let name = column.required("name", |json| fields::text(json).map(str::to_owned));
        let ty = column.required("type", |json| fields::text(json).map(str::to_owned));
        Some(Self { name: name?, ty: ty? })
    }

    /// `{"name": …, "type": …}`
    pub fn to_json(&self) -> Json {
        json!({"name": self.name, "type": self.ty})
    }
}

/// The bytes that a stamp signs, version 1.
fn canonical_bytes(scope: &Scope, statement_hash: &str, columns: &[Column]) -> Vec<u8> {
    let mut bytes = Canonical::new("pinguard stamp 1");
    bytes.text(&scope.workspace);
    match &scope.credential {
        ScopeCredential::Default => bytes.texts(["default"].into_iter()),
        ScopeCredential::Named { id, secret } => bytes.texts(["named", id, secret].into_iter()),
    }
    // The parameter table is part of what the statement hash is made over.
    bytes.text(statement_hash);
    bytes.texts(scope.selection.iter());
    bytes.texts(scope.allowed_functions.iter());
    bytes.texts(scope.allowed_foreign_tables.iter());
    bytes.texts(scope.search_path.iter());
    bytes.count(columns.len());
    for column in columns {
        bytes.text(&column.name);
        bytes.text(&column.ty);
    }
    bytes.into_bytes()
}

fn mac(key: &StampKey, scope: &Scope, statement_hash: &str, columns: &[Column]) -> Hmac<Sha256> {
    let mut mac = key.0.clone();
    mac.update(&canonical_bytes(scope, statement_hash, columns));
    mac
}

fn read_hmac(json: &Json) -> Result<[u8; 32], String> {
    const SHAPE: &str = "expected 64 hexadecimal digits; test the pin again";
    hash::unhex(fields::text(json)?).ok_or_else(|| SHAPE.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads `5:named` as a text behind its length, `#3` as a count.
    fn bytes(parts: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in parts {
            let (count, text) = match part.strip_prefix('#') {
                Some(count) => (count, ""),
                None => part.split_once(':').unwrap(),
            };
            bytes.extend(count.parse::<u64>().unwrap().to_be_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes
    }

    fn scope(workspace: &str, credential: ScopeCredential, lists: [&[&str]; 4]) -> Scope {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let [selection, functions, foreign_tables, path] = lists.map(owned);
        Scope {
            workspace: workspace.to_owned(),
            credential,
            selection: selection.into_iter().collect(),
            allowed_functions: functions.into_iter().collect(),
            allowed_foreign_tables: foreign_tables.into_iter().collect(),
            search_path: path,
        }
    }

    #[test]
    fn a_stamp_signs_exactly_these_bytes() {
        let named = ScopeCredential::Named { id: "cred-1".to_owned(), secret: "arn:secret".to_owned() };
        let lists: [&[&str]; 4] =
            [&["public.b", "public.a", "public.b"], &["public.f"], &[], &["sales", "public"]];
        let columns = [("x", "numeric(12,2)"), ("é", "text")];
        let columns = columns.map(|(name, ty)| Column { name: name.to_owned(), ty: ty.to_owned() });
        let expected = [
            "16:pinguard stamp 1",
            "4:acme",
            "#3",
            "5:named",
            "6:cred-1",
            "10:arn:secret",
            "4:hash",
            "#2",
            "8:public.a",
            "8:public.b",
            "#1",
            "8:public.f",
            "#0",
            "#2",
            "5:sales",
            "6:public",
            "#2",
            "1:x",
            "13:numeric(12,2)",
            "2:é",
            "4:text",
        ];
        assert_eq!(canonical_bytes(&scope("acme", named, lists), "hash", &columns), bytes(&expected));
        let bare = scope("acme", ScopeCredential::Default, [&[]; 4]);
        let expected =
            ["16:pinguard stamp 1", "4:acme", "#1", "7:default", "4:hash", "#0", "#0", "#0", "#0", "#0"];
        assert_eq!(canonical_bytes(&bare, "hash", &[]), bytes(&expected));
    }

    /// Texts that try to look like the boundaries between texts.
    fn text() -> impl Strategy<Value = String> {
        prop::sample::select(vec![
            "",
            "a",
            "b",
            "ab",
            "default",
            "named",
            "a,b",
            "\0",
            "\0\0\0\0\0\0\0\u{1}a",
        ])
        .prop_map(str::to_owned)
    }

    fn scopes() -> impl Strategy<Value = Scope> {
        let credential = prop::option::of((text(), text())).prop_map(|named| match named {
            Some((id, secret)) => ScopeCredential::Named { id, secret },
            None => ScopeCredential::Default,
        });
        let list = || prop::collection::vec(text(), 0..3);
        let set = move || list().prop_map(|texts| texts.into_iter().collect::<BTreeSet<_>>());
        (text(), credential, set(), set(), set(), list()).prop_map(
            |(workspace, credential, selection, allowed_functions, allowed_foreign_tables, search_path)| {
                Scope {
                    workspace,
                    credential,
                    selection,
                    allowed_functions,
                    allowed_foreign_tables,
                    search_path,
                }
            },
        )
    }

    fn columns() -> impl Strategy<Value = Vec<Column>> {
        prop::collection::vec((text(), text()).prop_map(|(name, ty)| Column { name, ty }), 0..3)
    }

    proptest! {
        #[test]
        fn different_things_never_have_the_same_bytes(
            one in (scopes(), text(), columns()), other in (scopes(), text(), columns()),
        ) {
            let bytes = |(scope, hash, columns): &(Scope, String, Vec<Column>)| canonical_bytes(scope, hash, columns);
            prop_assert_eq!(bytes(&one) == bytes(&other), one == other);
        }
    }
}
