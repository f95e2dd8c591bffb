//! What of a caller's access token a node hands to its database.

use pg::{ClaimName, Claims};
use serde_json::{Map, Value};

use crate::failure::{Failure, Kind};

/// The values of the claims that a node asks for; none where it asks for none. `token` is what the caller's token says, none
/// for a caller without one. A claim that is not there is no empty one: the call is refused.
pub fn of(names: &[ClaimName], token: Option<&Map<String, Value>>) -> Result<Option<Claims>, Failure> {
    let Some(first) = names.first() else { return Ok(None) };
    let Some(token) = token else { return Err(no_token(first.claim())) };
    let value = |name| match token.get(ClaimName::claim(name)) {
        None | Some(Value::Null) => Err(missing(name.claim())),
        Some(Value::String(text)) => Ok((name, text.clone())),
        Some(other) => Ok((name, other.to_string())),
    };
    let values: Vec<(&ClaimName, String)> = names.iter().map(value).collect::<Result<_, _>>()?;
    let claims = Claims::new(&values)
        .map_err(|error| Failure::new(Kind::Refusal, "claim_unfit", error.to_string()).hinting(ASK))?;
    Ok(Some(claims))
}

const ASK: &str = "whoever runs the issuer of the tokens decides what they say";

pub(crate) fn missing(claim: &str) -> Failure {
    let message = format!("your access token lacks the claim `{claim}`, which is needed here");
    Failure::new(Kind::Refusal, "claim_missing", message).hinting(ASK)
}

pub(crate) fn unfit(claim: &str, why: &str) -> Failure {
    let message = format!("the claim `{claim}` of your access token does not fit: {why}");
    Failure::new(Kind::Refusal, "claim_unfit", message).hinting(ASK)
}

pub(crate) fn no_token(claim: &str) -> Failure {
    let message = format!(
        "the claim `{claim}` of an access token is needed here, and callers of this deployment show no access tokens"
    );
    Failure::new(Kind::Plumbing, "claims_need_oauth", message)
        .hinting("the operator sets `PINGUARD_AUTH` to `oauth`, or the flow's owner asks for no claim")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(names: &[&str]) -> Vec<ClaimName> {
        names.iter().map(|name| ClaimName::parse(name).unwrap()).collect()
    }

    fn code(asked: &[&str], token: Option<Value>) -> String {
        let token = token.map(|token| token.as_object().unwrap().clone());
        of(&names(asked), token.as_ref()).unwrap_err().code.to_string()
    }

    #[test]
    fn values_are_texts_and_what_is_no_text_is_json() {
        let token = json!({"s": "x", "n": 1.50, "b": true, "l": ["a", 1], "o": {"k": null}, "e": ""});
        let asked = names(&["s", "n", "b", "l", "o", "e"]);
        let claims = of(&asked, token.as_object()).unwrap().unwrap();
        let expected = ["x", "1.5", "true", r#"["a",1]"#, r#"{"k":null}"#, ""].map(str::to_owned);
        let expected: Vec<_> = asked.iter().zip(expected).collect();
        assert_eq!(claims, Claims::new(&expected).unwrap());
    }

    #[test]
    fn a_claim_that_is_not_there_is_refused() {
        assert_eq!(of(&[], None).unwrap(), None, "a node that asks for none takes any caller");
        assert_eq!(code(&["a"], None), "claims_need_oauth");
        assert_eq!(code(&["a", "b"], Some(json!({"a": 1}))), "claim_missing");
        assert_eq!(code(&["a"], Some(json!({"a": null}))), "claim_missing");
        assert_eq!(code(&["a"], Some(json!({"A": 1}))), "claim_missing");
        assert_eq!(code(&["a"], Some(json!({"a": "x\u{0}"}))), "claim_unfit");
    }
}
