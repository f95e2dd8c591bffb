//! An issuer on loopback, whose keys and whose clock the tests turn.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::settings::tests::settings;

const START: Duration = Duration::from_hours(500_000);

/// What publishes keys.
struct Issuer {
    url: String,
    /// The status and the body of every answer.
    says: Arc<Mutex<(u16, String)>>,
    asked: Arc<AtomicUsize>,
}

impl Issuer {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        let says = Arc::new(Mutex::new((200, json!({"keys": []}).to_string())));
        let asked = Arc::new(AtomicUsize::new(0));
        let issuer = Self { url, says: Arc::clone(&says), asked: Arc::clone(&asked) };
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                let length = stream.read(&mut request).await.unwrap();
                assert!(request[..length].starts_with(b"GET /jwks HTTP/1.1\r\n"));
                asked.fetch_add(1, Ordering::SeqCst);
                let (status, body) = says.lock().unwrap().clone();
                let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        issuer
    }

    fn publish(&self, keys: &[Value]) {
        *self.says.lock().unwrap() = (200, json!({"keys": keys}).to_string());
    }

    fn fail(&self, status: u16, body: &str) {
        *self.says.lock().unwrap() = (status, body.to_owned());
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn server(&self) -> ResourceServer {
        ResourceServer::new(settings(&[("PINGUARD_OAUTH_JWKS_URL", &self.url)]))
    }
}

/// A key that signs.
struct Signer {
    id: &'static str,
    pair: Pair,
}

enum Pair {
    Ed(Ed25519KeyPair),
    Ec(EcdsaKeyPair),
}

impl Signer {
    fn ed(id: &'static str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { id, pair: Pair::Ed(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()) }
    }

    fn ec(id: &'static str) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { id, pair: Pair::Ec(pair) }
    }

    fn public(&self) -> &[u8] {
        match &self.pair {
            Pair::Ed(pair) => pair.public_key().as_ref(),
            Pair::Ec(pair) => pair.public_key().as_ref(),
        }
    }

    fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Ed(_) => "EdDSA",
            Pair::Ec(_) => "ES256",
        }
    }

    fn jwk(&self) -> Value {
        let public = self.public();
        match self.pair {
            Pair::Ed(_) => json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": base64(public)}),
            // An uncompressed point: a byte 4, then both coordinates.
            Pair::Ec(_) => json!({"kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig",
                "x": base64(&public[1..33]), "y": base64(&public[33..])}),
        }
    }

    /// A token of this head and these claims, signed with this key whatever the head says.
    fn sign(&self, head: &Value, claims: &Value) -> String {
        let text =
            format!("{}.{}", base64(head.to_string().as_bytes()), base64(claims.to_string().as_bytes()));
        let signature = match &self.pair {
            Pair::Ed(pair) => pair.sign(text.as_bytes()).as_ref().to_vec(),
            Pair::Ec(pair) => pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{text}.{}", base64(&signature))
    }

    fn token(&self) -> String {
        self.sign(&self.head(), &claims())
    }

    fn head(&self) -> Value {
        json!({"alg": self.algorithm(), "kid": self.id, "typ": "at+jwt"})
    }
}

fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn claims() -> Value {
    json!({"iss": "https://id.example.com/", "aud": "https://mcp.example.com/mcp/f", "sub": "u1",
        "exp": START.as_secs() + 100 * 3600, "scope": "mcp:call"})
}

/// What a server makes of a token some time after the start.
async fn after(server: &ResourceServer, seconds: u64, token: &str) -> Result<Verified, Rejected> {
    let now = SystemTime::UNIX_EPOCH + START + Duration::from_secs(seconds);
    let deadline = Instant::now() + Duration::from_secs(20);
    server.verify(Some(&format!("Bearer {token}")), "/mcp/f", now, deadline).await
}

#[tokio::test]
async fn a_token_signed_with_a_published_key_is_taken() {
    let issuer = Issuer::start().await;
    let (ed, ec) = (Signer::ed("ed"), Signer::ec("ec"));
    issuer.publish(&[ed.jwk(), ec.jwk()]);
    let server = issuer.server();
    for signer in [&ed, &ec] {
        let caller = after(&server, 0, &signer.token()).await.unwrap();
        assert_eq!((caller.subject.as_str(), caller.workspace.as_str()), ("u1", "w"));
        assert!(caller.scopes.contains("mcp:call"));
        assert_eq!(caller.claims["aud"], "https://mcp.example.com/mcp/f");
        let nameless = signer.sign(&json!({"alg": signer.algorithm()}), &claims());
        assert!(after(&server, 0, &nameless).await.is_ok(), "neither kid nor typ");
    }
    assert_eq!(issuer.asked(), 1, "the keys are kept");
}

