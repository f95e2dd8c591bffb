//! What a caller's token says, inside the database: row security by it, and pins of which a parameter is a claim.

use mcp::Callers;
use serde_json::{Value, json};

use super::{
    Endpoint, Setup, assert_failure,
    pins::{self, stamped_at},
};
use crate::{
    openid::Provider,
    support::{self, Login, TestDb},
};

const RESOURCE: &str = "https://mcp.test/mcp/shop/db";

/// Rows of three tenants, one of whom has a name that is no plain word.
const ORDERS: &str = "
CREATE TABLE orders (id int PRIMARY KEY, tenant text NOT NULL, item text NOT NULL);
INSERT INTO orders VALUES (1, 'a', 'anvil'), (2, 'a', 'auger'), (3, 'b', 'bucket'), (4, 'c''\"\\ü', 'candle');
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON orders USING (tenant = current_setting('pinguard.claim_tenant_id', true));
CREATE VIEW mine AS SELECT current_setting('pinguard.claim_tenant_id') AS tenant, current_setting('pinguard.claim_groups')::json AS groups;
CREATE VIEW secrets AS SELECT current_setting('pinguard.claim_email', true) AS email;";

fn provider() -> Provider {
    Provider::start(&json!([
        {"id": "ada", "claims": {"tenant_id": "a", "groups": ["x", "y"], "email": "ada@a.test"}},
        {"id": "bob", "claims": {"tenant_id": "b", "groups": []}},
        {"id": "cy", "claims": {"tenant_id": "c'\"\\ü", "groups": {"k": 1}}},
        {"id": "dee", "claims": {"groups": ["x"]}},
    ]))
}

async fn reader(db: &TestDb) -> Login {
    db.run(ORDERS).await;
    db.reader(&["public"]).await
}

async fn start(db: &TestDb, login: &Login, callers: Callers, node: Value) -> Endpoint {
    Setup { callers, stamp_key: Some(pins::KEY.to_owned()), ..Setup::node(node) }.start(db, &login.url).await
}

/// The node with the claims of these tests.
fn node() -> Value {
    json!({"callerClaims": ["tenant_id", "groups"]})
}

/// Turns an endpoint's caller into another.
async fn become_(endpoint: &mut Endpoint, provider: &Provider, client: &str) {
    endpoint.key = provider.token(client, RESOURCE, "mcp:call").await;
}

#[tokio::test]
async fn each_caller_sees_its_own_rows() {
    for major in [14, 18] {
        let (db, provider) = (support::database(major).await, provider());
        let login = reader(&db).await;
        let mut endpoint = start(&db, &login, Callers::Tokens(provider.server(&[])), node()).await;
        for (client, items, tenant) in [
            ("ada", json!([["anvil"], ["auger"]]), "a"),
            ("bob", json!([["bucket"]]), "b"),
            ("cy", json!([["candle"]]), "c'\"\\ü"),
            ("ada", json!([["anvil"], ["auger"]]), "a"),
        ] {
            become_(&mut endpoint, &provider, client).await;
            let rows = endpoint.query("SELECT item FROM orders ORDER BY id").await;
            assert_eq!(rows["rows"], items, "{client} on {major}");
            let own =
                endpoint.query("SELECT current_setting('pinguard.claim_tenant_id'), tenant FROM mine").await;
            assert_eq!(own["rows"], json!([[tenant, tenant]]), "{client} on {major}");
            let described = endpoint.good("describe", json!({"name": "orders"})).await.to_string();
            assert_eq!(
                described.contains("anvil"),
                client == "ada",
                "samples are read as the caller: {described}"
            );
        }
        become_(&mut endpoint, &provider, "ada").await;
        assert_eq!(endpoint.query("SELECT groups FROM mine").await["rows"], json!([[["x", "y"]]]));
        assert_eq!(
            endpoint.query("SELECT email FROM secrets").await["rows"],
            json!([[null]]),
            "not asked for"
        );
    }
}

#[tokio::test]
async fn the_function_lane_sets_claims_too() {
    let (db, provider) = (support::database(18).await, provider());
    db.run(ORDERS).await;
    let login = db.plain_login("plain", "").await;
    db.let_read(&login, &["public"]).await;
    let mut endpoint = start(&db, &login, Callers::Tokens(provider.server(&[])), node()).await;
    become_(&mut endpoint, &provider, "bob").await;
    assert_eq!(endpoint.query("SELECT item FROM orders").await["rows"], json!([["bucket"]]));
    assert_eq!(endpoint.records()[0].lane.as_deref(), Some("function"));
}

