//! The wire client on real servers: what a statement leaves behind (nothing), what it costs, what it says.

use pg::{Ask, Memory, ReadError, ReadPlan, SearchPath, Stopped};
use serde_json::json;

use crate::client::{open, plan, read, read_remembering, read_with, soon, texts, value, value_by};
use crate::support::{self, each_major};

#[tokio::test]
async fn a_statement_takes_two_flights_on_every_major() {
    each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TYPE mood AS ENUM ('ok', 'bad'); CREATE TABLE t (m mood, n int); INSERT INTO t VALUES ('ok', 1)").await;
        let mut connection = open(&db.url).await;
        assert_eq!(connection.server_major(), u32::from(server.major));
        assert_eq!(connection.parameter("in_hot_standby"), Some("off"));
        for (sql, parameters) in [
            ("SELECT 1", vec![]),
            ("SELECT m, n, ARRAY[m] FROM t WHERE n = $1", vec![json!(1)]),
            ("EXPLAIN SELECT 1", vec![]),
            ("SHOW server_version", vec![]),
        ] {
            let memory = Memory::default();
            read_remembering(&mut connection, &memory, sql, &parameters, &plan()).await.unwrap();
            let before = connection.flights();
            read_remembering(&mut connection, &memory, sql, &parameters, &plan()).await.unwrap();
            assert_eq!(connection.flights() - before, 2, "{sql}");
        }
        assert!(connection.is_reusable());
        connection.close().await;
    })
    .await;
}

#[tokio::test]
async fn types_that_are_not_built_in_are_named_by_the_server() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE SCHEMA app; CREATE TYPE app.mood AS ENUM ('ok', 'bad'); \
             CREATE DOMAIN app.label AS varchar(9); CREATE DOMAIN app.labels AS app.label[]; \
             CREATE TABLE app.t (m app.mood, l app.label, ls app.labels, p point); \
             INSERT INTO app.t VALUES ('ok', 'x', '{a}', '(1,2)')",
        )
        .await;
        let mut connection = open(&db.url).await;
        let raw = read(&mut connection, "SELECT m, ARRAY[m] AS ms, p, ls FROM app.t").await.unwrap();
        let names: Vec<_> = raw
            .columns
            .iter()
            .map(|column| raw.type_facts.resolve(column.type_oid, column.type_modifier).name.into_owned())
            .collect();
        assert_eq!(names, ["app.mood", "app.mood[]", "point", "app.labels"]);
        assert_eq!(texts(&raw), [["ok", "{ok}", "(1,2)", "{a}"]]);
        assert_eq!(raw.command_tag, "SELECT 1");
        assert!(raw.stopped.is_none() && raw.notices.is_empty());
    })
    .await;
}

#[tokio::test]
async fn settings_of_a_role_change_no_value() {
    each_major(async |server| {
        let db = server.database().await;
        let login = db.login("odd", "").await;
        for setting in [
            "datestyle = 'German'",
            "intervalstyle = 'sql_standard'",
            "bytea_output = 'escape'",
            "extra_float_digits = -10",
            "timezone = 'America/New_York'",
            "standard_conforming_strings = off",
            "search_path = ''",
            "xmloption = 'document'",
            "client_min_messages = 'debug5'",
            "array_nulls = off",
        ] {
            db.run(&format!("ALTER ROLE {} SET {setting}", login.role)).await;
        }
        let mut connection = open(&login.url).await;
        let sql = r"SELECT timestamptz '2026-01-02 03:04:05Z', interval '1 year 2 mons -3 days', '\xdead'::bytea,
                    0.1::float8 + 0.2::float8, 'a\b', date '2026-01-02', 12.5::money, '{NULL}'::int[]";
        let raw = read(&mut connection, sql).await.unwrap();
        assert_eq!(
            texts(&raw),
            [[
                "2026-01-02 03:04:05+00",
                "1 year 2 mons -3 days",
                r"\xdead",
                "0.30000000000000004",
                r"a\b",
                "2026-01-02",
                "$12.50",
                "{NULL}"
            ]]
        );
        // Nothing of it outlives the transaction.
        let admin = db.client().await;
        let rows = admin
            .query_one("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pinguard' AND state = 'idle' AND query = 'ROLLBACK' AND datname = current_database()", &[])
            .await
            .unwrap();
        assert_eq!(rows.get::<_, i64>(0), 1);
    })
    .await;
}

