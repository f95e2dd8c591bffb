//! Logins by tokens of Amazon RDS: the real program signs them, AWS's own tool says what they must be.

mod rds;

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use pg::TokenRequest;
use serde_json::{Value, json};
use state::SecretStore;

use self::rds::{Answer, Rds, USER};
use super::{
    content, deploy_with,
    events::{FrontDoor, query},
};

const SESSION: &str = "IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCXVzLWVhc3QtMSJHMEUCIQ==";

/// What botocore signs for the same login at the same time, with the credentials that the emulator gives.
fn expected(rds: &Rds, date: &str, region: &str) -> String {
    let program = "import sys, datetime, botocore.auth, botocore.session\n\
        from botocore.credentials import Credentials\n\
        date, host, port, user, region, session = sys.argv[1:]\n\
        now = datetime.datetime.strptime(date, '%Y%m%dT%H%M%SZ')\n\
        botocore.auth.get_current_datetime = lambda **_: now\n\
        aws = botocore.session.Session()\n\
        aws._credentials = Credentials('test', 'test', session)\n\
        rds = aws.create_client('rds', region_name=region)\n\
        print(rds.generate_db_auth_token(DBHostname=host, Port=int(port), DBUsername=user))";
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python/bin/python");
    let output = Command::new(python)
        .args(["-c", program, date, "localhost", &rds.port.to_string(), USER, region, SESSION])
        .output()
        .expect("python with moto, which scripts/test installs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Address and parameters; their order means nothing.
fn parts(token: &str) -> BTreeSet<String> {
    token.split(['?', '&']).map(str::to_owned).collect()
}

fn parameter<'a>(token: &'a str, name: &str) -> &'a str {
    token
        .split('&')
        .find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
        .unwrap_or_else(|| panic!("{token}"))
}

fn secret(rds: &Rds) -> Value {
    json!({"engine": "postgres", "host": "localhost", "port": rds.port, "username": USER, "dbname": "postgres",
        "auth": "rds-iam", "sslrootcert": rds.ca})
}

#[tokio::test(flavor = "multi_thread")]
async fn each_connection_logs_in_with_a_token_of_its_own() {
    let rds = Rds::start().await;
    let mut deployed = deploy_with(&[("AWS_SESSION_TOKEN", SESSION)]).await;
    let mut secret = secret(&rds);
    for (index, region) in ["us-east-1", "eu-west-1"].into_iter().enumerate() {
        if index > 0 {
            secret["region"] = json!(region);
        }
        deployed.secrets.put("pinguard/stock", &secret.to_string(), "AWSCURRENT");
        let answer = deployed.ask(FrontDoor::HttpApi, &query("SELECT session_user, name FROM fruit"));
        assert_eq!(content(&answer)["rows"], json!([[USER, "quince"]]), "{answer}");
        let tokens = rds.tokens();
        assert_eq!(tokens.len(), index + 1, "one login, one token");
        let token = &tokens[index];
        assert_eq!(parameter(token, "X-Amz-Expires"), "900");
        assert_eq!(parts(token), parts(&expected(&rds, parameter(token, "X-Amz-Date"), region)));
    }
    deployed.function.settle();
    let log = fs::read_to_string(&deployed.log).unwrap();
    assert!(!log.contains("X-Amz-Signature"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_rds_refuses_is_told_with_what_is_missing() {
    let rds = Rds::start().await;
    rds.set(Answer::Refuse);
    let mut deployed = deploy_with(&[]).await;
    deployed.secrets.put("pinguard/stock", &secret(&rds).to_string(), "AWSCURRENT");
    let failure = content(&deployed.ask(FrontDoor::HttpApi, &query("SELECT 1")));
    assert_eq!((&failure["code"], &failure["outcome"]), (&json!("login_failed"), &json!("unexpected")));
    let hint = failure["hint"].as_str().unwrap();
    assert!(hint.contains("rds_iam") && hint.contains("rds-db:connect"), "{hint}");
    rds.set(Answer::Admit);
    let answer = deployed.ask(FrontDoor::HttpApi, &query("SELECT name FROM fruit"));
    assert_eq!(content(&answer)["rowCount"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_no_server_that_cannot_prove_itself() {
    let rds = Rds::start().await;
    let mut deployed = deploy_with(&[]).await;
    let mut unproven = secret(&rds);
    unproven["sslrootcert"] = json!(rds.foreign_ca);
    deployed.secrets.put("pinguard/stock", &unproven.to_string(), "AWSCURRENT");
    assert_eq!(content(&deployed.ask(FrontDoor::HttpApi, &query("SELECT 1")))["code"], "tls_unknown_ca");
    unproven = secret(&rds);
    unproven["sslmode"] = json!("require");
    unproven.as_object_mut().unwrap().remove("sslrootcert");
    deployed.secrets.put("pinguard/stock", &unproven.to_string(), "AWSCURRENT");
    let failure = content(&deployed.ask(FrontDoor::HttpApi, &query("SELECT 1")));
    assert_eq!(failure["code"], "secret_malformed");
    assert!(failure["error"].as_str().unwrap().contains("verify-full"), "{failure}");
    assert!(rds.tokens().is_empty());
}

#[tokio::test]
async fn off_aws_a_secret_that_wants_a_token_is_told_so() {
    let request = TokenRequest { host: "h".to_owned(), port: 5432, user: "u".to_owned(), region: None };
    let error = SecretStore::given("s", "x").token(&request).await.unwrap_err();
    assert_eq!(error.code(), "token_not_here");
    assert!(error.to_string().contains("`u` at `h`") && error.hint().contains("password"), "{error}");
}