#[tokio::test]
async fn nobody_sets_a_claim_or_reads_past_those_that_are_asked_for() {
    let (db, provider) = (support::database(18).await, provider());
    let login = reader(&db).await;
    db.run(
        "CREATE FUNCTION become(tenant text) RETURNS text LANGUAGE sql AS $$ SELECT set_config('pinguard.claim_tenant_id', tenant, true) $$;
         CREATE FUNCTION as_b() RETURNS text LANGUAGE plpgsql STABLE SET pinguard.claim_tenant_id = 'b' AS $$ BEGIN RETURN (SELECT max(item) FROM orders); END $$;
         CREATE FUNCTION email() RETURNS text LANGUAGE sql STABLE AS $$ SELECT current_setting('pinguard.claim_email', true) $$",
    )
    .await;
    let mut endpoint = start(&db, &login, Callers::Tokens(provider.server(&[])), node()).await;
    become_(&mut endpoint, &provider, "ada").await;
    for sql in [
        "SELECT set_config('pinguard.claim_tenant_id', 'b', true)",
        "SELECT (SELECT set_config('pinguard.claim_tenant_id', 'b', true)), item FROM orders",
        "SELECT become('b')",
        "SELECT as_b()",
        "SELECT email()",
        "SET pinguard.claim_tenant_id = 'b'",
        "SELECT current_setting('pinguard.claim_email')",
        "SELECT current_setting('pinguard.claim_email', true)",
        "SELECT current_setting('PINGUARD.claim_EMAIL', true)",
        "SELECT current_setting('pinguard.claim_' || 'email', true)",
        "SELECT current_setting(tenant) FROM mine",
        "SHOW pinguard.claim_email",
        "SHOW pinguard.claim_tenant_id",
        "SELECT item FROM orders WHERE tenant = current_setting('pinguard.claim_email', true)",
    ] {
        let refused = endpoint.refuses(sql).await;
        assert_eq!(refused["outcome"], "expected", "{sql}: {refused}");
        assert_eq!(endpoint.records()[0].effect, state::Effect::Refused, "{sql}: {refused}");
    }
    let refused = endpoint
        .bad("query", json!({"sql": "SELECT current_setting($1)", "params": ["pinguard.claim_email"]}))
        .await;
    assert_eq!(refused["outcome"], "expected", "{refused}");
    assert_eq!(
        endpoint.query("SELECT count(*) FROM orders").await["rows"],
        json!([[2]]),
        "and nothing stayed"
    );

    let bare = start(&db, &login, Callers::Tokens(provider.server(&[])), json!({})).await;
    let bare = Endpoint { key: endpoint.key.clone(), ..bare };
    bare.refuses("SELECT current_setting('pinguard.claim_tenant_id', true)").await;
    assert_eq!(
        bare.query("SELECT count(*) FROM orders").await["rows"],
        json!([[0]]),
        "a node that asks for none sets none"
    );
}

#[tokio::test]
async fn a_caller_without_the_claim_gets_nothing() {
    let (db, provider) = (support::database(18).await, provider());
    let login = reader(&db).await;
    let mut endpoint = start(&db, &login, Callers::Tokens(provider.server(&[])), node()).await;
    become_(&mut endpoint, &provider, "dee").await;
    for (tool, arguments) in [
        ("query", json!({"sql": "SELECT 1"})),
        ("describe", json!({"name": "orders"})),
        ("list_tables", json!({})),
    ] {
        let refused = endpoint.bad(tool, arguments).await;
        assert_failure(&refused, "claim_missing", "expected", "issuer");
        assert!(refused["error"].as_str().unwrap().contains("`tenant_id`"), "{refused}");
    }
    let by_key = start(&db, &login, Callers::ApiKeys, node()).await;
    let refused = by_key.refuses("SELECT 1").await;
    assert_failure(&refused, "claims_need_oauth", "unexpected", "PINGUARD_AUTH");
}

#[tokio::test]
async fn a_pins_parameter_is_the_callers_claim_and_not_the_agents() {
    let (db, provider) = (support::database(18).await, provider());
    db.run(&format!("{ORDERS} ALTER TABLE orders DISABLE ROW LEVEL SECURITY")).await;
    let login = db.reader(&["public"]).await;
    let pin = json!({"id": "p1", "name": "pq_my_orders", "purpose": "Orders of the caller's tenant", "version": 1,
        "sql": "SELECT item FROM orders WHERE tenant = :tenant AND id >= :first ORDER BY id LIMIT 10",
        "params": [{"name": "tenant", "type": "text", "claim": "tenant_id"}, {"name": "first", "type": "int8"}]});
    let place = ::pins::Scope { selection: [].into(), ..pins::place() };
    let pin = stamped_at(&place, pins::KEY, &pin, &[("item", "text")]);
    let node = json!({"pins": [pin], "actions": []});
    let mut endpoint = start(&db, &login, Callers::Tokens(provider.server(&[])), node.clone()).await;
    become_(&mut endpoint, &provider, "ada").await;
    let schema = endpoint.tool("pq_my_orders").await["inputSchema"].clone();
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["first"], "{schema}");
    for (client, items) in [("ada", json!([["auger"]])), ("bob", json!([["bucket"]]))] {
        become_(&mut endpoint, &provider, client).await;
        assert_eq!(endpoint.good("pq_my_orders", json!({"first": 2})).await["rows"], items, "{client}");
        for tenant in [json!("a"), json!("b"), json!(null)] {
            let refused = endpoint.bad("pq_my_orders", json!({"first": 1, "tenant": tenant})).await;
            assert_failure(
                &refused,
                "invalid_arguments",
                "expected",
                "this tool takes `first` (int8, required)",
            );
        }
    }
    become_(&mut endpoint, &provider, "dee").await;
    assert_failure(
        &endpoint.bad("pq_my_orders", json!({"first": 1})).await,
        "claim_missing",
        "expected",
        "issuer",
    );

    let by_key = start(&db, &login, Callers::ApiKeys, node).await;
    let refused = by_key.bad("pq_my_orders", json!({"first": 1})).await;
    assert_failure(&refused, "claims_need_oauth", "unexpected", "PINGUARD_AUTH");
}
