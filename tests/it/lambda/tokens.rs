//! The real program where callers show access tokens.

use serde_json::{Value, json};

use super::{
    Deployed, PATH, SQL, TIME, content, deploy_with,
    events::{FrontDoor, HOST, event, query},
};
use crate::openid::Provider;

/// Deploys the function for the tokens of a provider.
pub(super) async fn deploy_for_tokens(provider: &Provider) -> Deployed {
    let keys = format!("{}/jwks", provider.issuer);
    deploy_with(&[
        ("PINGUARD_AUTH", "oauth"),
        ("PINGUARD_OAUTH_ISSUER", &provider.issuer),
        ("PINGUARD_OAUTH_JWKS_URL", &keys),
        ("PINGUARD_OAUTH_WORKSPACE", "acme"),
    ])
    .await
}

#[tokio::test]
async fn a_deployed_function_takes_tokens_and_points_to_their_issuer() {
    let provider = Provider::start(&json!([{"id": "agent-1"}]));
    let mut deployed = deploy_for_tokens(&provider).await;
    let token = provider.token("agent-1", &format!("https://{HOST}{PATH}"), "mcp:call").await;
    let key = deployed.key.text().to_owned();
    let metadata = format!("/.well-known/oauth-protected-resource{PATH}");
    for door in [FrontDoor::HttpApi, FrontDoor::FunctionUrl] {
        let answer = deployed.function.invoke(&event(door, "POST", PATH, Some(&token), &query(SQL)), TIME);
        assert_eq!(content(&answer)["rowCount"], 2, "{answer}");
        for shown in [None, Some(key.as_str())] {
            let answer = deployed.function.invoke(&event(door, "POST", PATH, shown, &query(SQL)), TIME);
            assert_eq!(answer["statusCode"], 401, "{answer}");
            let challenge = answer["headers"]["www-authenticate"].as_str().unwrap();
            assert!(
                challenge.contains(&format!("resource_metadata=\"https://{HOST}{metadata}\"")),
                "{challenge}"
            );
        }
        let answer = deployed.function.invoke(&event(door, "GET", &metadata, None, ""), TIME);
        assert_eq!(answer["statusCode"], 200, "{answer}");
        let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        assert_eq!(body["resource"], format!("https://{HOST}{PATH}"));
        assert_eq!(body["authorization_servers"], json!([provider.issuer]));
    }
}