#[tokio::test]
async fn every_wall_is_up_while_a_statement_runs() {
    each_major(async |server| {
        let db = server.database().await;
        // In the unit that pg_settings has, and vouched for by name: the guard does not tell every setting.
        db.run("CREATE FUNCTION told(text) RETURNS text STABLE LANGUAGE sql AS 'SELECT setting FROM pg_settings WHERE name = $1'").await;
        let mut connection = open(&db.url).await;
        let setting = async |connection: &mut pg::Connection, name: &str| {
            value_by(connection, "told", &format!("SELECT public.told('{name}')")).await
        };
        assert_eq!(setting(&mut connection, "transaction_read_only").await, "on");
        assert_eq!(setting(&mut connection, "transaction_isolation").await, "read committed");
        let timeout: u32 = setting(&mut connection, "statement_timeout").await.parse().unwrap();
        assert!((15_000..20_000).contains(&timeout), "{timeout}");
        assert_eq!(setting(&mut connection, "lock_timeout").await, "5000");
        assert_eq!(setting(&mut connection, "client_connection_check_interval").await, "1000");
        let idle: u32 =
            setting(&mut connection, "idle_in_transaction_session_timeout").await.parse().unwrap();
        assert!((20_000..26_000).contains(&idle), "{idle}");
        if server.major >= 17 {
            assert_ne!(setting(&mut connection, "transaction_timeout").await, "0");
        }
    })
    .await;
}

