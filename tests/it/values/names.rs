//! Names of types, worked out here, against the server's `format_type`.

use pg::types::{TypeBook, unknown};

use crate::support;

/// A type with a modifier, as one would write it.
const MODIFIED: &[&str] = &[
    "varchar(1)",
    "varchar(10)",
    "varchar(10485760)",
    "char(1)",
    "char(10485760)",
    "numeric(1)",
    "numeric(10,2)",
    "numeric(1000,1000)",
    "numeric(1000,0)",
    "numeric(38,37)",
    "time(0)",
    "time(6)",
    "timetz(0)",
    "timetz(3)",
    "timestamp(0)",
    "timestamp(6)",
    "timestamptz(0)",
    "timestamptz(6)",
    "interval(0)",
    "interval(6)",
    "interval year",
    "interval month",
    "interval day",
    "interval hour",
    "interval minute",
    "interval second",
    "interval second(0)",
    "interval second(6)",
    "interval year to month",
    "interval day to hour",
    "interval day to minute",
    "interval day to second",
    "interval day to second(3)",
    "interval hour to minute",
    "interval hour to second",
    "interval hour to second(1)",
    "interval minute to second",
    "interval minute to second(2)",
    "bit(1)",
    "bit(83886080)",
    "varbit(1)",
    "varbit(100)",
];

/// Since 15 a scale may be negative or above the precision.
const MODIFIED_SINCE_15: &[&str] =
    &["numeric(3,-2)", "numeric(1,-1000)", "numeric(1,1000)", "numeric(1000,-1)"];

#[tokio::test]
async fn names_of_built_in_types_are_the_servers() {
    support::each_major(async |server| {
        let sql = "SELECT oid, format_type(oid, -1) FROM pg_type WHERE oid < 10000";
        let rows = server.admin().await.query(sql, &[]).await.unwrap();
        assert!(rows.len() > 190);
        for row in rows {
            let (oid, name): (u32, String) = (row.get(0), row.get(1));
            assert_eq!(unknown([(oid, -1)]), [], "{name}");
            assert_eq!(TypeBook::default().resolve(oid, -1).name, name);
        }
    })
    .await;
}

#[tokio::test]
async fn names_with_modifiers_are_the_servers() {
    support::each_major(async |server| {
        let client = server.admin().await;
        let since_15 = if server.major >= 15 { MODIFIED_SINCE_15 } else { &[] };
        for written in MODIFIED.iter().chain(since_15) {
            let table = format!("CREATE TEMP TABLE modified (a {written}, b {written}[])");
            client.batch_execute(&table).await.unwrap();
            let sql = "SELECT atttypid, atttypmod, format_type(atttypid, atttypmod) FROM pg_attribute \
                       WHERE attrelid = 'modified'::regclass AND attnum > 0 ORDER BY attnum";
            for row in client.query(sql, &[]).await.unwrap() {
                let (oid, modifier, name): (u32, i32, String) = (row.get(0), row.get(1), row.get(2));
                assert_eq!(unknown([(oid, modifier)]), [], "{written}");
                assert_eq!(TypeBook::default().resolve(oid, modifier).name, name);
                assert_eq!(TypeBook::default().resolve(oid, modifier).modifier, modifier);
            }
            client.batch_execute("DROP TABLE modified").await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn built_in_types_are_arrays_exactly_where_the_server_prints_them_as_such() {
    support::each_major(async |server| {
        let sql = "SELECT t.oid, t.typoutput = 'array_out'::regproc, e.typdelim FROM pg_type t \
                   LEFT JOIN pg_type e ON e.oid = t.typelem WHERE t.oid < 10000";
        for row in server.admin().await.query(sql, &[]).await.unwrap() {
            let (oid, is_array): (u32, bool) = (row.get(0), row.get(1));
            let form = TypeBook::default().resolve(oid, -1).form;
            match form {
                pg::types::Form::Array { delimiter, .. } => {
                    assert!(is_array, "{oid}");
                    assert_eq!(i8::try_from(delimiter).unwrap(), row.get::<_, i8>(2), "{oid}");
                }
                _ => assert!(!is_array, "{oid}"),
            }
        }
    })
    .await;
}
