//! Types that a database defines itself: their names, and the rule that their values follow.

use pg::SearchPath;
use pg::types::FACTS_SQL;
use serde_json::{Value, json};

use super::reading::{Reader, Reading, read};
use crate::support;

const TYPES: &str = "
CREATE SCHEMA app;
CREATE TYPE app.mood AS ENUM ('ok', 'so so', 'bad');
CREATE DOMAIN app.email AS text CHECK (VALUE LIKE '%@%');
CREATE DOMAIN app.amount AS numeric(12,2);
CREATE DOMAIN app.counter AS int8;
CREATE DOMAIN app.doc AS jsonb;
CREATE DOMAIN app.flags AS bool[];
CREATE DOMAIN app.inner_flags AS app.flags;
CREATE TYPE app.pair AS (a int, b text);
CREATE TYPE app.span AS RANGE (subtype = float8, multirange_type_name = app.spans);
CREATE TABLE app.\"Odd Name\" (
    mood app.mood, mail app.email, amount app.amount, counter app.counter, doc app.doc, flags app.flags,
    inner_flags app.inner_flags, pair app.pair, span app.span, moods app.mood[], docs app.doc[], counters app.counter[],
    flag_lists app.flags[], pairs app.pair[], spans app.spans, short varchar(5)[]);
INSERT INTO app.\"Odd Name\" VALUES (
    'so so', 'a@b', 1.5, 9007199254740993, '{\"a\": 1.10}', '{t,f,NULL}',
    '{t}', '(1,\"a b\")', '[1,2]', '{ok,\"so so\",NULL}', ARRAY['{\"a\": 1}'::jsonb]::app.doc[], '{1,9007199254740993}',
    '{\"{t}\",\"{}\"}', ARRAY['(1,x)'::app.pair], '{[1,2],[3,4)}', '{abc}');";

#[tokio::test]
async fn values_follow_the_rule_of_the_type_below() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run(TYPES).await;
        let Reading { rows, .. } = read(&database.url, "SELECT * FROM app.\"Odd Name\"").await;
        let document: Value = serde_json::from_str(r#"{"a": 1.10}"#).unwrap();
        let expected = json!([
            "so so", "a@b", "1.50", "9007199254740993", document, [true, false, null],
            [true], "(1,\"a b\")", "[1,2]", ["ok", "so so", null], [{"a": 1}], [1, "9007199254740993"],
            [[true], []], ["(1,x)"], "{[1,2],[3,4)}", ["abc"]
        ]);
        assert_eq!(json!(rows), json!([expected]));
    })
    .await;
}

#[tokio::test]
async fn every_column_type_is_named_as_the_server_names_it() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run(TYPES).await;
        // The columns' own types, which name a domain where a result's description would not.
        let sql = "SELECT atttypid, atttypmod, format_type(atttypid, atttypmod) FROM pg_attribute \
                   WHERE attrelid = 'app.\"Odd Name\"'::regclass AND attnum > 0";
        let rows = database.client().await.query(sql, &[]).await.unwrap();
        let types: Vec<(u32, i32)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
        let book = Reader::open(&database.url).await.facts(&types, None).await;
        for (row, (oid, modifier)) in rows.iter().zip(&types) {
            assert_eq!(book.resolve(*oid, *modifier).name, row.get::<_, String>(2));
        }
        assert_eq!(rows.len(), 16);
    })
    .await;
}

#[tokio::test]
async fn a_row_type_and_a_dropped_type_are_text() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run(TYPES).await;
        let Reading { rows, types, .. } =
            read(&database.url, "SELECT p FROM (SELECT pair FROM app.\"Odd Name\") p").await;
        assert_eq!((rows, types), (vec![vec![json!(r#"("(1,""a b"")")"#)]], vec!["record".to_owned()]));
        let Reading { types, .. } = read(&database.url, "SELECT t FROM app.\"Odd Name\" t").await;
        assert_eq!(types, ["app.\"Odd Name\""]);
        let book = Reader::open(&database.url).await.facts(&[(4_000_000_000, -1)], None).await;
        assert_eq!(book.resolve(4_000_000_000, -1).name, "oid 4000000000");
    })
    .await;
}

#[tokio::test]
async fn the_facts_query_cannot_be_led_astray_by_the_search_path() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run(TYPES).await;
        // Everything that an unqualified name could reach first.
        database
            .run(
                "CREATE SCHEMA trap;
                 CREATE TABLE trap.pg_type (oid oid, typname text);
                 CREATE FUNCTION trap.unnest(oid[]) RETURNS SETOF oid LANGUAGE sql AS 'SELECT (1/0)::oid';
                 CREATE FUNCTION trap.format_type(oid, int) RETURNS text LANGUAGE sql AS 'SELECT (1/0)::text';
                 CREATE FUNCTION trap.no(oid, oid) RETURNS bool LANGUAGE sql AS 'SELECT 1/0 = 1';
                 CREATE FUNCTION trap.no(\"char\", \"char\") RETURNS bool LANGUAGE sql AS 'SELECT 1/0 = 1';
                 CREATE OPERATOR trap.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = trap.no);
                 CREATE OPERATOR trap.= (LEFTARG = \"char\", RIGHTARG = \"char\", FUNCTION = trap.no);
                 CREATE OPERATOR trap.<> (LEFTARG = \"char\", RIGHTARG = \"char\", FUNCTION = trap.no)",
            )
            .await;
        let client = database.client().await;
        let oid: u32 = client.query_one("SELECT 'app.mood[]'::regtype::oid", &[]).await.unwrap().get(0);
        client.batch_execute("SET search_path = trap, pg_catalog").await.unwrap();
        let path = SearchPath::new(["trap", "pg_catalog"]).unwrap();
        let book = Reader::open(&database.url).await.facts(&[(oid, -1)], Some(&path)).await;
        assert_eq!(book.resolve(oid, -1).name, "app.mood[]");
        // The traps do spring on a text that leaves names to the search path.
        for (qualified, bare) in [
            ("OPERATOR(pg_catalog.=)", "="),
            ("OPERATOR(pg_catalog.<>)", "<>"),
            ("pg_catalog.unnest", "unnest"),
            ("pg_catalog.format_type", "format_type"),
            ("pg_catalog.pg_type", "pg_type"),
        ] {
            let sql = FACTS_SQL
                .replace(qualified, bare)
                .replace("$1", &format!("'{{{oid}}}'"))
                .replace("$2", "'{-1}'");
            assert!(client.simple_query(&sql).await.is_err(), "{bare}");
        }
    })
    .await;
}