#[tokio::test]
async fn a_search_path_is_used_as_given() {
    let db = support::database(18).await;
    db.run("CREATE SCHEMA \"Sales, 2026\"; CREATE TABLE \"Sales, 2026\".t AS SELECT 7 AS n; CREATE SCHEMA \"q\"\"x\"").await;
    let mut connection = open(&db.url).await;
    let path = SearchPath::new(["q\"x", "Sales, 2026"]).unwrap();
    let plan = ReadPlan { search_path: Some(path), ..plan() };
    let raw =
        read_with(&mut connection, "SELECT n, current_schemas(false) FROM t", &[], &plan).await.unwrap();
    assert_eq!(texts(&raw), [["7", r#"{"q\"x","Sales, 2026"}"#]]);
    let error = read(&mut connection, "SELECT n FROM t").await.unwrap_err();
    assert_eq!(error.code(), "42P01");
}

#[tokio::test]
async fn parameters_become_what_the_server_infers() {
    let db = support::database(17).await;
    let mut connection = open(&db.url).await;
    for (sql, parameter, expected) in [
        ("SELECT $1::int8 + 1", json!(41), "42"),
        ("SELECT $1::int8", json!("5"), "5"),
        ("SELECT $1::text", json!(5), "5"),
        ("SELECT $1::text", json!("null"), "null"),
        ("SELECT $1::text", json!(""), ""),
        ("SELECT coalesce($1::text, 'none')", json!(null), "none"),
        ("SELECT $1::bool", json!(true), "t"),
        ("SELECT cardinality($1::text[])", json!(["a,b", null, "NULL", "\\\""]), "4"),
        ("SELECT ($1::text[])[3]", json!(["a", null, "NULL"]), "NULL"),
        ("SELECT array_dims($1::int[])", json!([[1, 2], [3, 4]]), "[1:2][1:2]"),
        ("SELECT $1::jsonb", json!([1, {"a": "b"}]), r#"[1, {"a": "b"}]"#),
        ("SELECT $1::json->>'a'", json!({"a": "\u{20ac}"}), "\u{20ac}"),
        ("SELECT ($1::jsonb[])[1]->>'a'", json!([{"a": 1}]), "1"),
        ("SELECT 3 = ANY($1)", json!([1, 2, 3]), "t"),
    ] {
        let raw = read_with(&mut connection, sql, std::slice::from_ref(&parameter), &plan()).await;
        let raw = raw.unwrap_or_else(|error| panic!("{sql} with {parameter}: {error}"));
        assert_eq!(texts(&raw), [[expected]], "{sql} with {parameter}");
    }
}

#[tokio::test]
async fn a_wrong_number_of_parameters_names_both_counts() {
    let db = support::database(16).await;
    let mut connection = open(&db.url).await;
    for (sql, parameters) in [("SELECT $1::int + $2::int", vec![json!(1)]), ("SELECT 1", vec![json!(1)])] {
        let error = read_with(&mut connection, sql, &parameters, &plan()).await.unwrap_err();
        assert!(matches!(error, ReadError::ParameterCount { .. }), "{error}");
        assert!(connection.is_reusable());
    }
    let error = read_with(&mut connection, "SELECT $1::text", &[json!("a\0b")], &plan()).await.unwrap_err();
    assert!(matches!(error, ReadError::ParameterNul { number: 1 }), "{error}");
    assert_eq!(value(&mut connection, "SELECT 1").await, "1");
}

#[tokio::test]
async fn an_error_is_told_with_its_place_in_the_callers_text() {
    each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'geheim')").await;
        let mut connection = open(&db.url).await;
        for (sql, code, position) in [
            ("SELECT nope FROM t", "42703", Some(8)),
            ("  SELECT 'äöü', nope FROM t", "42703", Some(17)),
            ("SELECT 1 FROM nowhere", "42P01", Some(15)),
            ("EXPLAIN SELECT nope FROM t", "42703", Some(16)),
            ("SELECT a / 0 FROM t", "22012", None),
            ("SELECT b::int FROM t", "22P02", None),
        ] {
            let error = read(&mut connection, sql).await.unwrap_err();
            assert_eq!((error.code(), error.server().unwrap().position), (code, position), "{sql}");
            assert!(connection.is_reusable(), "{sql}");
        }
        assert_eq!(value(&mut connection, "SELECT a FROM t").await, "1");
    })
    .await;
}

#[tokio::test]
async fn a_bad_parameter_is_the_callers_error_and_the_connection_lives_on() {
    let db = support::database(14).await;
    db.run("CREATE TYPE mood AS ENUM ('ok')").await;
    let mut connection = open(&db.url).await;
    let error = read_with(&mut connection, "SELECT $1::mood", &[json!("bad")], &plan()).await.unwrap_err();
    assert!(matches!(error, ReadError::Server(_)), "{error}");
    assert_eq!(error.code(), "22P02");
    assert!(connection.is_reusable());
}

#[tokio::test]
async fn odd_shapes_pass() {
    let db = support::database(15).await;
    let mut connection = open(&db.url).await;
    let raw = read(&mut connection, "SELECT 1, 2").await.unwrap();
    assert_eq!(
        raw.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["?column?", "?column?"]
    );
    assert_eq!(texts(&raw), [["1", "2"]]);
    let raw = read(&mut connection, "SELECT FROM generate_series(1, 3)").await.unwrap();
    assert_eq!((raw.columns.len(), raw.rows.len()), (0, 3));
    let raw = read(&mut connection, "SELECT NULL, ''").await.unwrap();
    assert_eq!(texts(&raw), [["<null>", ""]]);
    let many: Vec<_> = (0..1600).map(|column| column.to_string()).collect();
    let raw = read(&mut connection, &format!("SELECT {}", many.join(","))).await.unwrap();
    assert_eq!(texts(&raw), [many]);
    let raw = read(&mut connection, &format!("SELECT 1 AS {}", "x".repeat(70))).await.unwrap();
    assert_eq!(raw.notices.len(), 1, "the cut name is remarked");
}

#[tokio::test]
async fn reading_stops_at_the_limits_it_is_given() {
    let db = support::database(18).await;
    let series = "SELECT i, repeat('x', 100) FROM generate_series(1, 100) i";
    for (row_limit, rows, stopped) in
        [(99, 99, Some(Stopped::Rows)), (100, 100, None), (101, 100, None), (0, 0, Some(Stopped::Rows))]
    {
        let mut connection = open(&db.url).await;
        let plan = ReadPlan { row_limit, ..plan() };
        let raw = read_with(&mut connection, series, &[], &plan).await.unwrap();
        assert_eq!((raw.rows.len(), raw.stopped), (rows, stopped), "{row_limit}");
        assert_eq!(connection.is_reusable(), stopped.is_none());
    }
    let mut connection = open(&db.url).await;
    let plan = ReadPlan { raw_byte_budget: 1000, ..plan() };
    let raw = read_with(&mut connection, series, &[], &plan).await.unwrap();
    assert_eq!(raw.stopped, Some(Stopped::Bytes));
    assert!((8..11).contains(&raw.rows.len()), "{}", raw.rows.len());
}

#[tokio::test]
async fn the_catalog_answers_several_queries_in_one_flight() {
    each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE SCHEMA app; CREATE TYPE app.mood AS ENUM ('ok')").await;
        let mut connection = open(&db.url).await;
        let asks = [
            Ask { sql: "SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) $1", parameters: vec![Some("app".into())] },
            Ask { sql: "SELECT pg_catalog.format_type(oid, NULL), $1::pg_catalog.text FROM pg_catalog.pg_type WHERE typname OPERATOR(pg_catalog.=) 'mood'", parameters: vec![None] },
            Ask { sql: "SELECT 1 WHERE false", parameters: vec![] },
        ];
        let before = connection.flights();
        let tables = connection.catalog(&asks, None, soon(5)).await.unwrap();
        assert_eq!(connection.flights() - before, 1);
        let expected = vec![vec![vec![Some("app".to_owned())]], vec![vec![Some("app.mood".to_owned()), None]], vec![]];
        assert_eq!(tables, expected);
        let path = SearchPath::new(["app"]).unwrap();
        let tables = connection.catalog(&asks[1..2], Some(&path), soon(5)).await.unwrap();
        assert_eq!(tables[0][0][0].as_deref(), Some("mood"));

        let broken = [Ask { sql: "SELECT nope", parameters: vec![] }];
        let error = connection.catalog(&broken, None, soon(5)).await.unwrap_err();
        assert!(matches!(error, ReadError::Own(_)), "{error}");
        let write = [Ask { sql: "CREATE TABLE public.w ()", parameters: vec![] }];
        let error = connection.catalog(&write, None, soon(5)).await.unwrap_err();
        assert_eq!(error.server().unwrap().sqlstate, "25006");
        assert!(connection.is_reusable());
    })
    .await;
}

