//! Every built-in type, alone and in an array, compared with what the server's output function prints.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::reading::{Reader, Reading, read};
use crate::support;

/// Literals of every built-in type that has some; each also stands in an array.
const SAMPLES: &[(&str, &[&str])] = &[
    ("boolean", &["t", "f"]),
    ("bytea", &["", r"\xdeadbeef", r"\x00ff"]),
    ("\"char\"", &["r", "", "\""]),
    ("name", &["x", "A \"b\", c"]),
    ("bigint", &["0", "9007199254740991", "9007199254740992", "-9007199254740991", "-9223372036854775808"]),
    ("smallint", &["-32768", "32767"]),
    ("integer", &["-2147483648", "7"]),
    ("int2vector", &["", "1 2 3"]),
    ("oidvector", &["", "1 2 3"]),
    ("regproc", &["now", "-"]),
    ("regprocedure", &["lower(text)"]),
    ("regoper", &["|/"]),
    ("regoperator", &["+(integer,integer)"]),
    ("regclass", &["pg_class", "4294967295"]),
    ("regtype", &["timestamp with time zone"]),
    ("regconfig", &["english"]),
    ("regdictionary", &["simple"]),
    ("regnamespace", &["pg_catalog"]),
    ("regrole", &["postgres"]),
    ("regcollation", &["\"C\""]),
    ("text", &["", "NULL", "null", " é 😀 ", "a,b", "\"quoted\"", r"back\slash", "{x}", "a\nb\tc", "1e5"]),
    ("oid", &["0", "4294967295"]),
    ("tid", &["(0,1)"]),
    ("xid", &["10", "4294967295"]),
    ("cid", &["3"]),
    ("xid8", &["9007199254740991", "18446744073709551615"]),
    (
        "json",
        &[
            "null",
            "true",
            "1.10",
            "-0",
            "1E5",
            "[]",
            "{}",
            r#""a""#,
            r#"{"id":9007199254740993,"x":1.10,"e":1e400}"#,
            r#" { "z" : [ 1 , { } ] , "a" : null } "#,
        ],
    ),
    (
        "jsonb",
        &["null", "1.10", r#"{"id":9007199254740993,"x":1.10,"e":1e400}"#, r#"["é","\ud83d\ude00\n\""]"#],
    ),
    ("jsonpath", &["$.a[*] ? (@ > 1)"]),
    ("xml", &["<a b=\"c\">é</a>", "text"]),
    ("point", &["(1,-2.5)"]),
    ("lseg", &["[(0,0),(1,1)]"]),
    ("path", &["((0,0),(1,1))", "[(0,0),(1,1)]"]),
    ("box", &["(1,1),(0,0)"]),
    ("polygon", &["((0,0),(1,1),(2,0))"]),
    ("line", &["{1,2,3}"]),
    ("circle", &["<(1,2),3>"]),
    ("cidr", &["10.0.0.0/8"]),
    ("inet", &["::1", "10.1.2.3/8"]),
    ("macaddr", &["08:00:2b:01:02:03"]),
    ("macaddr8", &["08:00:2b:01:02:03:04:05"]),
    ("real", &["0", "-0", "1e-10", "3.4028235e+38", "0.1", "NaN", "-Infinity"]),
    (
        "double precision",
        &["-0", "1e+16", "1.7976931348623157e+308", "5e-324", "0.1", "NaN", "Infinity", "-Infinity"],
    ),
    ("money", &["$1,234.50", "-$0.01"]),
    ("aclitem", &["postgres=r/postgres"]),
    ("bpchar", &["ab", "ab   "]),
    ("character varying", &["abc"]),
    ("date", &["2026-01-01", "0044-03-15 BC", "infinity", "-infinity", "5874897-12-31"]),
    ("time without time zone", &["00:00", "24:00:00", "01:02:03.000004"]),
    ("time with time zone", &["01:02:03.000004+02", "24:00:00-15:59"]),
    ("timestamp without time zone", &["2026-01-01 00:00", "294276-01-01", "infinity", "4713-01-01 BC"]),
    ("timestamp with time zone", &["2026-07-01 12:00 Europe/Berlin", "-infinity"]),
    ("interval", &["1 year 2 mons 3 days 04:05:06.789", "-1 day +1:00", "0", "-1 mons +2 days -00:00:00.1"]),
    ("\"bit\"", &["101", "0"]),
    ("bit varying", &["", "10"]),
    (
        "numeric",
        &[
            "1.10",
            "NaN",
            "Infinity",
            "-Infinity",
            "0.000",
            "1e-20",
            "12345678901234567890123456789012345.678901234567890",
        ],
    ),
    ("refcursor", &["c"]),
    ("uuid", &["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("txid_snapshot", &["10:20:10,14"]),
    ("pg_snapshot", &["10:20:10,14"]),
    ("pg_lsn", &["16/B374D848"]),
    ("tsvector", &["'a':1A 'it''s':2"]),
    ("tsquery", &["'a' & !'b c'"]),
    ("int4range", &["[1,3)", "empty", "(,)"]),
    ("int8range", &["[1,9223372036854775807)"]),
    ("numrange", &["[1.10,2.20]"]),
    ("tsrange", &["[2026-01-01 00:00,)"]),
    ("tstzrange", &["(,2026-01-01 00:00+00]"]),
    ("daterange", &["[2026-01-01,2026-02-01)"]),
    ("int4multirange", &["{}", "{[1,3),[5,7)}"]),
    ("int8multirange", &["{[1,3)}"]),
    ("nummultirange", &["{[1.10,2.20]}"]),
    ("tsmultirange", &["{[2026-01-01 00:00,)}"]),
    ("tstzmultirange", &["{(,2026-01-01 00:00+00]}"]),
    ("datemultirange", &["{[2026-01-01,2026-02-01)}"]),
];

/// Types without a literal: their input functions refuse every text.
const WITHOUT_LITERALS: [&str; 7] = [
    "gtsvector",
    "pg_brin_bloom_summary",
    "pg_brin_minmax_multi_summary",
    "pg_dependencies",
    "pg_mcv_list",
    "pg_ndistinct",
    "pg_node_tree",
];

/// What a value must be as JSON, by the text that the server prints.
fn expected(type_name: &str, text: &str) -> Value {
    let string = || json!(text);
    match type_name {
        "boolean" => json!(text == "t"),
        "bigint" | "smallint" | "integer" | "oid" | "xid" | "cid" | "xid8" => match text.parse::<i64>() {
            Ok(number) if number.unsigned_abs() < 1 << 53 => json!(number),
            _ => string(),
        },
        "real" | "double precision" => match text {
            "NaN" | "Infinity" | "-Infinity" => string(),
            digits => serde_json::from_str(digits).unwrap(),
        },
        "json" | "jsonb" => serde_json::from_str(text).unwrap(),
        _ => string(),
    }
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[tokio::test]
async fn every_built_in_type_reads_as_the_server_prints_it() {
    support::each_major(async |server| {
        let database = server.database().await;
        let mut reader = Reader::open(&database.url).await;
        let mut checked = 0;
        for (type_name, literals) in SAMPLES {
            for literal in *literals {
                let sample = format!("{}::{type_name}", quote(literal));
                // A cast to text would not do: it is not the output function for bool, bpchar and inet.
                let text = format!("format('%s', {sample})");
                // ARRAY[…] takes int2vector and oidvector for arrays of their elements.
                let list = match *type_name {
                    "int2vector" | "oidvector" => String::new(),
                    _ => format!(", ARRAY[{sample}, NULL, {sample}] AS l"),
                };
                let sql = format!("SELECT {sample} AS v, {text} AS t{list}");
                let Reading { types, rows, .. } = reader.read(&sql).await;
                let value = expected(type_name, rows[0][1].as_str().unwrap());
                assert_eq!(rows[0][0], value, "{sample}");
                assert_eq!(types[0], *type_name);
                if let Some(list) = rows[0].get(2) {
                    assert_eq!(*list, json!([value, null, value]), "{sample} in an array");
                    assert_eq!(types[2], format!("{type_name}[]"));
                }
                checked += 1;
            }
        }
        assert!(checked > SAMPLES.len());
    })
    .await;
}

#[tokio::test]
async fn no_built_in_type_is_without_a_sample() {
    support::each_major(async |server| {
        let rows = server
            .admin()
            .await
            .query(
                "SELECT format_type(oid, -1) FROM pg_type WHERE oid < 10000 AND typtype IN ('b', 'r', 'm') \
                 AND typoutput <> 'array_out'::regproc",
                &[],
            )
            .await
            .unwrap();
        let served: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
        let sampled = SAMPLES.iter().map(|(name, _)| *name).chain(WITHOUT_LITERALS);
        assert_eq!(sampled.map(str::to_owned).collect::<BTreeSet<_>>(), served);
    })
    .await;
}

#[tokio::test]
async fn values_of_the_catalogs_are_read() {
    support::each_major(async |server| {
        let database = server.database().await;
        database
            .run(
                "CREATE TABLE t (a int, b int); INSERT INTO t SELECT i % 3, i % 3 FROM generate_series(1, 300) i; \
                 CREATE VIEW v AS SELECT a FROM t; CREATE STATISTICS s ON a, b FROM t; ANALYZE t; GRANT SELECT ON t TO PUBLIC; \
                 CREATE FUNCTION vouched(OUT n pg_ndistinct, OUT d pg_dependencies, OUT m pg_mcv_list) STABLE LANGUAGE sql \
                 AS 'SELECT stxdndistinct, stxddependencies, stxdmcv FROM pg_statistic_ext_data'",
            )
            .await;
        for (expression, from) in [
            ("relacl", "pg_class WHERE relname = 't'"),
            ("ev_action", "pg_rewrite WHERE ev_class = 'v'::regclass"),
            ("n", "vouched()"),
            ("d", "vouched()"),
            ("m", "vouched()"),
            ("most_common_vals", "pg_stats WHERE tablename = 't' AND attname = 'a'"),
            ("most_common_freqs", "pg_stats WHERE tablename = 't' AND attname = 'a'"),
            ("indkey", "pg_index WHERE indexrelid = 'pg_type_oid_index'::regclass"),
        ] {
            let sql = format!("SELECT {expression} AS v, ({expression})::text AS t FROM {from}");
            let Reading { rows, cut, .. } = read(&database.url, &sql).await;
            let (value, text) = (&rows[0][0], rows[0][1].as_str().unwrap());
            match value {
                Value::Array(items) => assert_eq!(items.len(), text.split(',').count(), "{expression}"),
                _ => assert_eq!(value, text, "{expression}"),
            }
            assert!(cut == 0 || expression == "ev_action" || expression == "stxdmcv", "{expression}");
        }
    })
    .await;
}

#[tokio::test]
async fn void_unknown_and_record_are_text() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run("CREATE FUNCTION vouched() RETURNS void STABLE LANGUAGE plpgsql AS 'BEGIN END'").await;
        let sql = "SELECT vouched() AS v, 'x' AS u, ROW(1, 'a', NULL) AS r, NULL AS n";
        let reading = read(&database.url, sql).await;
        assert_eq!(reading.types, ["void", "text", "record", "text"]);
        assert_eq!(reading.rows, [[json!(""), json!("x"), json!("(1,a,)"), Value::Null]]);
        assert_eq!(
            read(&database.url, "SELECT FROM generate_series(1, 3)").await.rows,
            vec![Vec::<Value>::new(); 3]
        );
    })
    .await;
}