#[tokio::test]
async fn a_token_for_one_url_opens_no_other() {
    let issuer = Issuer::start().await;
    let signer = Signer::ed("a");
    issuer.publish(&[signer.jwk()]);
    let server = issuer.server();
    let header = format!("Bearer {}", signer.token());
    let now = SystemTime::UNIX_EPOCH + START;
    for path in ["", "/mcp/g", "/mcp/f/n", "/mcp"] {
        let found = server.verify(Some(&header), path, now, Instant::now() + Duration::from_secs(9)).await;
        assert_eq!(found, Err(Rejected::Invalid(Invalid::Audience)), "{path}");
    }
}

#[tokio::test]
async fn what_the_issuer_did_not_sign_is_refused() {
    let issuer = Issuer::start().await;
    let (signer, other) = (Signer::ed("a"), Signer::ed("a"));
    let ec = Signer::ec("e");
    issuer.publish(&[signer.jwk(), ec.jwk()]);
    let server = issuer.server();
    let token = signer.token();
    let parts: Vec<&str> = token.split('.').collect();
    let unsigned = |algorithm: &str| {
        let head = base64(json!({"alg": algorithm, "kid": "a"}).to_string().as_bytes());
        format!("{head}.{}.", parts[1])
    };
    // A server that takes the public key for a shared secret could be told anything.
    let confused = {
        let head = base64(json!({"alg": "HS256", "kid": "a", "typ": "JWT"}).to_string().as_bytes());
        let text = format!("{head}.{}", parts[1]);
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, signer.public());
        format!("{text}.{}", base64(ring::hmac::sign(&key, text.as_bytes()).as_ref()))
    };
    let altered = base64(claims().to_string().replace("u1", "u2").as_bytes());
    let own = json!({"alg": "EdDSA", "jwk": other.jwk()});
    let cases = [
        (unsigned("none"), Invalid::Form),
        (unsigned("None"), Invalid::Form),
        (unsigned("EdDSA"), Invalid::Signature),
        (confused, Invalid::Form),
        (other.token(), Invalid::Signature),
        (other.sign(&own, &claims()), Invalid::Signature),
        (format!("{}.{altered}.{}", parts[0], parts[2]), Invalid::Signature),
        (signer.sign(&json!({"alg": "ES256", "kid": "e"}), &claims()), Invalid::Signature),
        (signer.sign(&json!({"alg": "ES256", "kid": "a"}), &claims()), Invalid::UnknownKey),
        (signer.sign(&json!({"alg": "RS256", "kid": "a"}), &claims()), Invalid::UnknownKey),
        (signer.sign(&json!({"alg": "RS512", "kid": "a"}), &claims()), Invalid::Form),
        (signer.sign(&json!({"alg": "EdDSA", "kid": "a", "typ": "logout+jwt"}), &claims()), Invalid::Type),
        (signer.sign(&json!({"alg": "EdDSA", "kid": "a", "crit": ["x"], "x": 1}), &claims()), Invalid::Form),
        (
            signer.sign(&json!({"alg": "EdDSA", "kid": "a", "b64": false, "crit": ["b64"]}), &claims()),
            Invalid::Form,
        ),
        (signer.sign(&signer.head(), &json!(["claims"])), Invalid::Form),
        (format!("{token}.{}", parts[2]), Invalid::Form),
        (format!("{}.{}", parts[0], parts[1]), Invalid::Form),
        (format!("{token}="), Invalid::Form),
        ("an-opaque-token".to_owned(), Invalid::Form),
        ("..".to_owned(), Invalid::Form),
        ("x".repeat(20_000), Invalid::Form),
    ];
    for (token, expected) in cases {
        assert_eq!(after(&server, 0, &token).await, Err(Rejected::Invalid(expected)), "{token}");
    }
}

#[tokio::test]
async fn a_key_that_is_not_known_is_looked_for_at_most_twice_a_minute() {
    let issuer = Issuer::start().await;
    let (known, forged) = (Signer::ed("a"), Signer::ed("forged"));
    issuer.publish(&[known.jwk()]);
    let server = issuer.server();
    assert!(after(&server, 0, &known.token()).await.is_ok());
    for second in [1, 10, 29] {
        let found = after(&server, second, &forged.token()).await;
        assert_eq!(found, Err(Rejected::Invalid(Invalid::UnknownKey)));
    }
    assert_eq!(issuer.asked(), 1, "the keys had just been fetched");
    for second in [31, 32, 60] {
        assert!(after(&server, second, &forged.token()).await.is_err());
    }
    assert_eq!(issuer.asked(), 2);
    assert!(after(&server, 61, &forged.token()).await.is_err());
    assert_eq!(issuer.asked(), 3);
}

