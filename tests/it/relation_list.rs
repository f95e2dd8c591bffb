//! The list of relations that an editor offers: what is on it, in which order, in which words.

use analyst::Failure;
use analyst::relation_list::{self, RelationOption};

use crate::client::{open, soon};
use crate::support;

const SCHEMAS: &str = r#"
CREATE SCHEMA app;
CREATE SCHEMA "Sales 2026";
CREATE SCHEMA hidden;
CREATE TABLE app.orders (id int PRIMARY KEY, gone int, note text);
ALTER TABLE app.orders DROP COLUMN gone;
COMMENT ON TABLE app.orders IS E'one row\n  for each\torder';
CREATE TABLE app."Order" (id int);
CREATE TABLE app.none ();
CREATE TABLE app.days (at date) PARTITION BY RANGE (at);
CREATE TABLE app.days_1 PARTITION OF app.days FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE app.partly (shown int, secret int);
CREATE TABLE app.unread (a int);
CREATE TABLE hidden.away (a int);
CREATE SEQUENCE app.numbers;
CREATE TYPE app.pair AS (a int, b int);
CREATE VIEW app.zz AS SELECT 1 AS a;
CREATE MATERIALIZED VIEW app.totals AS SELECT 1 AS a, 2 AS b;
CREATE VIEW "Sales 2026".daily AS SELECT 1 AS a;
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE app.far (a int, b int) SERVER elsewhere;
CREATE TEMP TABLE mine (a int);
"#;

async fn options(url: &str) -> Vec<RelationOption> {
    relation_list::options(soon(20), async || Ok(open(url).await)).await
}

#[tokio::test]
async fn what_can_be_read_is_listed_by_kind_schema_and_name() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(SCHEMAS).await;
        let login = db.reader(&["app", "\"Sales 2026\"", "hidden"]).await;
        let role = &login.role;
        db.run(&format!(
            "REVOKE SELECT ON app.partly, app.unread FROM {role}; GRANT SELECT (shown) ON app.partly TO {role};
             REVOKE USAGE ON SCHEMA hidden FROM {role}"
        ))
        .await;
        let expected = [
            ("app.totals", "materialized view · 2 columns"),
            ("\"Sales 2026\".daily", "view · 1 column"),
            ("app.zz", "view · 1 column"),
            ("app.\"Order\"", "table · 1 column"),
            ("app.days", "partitioned table · 1 column"),
            ("app.far", "foreign table, to be allowed as well · 2 columns"),
            ("app.\"none\"", "table · 0 columns"),
            ("app.orders", "table · 2 columns · one row for each order"),
            ("app.partly", "table · 1 column"),
        ];
        let listed = options(&login.url).await;
        let found: Vec<(&str, &str)> =
            listed.iter().map(|option| (option.name.as_str(), option.description.as_str())).collect();
        assert_eq!(found, expected);
        assert!(listed.iter().all(|option| option.label == option.name));
        // What is listed can be stored as a selection.
        for option in &listed {
            assert_eq!(option.name.parse::<pg::name::RelationName>().unwrap().to_string(), option.name);
        }
        let nobody = db.plain_login("nobody", "").await;
        assert_eq!(options(&nobody.url).await, []);
    })
    .await;
}

#[tokio::test]
async fn a_list_ends_after_two_thousand_relations() {
    let db = support::database(18).await;
    db.run("DO $$ BEGIN FOR i IN 1..2010 LOOP EXECUTE format('CREATE TABLE t%s (a int)', to_char(i, 'FM0000')); END LOOP; END $$").await;
    db.run("CREATE VIEW zz AS SELECT 1 AS a").await;
    let listed = options(&db.url).await;
    assert_eq!(listed.len(), 2000);
    assert_eq!((listed[0].name.as_str(), listed[1999].name.as_str()), ("public.zz", "public.t1999"));
}

#[tokio::test]
async fn whatever_goes_wrong_is_one_option_with_the_message() {
    let failed = relation_list::options(soon(20), async || Err(Failure::argument("no way in"))).await;
    let expected = RelationOption {
        name: "error".to_owned(),
        label: "could not list tables and views".to_owned(),
        description: "no way in".to_owned(),
    };
    assert_eq!(failed, [expected]);
    let db = support::database(18).await;
    let ended = async || {
        let connection = open(&db.url).await;
        db.end_connections().await;
        Ok(connection)
    };
    let lost = relation_list::options(soon(20), ended).await;
    assert_eq!((lost.len(), lost[0].name.as_str()), (1, "error"));
    assert!(lost[0].description.contains("; try once more"), "{lost:?}");
}