#[tokio::test]
async fn a_pooler_in_transaction_mode_changes_nothing() {
    let db = support::database(16).await;
    db.run(
        "CREATE TYPE mood AS ENUM ('ok'); CREATE TABLE t (m mood); INSERT INTO t VALUES ('ok'); \
         CREATE FUNCTION others() RETURNS bigint STABLE LANGUAGE sql AS $$ SELECT count(*) FROM pg_prepared_statements \
         WHERE name NOT IN ('', 'pinguard_gate', 'pinguard_other_gate', 'pinguard_restore') \
         AND name NOT LIKE 'PGBOUNCER%' $$",
    )
    .await;
    let login = db.reader(&["public"]).await;
    support::pooler::Pooler::each(db.server, 2, async |pooler| {
        let through = pooler.through(&login.url, db.server.port());
        let (mut one, mut two) = (open(&through).await, open(&through).await);
        for _ in 0..10 {
            for connection in [&mut one, &mut two] {
                assert_eq!(value(connection, "SELECT m FROM t").await, "ok");
                assert!(read(connection, "SELECT nope").await.is_err());
            }
        }
        let mut other = open(&through).await;
        // Beside those of this statement itself.
        assert_eq!(value_by(&mut other, "others", "SELECT public.others()").await, "0");
        // Whoever gets the server connection next finds its own settings.
        let plain = support::connect(&through).await;
        let row = plain.simple_query("SHOW statement_timeout").await.unwrap();
        let shown = row.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        assert_eq!(shown.as_deref(), Some("0"));
        plain.simple_query("CREATE TEMP TABLE w ()").await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_database_without_an_encoding_gives_its_bytes_and_costs_no_row() {
    each_major(async |server| {
        let db = server.database().await;
        let name = format!("{}_ascii", db.name);
        let provider = if server.major < 15 { "" } else { "LOCALE_PROVIDER libc" };
        let create =
            format!("CREATE DATABASE {name} ENCODING 'SQL_ASCII' {provider} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        server.admin().await.batch_execute(&create).await.unwrap();
        let url = server.server.superuser_url(&name);
        let fill = r"CREATE TABLE t AS SELECT 1 AS a, E'caf\xe9'::text AS b, E'\303\251'::text AS c";
        support::connect(&url).await.batch_execute(fill).await.unwrap();
        let mut connection = open(&url).await;
        let raw = read(&mut connection, "TABLE t").await.unwrap();
        let bytes: Vec<&[u8]> = raw.rows[0].iter().map(|value| value.as_ref().unwrap().bytes.as_slice()).collect();
        assert_eq!(bytes, [b"1".as_slice(), b"caf\xe9", "é".as_bytes()]);
        assert_eq!(connection.parameter("client_encoding"), Some("UTF8"), "put back by the rollback");
        connection.close().await;
        server.admin().await.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
    })
    .await;
}
