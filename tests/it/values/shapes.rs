//! Shapes that break other readers: odd arrays, odd JSON, long values, equal names.

use pg::values::RowFormat;
use serde_json::{Value, json};

use super::reading::{Reader, Reading, read};
use crate::support;

async fn check(expressions: &[(&str, Value)]) {
    support::each_major(async |server| {
        let database = server.database().await;
        let mut reader = Reader::open(&database.url).await;
        for (expression, expected) in expressions {
            let Reading { rows, cut, .. } = reader.read(&format!("SELECT {expression}")).await;
            assert_eq!(rows, [[expected.clone()]], "{expression}");
            assert_eq!(cut, 0);
        }
    })
    .await;
}

#[tokio::test]
async fn arrays_are_lists_by_the_elements_rule() {
    check(&[
        ("'{{1,2},{3,4}}'::int4[]", json!([[1, 2], [3, 4]])),
        ("'{}'::text[]", json!([])),
        ("'{1,NULL}'::int8[]", json!([1, null])),
        (r#"'{"NULL",NULL,"a,b","\"","",null}'::text[]"#, json!(["NULL", null, "a,b", "\"", "", null])),
        ("'{{{a},{b}},{{c},{d}}}'::text[]", json!([[["a"], ["b"]], [["c"], ["d"]]])),
        ("ARRAY['NaN'::float8, 1.5]", json!(["NaN", 1.5])),
        ("'{(1,1),(0,0);(2,2),(1,1)}'::box[]", json!(["(1,1),(0,0)", "(2,2),(1,1)"])),
        (
            r#"ARRAY['{"a": [1.10]}'::jsonb, 'null', NULL, '"x"']"#,
            json_text(r#"[{"a": [1.10]}, null, null, "x"]"#),
        ),
        ("ARRAY[9007199254740993, 1]", json!(["9007199254740993", 1])),
        ("ARRAY[ROW(1, 'a b'), ROW(2, NULL)]", json!(["(1,\"a b\")", "(2,)"])),
        (r"ARRAY['\x00ff'::bytea, '']", json!(["\\x00ff", "\\x"])),
        ("ARRAY['a'::char(3)]", json!(["a  "])),
    ])
    .await;
}

#[tokio::test]
async fn arrays_with_other_lower_bounds_stay_text() {
    check(&[
        ("'[0:1]={5,6}'::int4[]", json!("[0:1]={5,6}")),
        ("'[1:1][-2:-1]={{5,6}}'::int4[]", json!("[1:1][-2:-1]={{5,6}}")),
        ("'[1:2]={5,6}'::int4[]", json!([5, 6])),
    ])
    .await;
}

#[tokio::test]
async fn json_keeps_its_digits_or_stays_text() {
    check(&[
        (
            r#"'{"id":9007199254740993,"x":1.10,"e":1e400}'::json"#,
            json_text(r#"{"id":9007199254740993,"x":1.10,"e":1e400}"#),
        ),
        (r#"'{"a":1,"a":2}'::json"#, json!(r#"{"a":1,"a":2}"#)),
        (r#"'{"a":1,"a":2}'::jsonb"#, json!({"a": 2})),
        (r#"'"\ud800"'::json"#, json!(r#""\ud800""#)),
        (r#"'{"a":"\u0000"}'::json"#, json!(r#"{"a":"\u0000"}"#)),
        (
            r#"'{"$serde_json::private::Number":"1"}'::jsonb"#,
            json!(r#"{"$serde_json::private::Number": "1"}"#),
        ),
        ("(repeat('[', 100) || repeat(']', 100))::json", json_text(&("[".repeat(100) + &"]".repeat(100)))),
        ("(repeat('[', 101) || repeat(']', 101))::json", json!("[".repeat(101) + &"]".repeat(101))),
    ])
    .await;
}

#[tokio::test]
async fn small_types_keep_what_they_print() {
    check(&[
        ("'ab'::char(5)", json!("ab   ")),
        ("'$1,234.50'::money", json!("$1,234.50")),
        ("timestamp '2026-01-01 00:00'", json!("2026-01-01 00:00:00")),
        ("timestamptz '2026-07-01 12:00 Europe/Berlin'", json!("2026-07-01 10:00:00+00")),
        ("1.10::numeric", json!("1.10")),
        ("date '0044-03-15 BC'", json!("0044-03-15 BC")),
    ])
    .await;
}

#[tokio::test]
async fn long_values_are_cut_and_state_their_length() {
    support::each_major(async |server| {
        let database = server.database().await;
        let sql = "SELECT repeat('é', 1000000) AS t, decode(repeat('00', 1000000), 'hex') AS b, \
                   array_fill(7, '{5000}') AS l, to_jsonb(repeat('x', 5000)) AS j, repeat('9', 5000)::numeric AS n, \
                   repeat('é', 4000) AS whole";
        let Reading { rows, cut, .. } = read(&database.url, sql).await;
        let text = |at: usize| rows[0][at].as_str().unwrap();
        assert_eq!(text(0), "é".repeat(4000) + "… [cut: 4000 of 1000000 characters]");
        assert_eq!(text(1), "\\x".to_owned() + &"00".repeat(1999) + "… [cut: 1999 of 1000000 bytes]");
        assert!(text(2).ends_with("… [cut: 4000 of 10001 characters]"));
        assert!(text(3).ends_with("… [cut: 4000 of 5002 characters]"));
        assert!(text(4).ends_with("… [cut: 4000 of 5000 characters]"));
        assert_eq!(text(5), "é".repeat(4000));
        assert_eq!(cut, 5);
    })
    .await;
}

#[tokio::test]
async fn equal_names_survive_in_every_format() {
    let database = support::database(18).await;
    let sql = "SELECT 1 AS id, 'NULL' AS id, NULL AS n, '' AS e, E'a\\nb' AS c";
    let mut reader = Reader::open(&database.url).await;
    assert_eq!(
        reader.read(sql).await.rows,
        [[json!(1), json!("NULL"), Value::Null, json!(""), json!("a\nb")]]
    );
    let (_, page) = reader.page(sql, RowFormat::Objects).await;
    assert_eq!(page.rows, json!([{"id": 1, "id_2": "NULL", "n": null, "e": "", "c": "a\nb"}]));
    let (_, page) = reader.page(sql, RowFormat::Table).await;
    let table =
        "id | id     | n    | e  | c\n---+--------+------+----+--------\n 1 | 'NULL' | NULL | '' | E'a\\nb'";
    assert_eq!(page.rows, json!(table));
}

#[tokio::test]
async fn settings_of_the_database_change_no_value() {
    support::each_major(async |server| {
        let database = server.database().await;
        let settings = [
            ("datestyle", "'German, DMY'"),
            ("intervalstyle", "'sql_standard'"),
            ("bytea_output", "'escape'"),
            ("extra_float_digits", "-10"),
            ("timezone", "'America/New_York'"),
            ("xmloption", "'document'"),
            ("standard_conforming_strings", "off"),
            ("array_nulls", "off"),
        ];
        for (name, value) in settings {
            database.run(&format!("ALTER DATABASE {} SET {name} = {value}", database.name)).await;
        }
        let sql = r"SELECT date '2026-12-31', interval '1 day -1 hour', decode('00ff', 'hex'), 0.1::float8 + 0.2,
                           timestamptz '2026-01-01 00:00+00', '<a/><b/>'::xml, 'a\b', ARRAY[1, NULL]";
        let Reading { rows, .. } = read(&database.url, sql).await;
        let expected = json!([
            "2026-12-31", "1 day -01:00:00", r"\x00ff", 0.300_000_000_000_000_04,
            "2026-01-01 00:00:00+00", "<a/><b/>", r"a\b", [1, null]
        ]);
        assert_eq!(json!(rows[0]), expected);
    })
    .await;
}

/// A document whose digits serde_json's macro would not keep.
fn json_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
