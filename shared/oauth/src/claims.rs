//! From a token's claims to a caller: who, in which workspace, with which rights.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::settings::{Settings, WorkspaceFrom};
use crate::token::{Claims, Invalid};

/// The longest names of a subject and a workspace, in characters.
const MOST_CHARS: usize = 200;

/// The caller of a token that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// The token's `sub`: stays the same when the token is renewed.
    pub subject: String,
    /// The workspace that the caller belongs to.
    pub workspace: String,
    /// What the token may be used for: the words of `scope` or `scp`, known here or not.
    pub scopes: BTreeSet<String>,
    /// The only flows that it opens; none means every flow of the workspace.
    pub flows: Option<BTreeSet<String>>,
    /// All that the token says.
    pub claims: Map<String, Value>,
}

/// A token that counts and has no place here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoPlace {
    /// The claim is not there.
    #[error("the access token names no workspace: it lacks the claim `{0}`")]
    Missing(String),
    /// The claim is no name.
    #[error("the access token names no workspace: its claim `{0}` is not one text of at most 200 characters")]
    NoName(String),
}

impl Verified {
    pub(crate) fn new(settings: &Settings, claims: Claims) -> Result<Result<Self, NoPlace>, Invalid> {
        let subject = claims.get("sub").and_then(name).ok_or(Invalid::Subject)?;
        let workspace = match &settings.workspace {
            WorkspaceFrom::Fixed(workspace) => Ok(workspace.clone()),
            WorkspaceFrom::Claim(claim) => match claims.get(claim) {
                None | Some(Value::Null) => Err(NoPlace::Missing(claim.clone())),
                Some(value) => name(value).ok_or_else(|| NoPlace::NoName(claim.clone())),
            },
        };
        Ok(workspace.map(|workspace| Self {
            subject,
            workspace,
            scopes: ["scope", "scp"].iter().filter_map(|claim| claims.get(*claim)).flat_map(words).collect(),
            // A claim that is not there opens nothing.
            flows: settings
                .flows_claim
                .as_ref()
                .map(|claim| claims.get(claim).map(words).unwrap_or_default().into_iter().collect()),
            claims,
        }))
    }
}

fn name(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let fits =
        !text.trim().is_empty() && text.chars().count() <= MOST_CHARS && !text.contains(char::is_control);
    fits.then(|| text.to_owned())
}

/// A list of texts, or one text whose words are divided by blanks; both are in use.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text.split_ascii_whitespace().map(str::to_owned).collect(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::tests::settings;

    const CLAIM: (&str, &str) = ("PINGUARD_OAUTH_WORKSPACE_CLAIM", "org");

    fn caller(more: &[(&str, &str)], claims: Value) -> Result<Result<Verified, NoPlace>, Invalid> {
        let Value::Object(claims) = claims else { unreachable!() };
        Verified::new(&settings(more), claims)
    }

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|&word| word.to_owned()).collect()
    }

    #[test]
    fn scopes_are_the_words_of_scope_and_scp() {
        for (claims, expected) in [
            (json!({"scope": "mcp:call openid"}), set(&["mcp:call", "openid"])),
            (json!({"scp": "mcp:call"}), set(&["mcp:call"])),
            (json!({"scp": ["mcp:call", "flows:read"]}), set(&["mcp:call", "flows:read"])),
            (json!({"scope": "a", "scp": ["b"]}), set(&["a", "b"])),
            (json!({"scope": {"mcp:call": true}}), set(&[])),
            (json!({}), set(&[])),
        ] {
            let mut claims = claims;
            claims["sub"] = json!("u1");
            assert_eq!(caller(&[], claims.clone()).unwrap().unwrap().scopes, expected, "{claims}");
        }
    }

    #[test]
    fn the_workspace_is_fixed_or_a_claim() {
        let fixed = caller(&[], json!({"sub": "u1", "org": "other"})).unwrap().unwrap();
        assert_eq!((fixed.workspace.as_str(), fixed.subject.as_str()), ("w", "u1"));
        let claimed = caller(&[CLAIM], json!({"sub": "u1", "org": "acme"})).unwrap().unwrap();
        assert_eq!(claimed.workspace, "acme");
    }

    #[test]
    fn a_token_that_names_no_workspace_has_no_place() {
        let missing = NoPlace::Missing("org".to_owned());
        let no_name = NoPlace::NoName("org".to_owned());
        for (org, expected) in [
            (json!(null), &missing),
            (json!(""), &no_name),
            (json!(" "), &no_name),
            (json!("a\u{0}"), &no_name),
            (json!("x".repeat(201)), &no_name),
            (json!(["acme"]), &no_name),
            (json!(7), &no_name),
        ] {
            let found = caller(&[CLAIM], json!({"sub": "u1", "org": org})).unwrap();
            assert_eq!(found.as_ref().unwrap_err(), expected, "{org}");
        }
        assert_eq!(caller(&[CLAIM], json!({"sub": "u1"})).unwrap().unwrap_err(), missing);
    }

    #[test]
    fn a_token_without_a_subject_does_not_count() {
        for claims in [json!({}), json!({"sub": ""}), json!({"sub": 7}), json!({"sub": "a\nb"})] {
            assert_eq!(caller(&[], claims.clone()), Err(Invalid::Subject), "{claims}");
        }
    }

    #[test]
    fn a_claim_of_flows_binds_and_opens_nothing_where_it_is_missing() {
        let bound = ("PINGUARD_OAUTH_FLOWS_CLAIM", "flows");
        let flows = |more: &[(&str, &str)], claims| caller(more, claims).unwrap().unwrap().flows;
        assert_eq!(flows(&[], json!({"sub": "u", "flows": ["a"]})), None);
        assert_eq!(flows(&[bound], json!({"sub": "u", "flows": ["a", "b"]})), Some(set(&["a", "b"])));
        assert_eq!(flows(&[bound], json!({"sub": "u", "flows": "a b"})), Some(set(&["a", "b"])));
        assert_eq!(flows(&[bound], json!({"sub": "u"})), Some(set(&[])));
        assert_eq!(flows(&[bound], json!({"sub": "u", "flows": true})), Some(set(&[])));
    }
}