#[tokio::test]
async fn a_new_key_counts_at_once_and_a_withdrawn_one_no_longer_than_ten_minutes() {
    let issuer = Issuer::start().await;
    let (old, new) = (Signer::ed("old"), Signer::ec("new"));
    issuer.publish(&[old.jwk()]);
    let server = issuer.server();
    assert!(after(&server, 0, &old.token()).await.is_ok());
    issuer.publish(&[new.jwk()]);
    assert!(after(&server, 300, &old.token()).await.is_ok(), "kept");
    assert_eq!(after(&server, 600, &old.token()).await, Err(Rejected::Invalid(Invalid::UnknownKey)));
    assert!(after(&server, 601, &new.token()).await.is_ok());
    issuer.publish(&[old.jwk(), new.jwk()]);
    assert!(after(&server, 700, &old.token()).await.is_ok(), "fetched because it was not known");
    assert!(after(&server, 700, &new.token()).await.is_ok());
}

#[tokio::test]
async fn known_keys_serve_for_six_hours_while_the_issuer_is_down() {
    let issuer = Issuer::start().await;
    let signer = Signer::ed("a");
    issuer.publish(&[signer.jwk()]);
    let server = issuer.server();
    assert!(after(&server, 0, &signer.token()).await.is_ok());
    let failures = [(503, ""), (200, "<html>"), (302, ""), (404, r#"{"keys":[]}"#)];
    for (tried, (status, body)) in failures.into_iter().enumerate() {
        issuer.fail(status, body);
        // An issuer that failed is left alone for some seconds.
        for second in [0, 4] {
            let seconds = 5 * 3600 + 10 * tried as u64 + second;
            assert!(after(&server, seconds, &signer.token()).await.is_ok(), "{status} {body}");
        }
        assert_eq!(issuer.asked(), 2 + tried);
    }
    assert!(after(&server, 6 * 3600 - 1, &signer.token()).await.is_ok());
    assert_eq!(after(&server, 6 * 3600, &signer.token()).await, Err(Rejected::NoKeys));
    issuer.publish(&[signer.jwk()]);
    assert!(after(&server, 6 * 3600 + 20, &signer.token()).await.is_ok(), "it is back");
}

#[tokio::test]
async fn an_instance_that_never_had_keys_takes_no_token() {
    let issuer = Issuer::start().await;
    issuer.fail(500, "");
    let signer = Signer::ed("a");
    let server = issuer.server();
    for second in [0, 1, 4] {
        assert_eq!(after(&server, second, &signer.token()).await, Err(Rejected::NoKeys));
    }
    assert_eq!(issuer.asked(), 1, "one try in five seconds");
    issuer.publish(&[signer.jwk()]);
    assert!(after(&server, 5, &signer.token()).await.is_ok());
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_is_not_waited_for_past_the_deadline() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("http://{}/jwks", listener.local_addr().unwrap());
    let server = ResourceServer::new(settings(&[("PINGUARD_OAUTH_JWKS_URL", &url)]));
    let header = format!("Bearer {}", Signer::ed("a").token());
    let began = Instant::now();
    let found =
        server.verify(Some(&header), "/mcp/f", SystemTime::now(), began + Duration::from_millis(200)).await;
    assert_eq!(found, Err(Rejected::NoKeys));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_set_of_keys_without_end_is_not_read_to_its_end() {
    let issuer = Issuer::start().await;
    issuer.fail(200, &format!(r#"{{"keys": [], "x": "{}"}}"#, "x".repeat(600 * 1024)));
    let found = after(&issuer.server(), 0, &Signer::ed("a").token()).await;
    assert_eq!(found, Err(Rejected::NoKeys));
}

#[test]
fn a_header_may_have_any_case_and_any_blanks() {
    for header in ["Bearer x.y.z", "bearer x.y.z", "BEARER  x.y.z", " bEaReR\tx.y.z\r\n"] {
        assert_eq!(bearer(header), Ok("x.y.z"), "{header:?}");
    }
    for header in ["", "x.y.z", "Bearer", "Bearer  ", "Basic eDp5", "Bearerx.y.z", "DPoP x.y.z"] {
        assert_eq!(bearer(header), Err(NoToken::NotBearer), "{header:?}");
    }
}
