//! The lists of columns that follow an error about a column, where a node has a selection.

use analyst::selected::column_lists;
use analyst::{Ceilings, Scope};
use pg::ReadError;

use crate::client::{open, read, soon};
use crate::support;

const SCHEMAS: &str = r#"
CREATE SCHEMA hr;
CREATE SCHEMA app;
CREATE TABLE app.stores (id int, "Opened On" date, gone int, secret int);
ALTER TABLE app.stores DROP COLUMN gone;
CREATE TABLE hr.stores (id int, head text);
CREATE TABLE app."Stores" (x int);
CREATE TABLE app.pay (id int);
CREATE VIEW app.everything AS SELECT p.id AS pay_id FROM app.pay p;
DO $$ BEGIN
    EXECUTE 'CREATE TABLE app.wide (' || (SELECT string_agg(format('c%s int', i), ', ' ORDER BY i) FROM generate_series(1, 61) AS i) || ')';
END $$;
"#;

fn scope(relations: &[&str]) -> Scope {
    Scope {
        relations: relations.iter().map(|name| name.parse().unwrap()).collect(),
        allowed_functions: Vec::new(),
        allowed_foreign_tables: Vec::new(),
        search_path: None,
        claims: None,
        ceilings: Ceilings { rows: 10, result_rows: None, bytes: 1000, seconds: 10, value_chars: 100 },
        cost: None,
    }
}

const SELECTED: [&str; 6] =
    ["app.wide", "app.stores", "hr.stores", "app.\"Stores\"", "app.everything", "app.missing"];

#[tokio::test]
async fn each_selected_relation_that_the_statement_names_is_listed() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(SCHEMAS).await;
        let login = db.reader(&["app", "hr"]).await;
        let role = &login.role;
        db.run(&format!(
            "REVOKE SELECT ON app.stores FROM {role}; GRANT SELECT (id, \"Opened On\") ON app.stores TO {role}"
        ))
        .await;
        let mut connection = open(&login.url).await;
        let (app, hr) = ("Columns of app.stores: id, \"Opened On\".", "Columns of hr.stores: id, head.");
        let both = format!("{app} {hr}");
        for (sql, expected) in [
            ("SELECT nme FROM app.stores", Some(app)),
            ("SELECT nme FROM hr.stores", Some(hr)),
            ("SELECT nme FROM stores", Some(&both)),
            ("SELECT nme FROM STORES", Some(&both)),
            ("SELECT nme FROM \"stores\"", Some(&both)),
            ("SELECT nme FROM \"Stores\"", Some("Columns of app.\"Stores\": x.")),
            ("SELECT nme FROM U&\"\\0073tores\" UESCAPE '!'", None),
            ("SELECT id FROM hr.stores JOIN app.stores b ON true", Some(&both)),
            ("SELECT * FROM (SELECT 'hr.stores' AS a) q JOIN app.stores USING (a)", Some(app)),
            ("WITH stores AS (SELECT 1 AS a) SELECT b FROM stores", None),
            ("SELECT (SELECT nme FROM hr.stores) -- app.stores", Some(hr)),
            // What a view reads is not named, and not told.
            ("SELECT id FROM app.everything", Some("Columns of app.everything: pay_id.")),
            ("SELECT nme FROM app.pay", None),
            ("SELECT nme FROM app.missing", None),
            ("SELECT nme", None),
        ] {
            let said = column_lists(&mut connection, "42703", sql, &scope(&SELECTED), soon(20)).await;
            assert_eq!(said.as_deref(), expected, "{sql}");
        }
        let wide =
            column_lists(&mut connection, "42702", "TABLE app.wide", &scope(&SELECTED), soon(20)).await.unwrap();
        assert!(wide.starts_with("Columns of app.wide: c1, c2,") && wide.ends_with(", c59, c60, …"), "{wide}");
        connection.close().await;
    })
    .await;
}

#[tokio::test]
async fn other_errors_and_nodes_without_a_selection_get_none() {
    let db = support::database(18).await;
    db.run(SCHEMAS).await;
    let mut connection = open(&db.url).await;
    let before = connection.flights();
    let sql = "SELECT nme FROM hr.stores";
    for (sqlstate, relations) in [("42P01", &SELECTED[..]), ("42883", &SELECTED), ("42703", &[])] {
        let said = column_lists(&mut connection, sqlstate, sql, &scope(relations), soon(20)).await;
        assert_eq!(said, None, "{sqlstate}");
    }
    assert_eq!(connection.flights(), before, "nothing is asked");
    column_lists(&mut connection, "42703", sql, &scope(&SELECTED), soon(20)).await.unwrap();
    assert_eq!(connection.flights(), before + 1);
    // The connection on which a statement has failed is good for asking.
    let Err(ReadError::Server(error)) = read(&mut connection, sql).await else { panic!("no such column") };
    let said = column_lists(&mut connection, &error.sqlstate, sql, &scope(&SELECTED), soon(20)).await;
    assert_eq!(said.as_deref(), Some("Columns of hr.stores: id, head."));
    // The error stands alone where the catalog does not answer.
    db.end_connections().await;
    assert_eq!(column_lists(&mut connection, "42703", sql, &scope(&SELECTED), soon(20)).await, None);
}
