//! A real OpenID provider on loopback: the npm package `oidc-provider`, as `scripts/test` unpacks it.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, SystemTime},
};

use oauth::{Rejected, ResourceServer, Settings, Verified};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::http::{Reply, send};

/// The server that tokens are for, as callers know it.
pub(crate) const PUBLIC_URL: &str = "https://mcp.test";

/// A running provider; it ends with its value.
pub(crate) struct Provider {
    child: Child,
    pub(crate) issuer: String,
}

impl Provider {
    /// Starts it with clients: each an `id`, the `claims` that its tokens have besides, and the `alg` that they are signed with.
    pub(crate) fn start(clients: &Value) -> Self {
        let target = Path::new(env!("CARGO_BIN_EXE_pinguard-under-test")).ancestors().nth(2).unwrap();
        let (node, folder) = (target.join("node/node_modules/node/bin/node"), target.join("openid"));
        for path in [&node, &folder.join("node_modules/oidc-provider")] {
            assert!(path.exists(), "{} is not there: run scripts/test, which installs it", path.display());
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/it/openid/provider.mjs");
        let mut child = Command::new(node)
            .arg(script)
            .arg(folder)
            .arg(clients.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut issuer = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut issuer).unwrap();
        assert!(issuer.starts_with("http://127.0.0.1:"), "the provider does not start: {issuer:?}");
        Self { child, issuer: issuer.trim_end().to_owned() }
    }

    /// An access token for a resource, as a client gets it.
    pub(crate) async fn token(&self, client: &str, resource: &str, scope: &str) -> String {
        let body = format!(
            "grant_type=client_credentials&client_id={client}&client_secret=secret&scope={scope}&resource={resource}"
        );
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let answer = self.post("/token", &headers, &body).await.json();
        answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// A token of any kind that the provider signed.
    pub(crate) async fn sign(&self, header: Value, claims: Value) -> String {
        let body = json!({"header": header, "claims": claims}).to_string();
        String::from_utf8(self.post("/test/sign", &[], &body).await.body.to_vec()).unwrap()
    }

    /// From now on it signs with other keys, and publishes those alone.
    pub(crate) async fn rotate(&self) {
        assert_eq!(self.post("/test/rotate", &[], "").await.status, 200);
    }

    /// Ends it.
    pub(crate) fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// What checks its tokens, with further settings.
    pub(crate) fn server(&self, more: &[(&str, &str)]) -> Arc<ResourceServer> {
        let keys = format!("{}/jwks", self.issuer);
        let mut all = vec![
            ("PINGUARD_PUBLIC_URL", PUBLIC_URL),
            ("PINGUARD_OAUTH_ISSUER", &self.issuer),
            ("PINGUARD_OAUTH_JWKS_URL", &keys),
        ];
        all.extend(more);
        if !more.iter().any(|(name, _)| *name == "PINGUARD_OAUTH_WORKSPACE_CLAIM") {
            all.push(("PINGUARD_OAUTH_WORKSPACE", "w"));
        }
        let get =
            |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let mut problems = Vec::new();
        let settings = Settings::read(get, &mut problems);
        Arc::new(ResourceServer::new(settings.unwrap_or_else(|| panic!("{problems:?}"))))
    }

    async fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        send("POST", &format!("{}{path}", self.issuer), headers, body).await
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What a server makes of a token for the whole of it, so many seconds from now.
async fn seconds_later(server: &ResourceServer, seconds: u64, token: &str) -> Result<Verified, Rejected> {
    let now = SystemTime::now() + Duration::from_secs(seconds);
    server.verify(Some(&format!("Bearer {token}")), "", now, Instant::now() + Duration::from_secs(20)).await
}

#[tokio::test]
async fn a_rotated_key_serves_when_it_is_first_seen() {
    let provider = Provider::start(&json!([{"id": "ada"}]));
    let server = provider.server(&[]);
    let old = provider.token("ada", PUBLIC_URL, "mcp:call").await;
    assert_eq!(seconds_later(&server, 0, &old).await.unwrap().subject, "ada");
    provider.rotate().await;
    let new = provider.token("ada", PUBLIC_URL, "mcp:call").await;
    assert!(seconds_later(&server, 31, &new).await.is_ok());
    let unknown = seconds_later(&server, 32, &old).await.unwrap_err();
    assert_eq!(unknown, Rejected::Invalid(oauth::Invalid::UnknownKey), "the old one is withdrawn");
}

#[tokio::test]
async fn known_keys_serve_while_the_provider_is_down() {
    let mut provider = Provider::start(&json!([{"id": "ada"}]));
    let (warm, cold) = (provider.server(&[]), provider.server(&[]));
    let token = provider.token("ada", PUBLIC_URL, "mcp:call").await;
    assert!(seconds_later(&warm, 0, &token).await.is_ok());
    provider.stop();
    assert!(seconds_later(&warm, 300, &token).await.is_ok());
    let expired = seconds_later(&warm, 3600, &token).await.unwrap_err();
    assert_eq!(
        expired,
        Rejected::Invalid(oauth::Invalid::Expired),
        "the keys still serve, the token does not"
    );
    assert_eq!(seconds_later(&cold, 0, &token).await, Err(Rejected::NoKeys));
}
