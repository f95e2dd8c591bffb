//! Whatever changes in the catalog between two calls, the second is judged by what is there then: with a warm memory every
//! statement fares as it would with none.

use pg::Memory;

use super::{outcome, ran};
use crate::client::{open, texts};
use crate::support::{Login, TestDb, TestServer, each_major};

/// A database in which everything that follows is harmless.
const BEFORE: &str = r"
CREATE SCHEMA shop;
CREATE FUNCTION shop.twice(n int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT n * 2 $$;
CREATE FUNCTION shop.spell(n int) RETURNS text STABLE LANGUAGE plpgsql AS $$ BEGIN RETURN lower(n::text); END $$;
CREATE FUNCTION shop.evil(n int) RETURNS int VOLATILE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('x', 'y'); RETURN n; END $$;
CREATE FUNCTION shop.trojan(n int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('x', 'y'); RETURN true; END $$;
CREATE DOMAIN shop.small AS int CHECK (VALUE < 100);
CREATE TYPE shop.pair AS (a int, b int);
CREATE TABLE shop.orders (id int, n int, s shop.small);
CREATE TABLE shop.secret (id int, n int, s shop.small);
CREATE TABLE shop.parts (id int, n int) PARTITION BY RANGE (id);
CREATE TABLE shop.part_1 PARTITION OF shop.parts FOR VALUES FROM (0) TO (10);
CREATE TABLE shop.part_2 (id int, n int);
INSERT INTO shop.orders VALUES (1, 1, 1); INSERT INTO shop.parts VALUES (1, 1);
CREATE VIEW shop.v AS SELECT id, n FROM shop.orders;
CREATE VIEW shop.w AS SELECT * FROM shop.v;
CREATE AGGREGATE shop.total (int) (SFUNC = int4pl, STYPE = int, INITCOND = '0');
CREATE OPERATOR shop.<+> (FUNCTION = shop.twice, RIGHTARG = int);
";

/// A statement that runs before a change and is refused after it.
pub(super) const CHANGES: &[(&str, &str)] = &[
    (
        "SELECT * FROM shop.v",
        "CREATE OR REPLACE VIEW shop.v AS SELECT id, shop.evil(n) AS n FROM shop.orders",
    ),
    (
        "SELECT * FROM shop.w",
        "CREATE OR REPLACE VIEW shop.v AS SELECT id, shop.evil(n) AS n FROM shop.orders",
    ),
    (
        "SELECT * FROM shop.orders",
        "ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON shop.orders USING (shop.evil(n) > 0)",
    ),
    ("SELECT id FROM shop.orders WHERE n = 1", "CREATE INDEX ON shop.orders (id) WHERE shop.trojan(7)"),
    ("SELECT id FROM shop.orders", "ALTER TABLE shop.orders ADD CHECK (shop.trojan(7))"),
    (
        "SELECT shop.twice(n) FROM shop.orders",
        "CREATE OR REPLACE FUNCTION shop.twice(n int) RETURNS int VOLATILE LANGUAGE sql AS 'SELECT n'",
    ),
    ("SELECT shop.twice(2)", "ALTER FUNCTION shop.twice(int) SECURITY DEFINER"),
    ("SELECT shop.twice(3)", "ALTER FUNCTION shop.twice(int) SET work_mem = '1MB'"),
    (
        "SELECT shop.spell(n) FROM shop.orders",
        "CREATE FUNCTION shop.lower(text) RETURNS text VOLATILE LANGUAGE sql AS 'SELECT $1'",
    ),
    ("SELECT OPERATOR(shop.<+>) 3", "ALTER FUNCTION shop.twice(int) VOLATILE"),
    (
        "SELECT to_jsonb(ROW(1, 2)::shop.pair)",
        "CREATE FUNCTION shop.pj(shop.pair) RETURNS jsonb VOLATILE LANGUAGE sql AS $$ SELECT '1'::jsonb $$; CREATE CAST (shop.pair AS jsonb) WITH FUNCTION shop.pj(shop.pair)",
    ),
    (
        "SELECT s + 1 FROM shop.orders WHERE s = 1::shop.small",
        "ALTER DOMAIN shop.small ADD CHECK (shop.trojan(VALUE))",
    ),
    (
        "SELECT shop.total(n) FROM shop.orders",
        "CREATE OR REPLACE AGGREGATE shop.total (int) (SFUNC = shop.add, STYPE = int, INITCOND = '0')",
    ),
];

/// A database of that kind, and a login that reads it.
pub(super) async fn before(server: &'static TestServer) -> (TestDb, Login) {
    let db = server.database().await;
    db.run(BEFORE).await;
    db.run("CREATE FUNCTION shop.add(int, int) RETURNS int VOLATILE LANGUAGE sql AS 'SELECT $1 + $2'").await;
    let login = db.login("reader", "").await;
    // What makes an object must not belong to a superuser, or it would be refused for that.
    let owner = db.login("owner", "").await;
    db.run(&format!(
        "DO $$ DECLARE o record; BEGIN FOR o IN SELECT oid::regprocedure AS f FROM pg_proc WHERE pronamespace = 'shop'::regnamespace AND prokind = 'f' \
         LOOP EXECUTE format('ALTER FUNCTION %s OWNER TO %I', o.f, '{0}'); END LOOP; END $$; \
         ALTER AGGREGATE shop.total(int) OWNER TO {0}; GRANT USAGE ON SCHEMA shop TO {1}, {0}; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO {1}",
        owner.role, login.role
    ))
    .await;
    (db, login)
}

#[tokio::test]
async fn a_change_is_noticed_by_the_next_call() {
    each_major(async |server| {
        for (sql, change) in CHANGES {
            let (db, login) = before(server).await;
            let memory = Memory::default();
            let mut connection = open(&login.url).await;
            ran(&mut connection, &memory, sql).await;
            ran(&mut connection, &memory, sql).await;
            db.run(change).await;
            let warm = outcome(&mut connection, &memory, sql).await;
            let cold = outcome(&mut connection, &Memory::default(), sql).await;
            assert!(
                warm.as_ref().is_err_and(|error| error.starts_with("refused: ")),
                "{sql}\nafter {change}\n{warm:?}"
            );
            assert_eq!(warm.unwrap_err(), cold.unwrap_err(), "{sql}\nafter {change}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_child_that_joins_is_read_and_judged() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(BEFORE).await;
        let login = db.reader(&["shop"]).await;
        let memory = Memory::default();
        let mut connection = open(&login.url).await;
        let sql = "SELECT count(*) FROM shop.parts";
        for _ in 0..2 {
            ran(&mut connection, &memory, sql).await;
        }
        db.run("INSERT INTO shop.part_2 VALUES (11, 1); ALTER TABLE shop.parts ATTACH PARTITION shop.part_2 FOR VALUES FROM (10) TO (20)").await;
        assert_eq!(texts(&ran(&mut connection, &memory, sql).await.raw), [["2"]]);
        db.run("ALTER TABLE shop.part_2 ADD CHECK (shop.trojan(7))").await;
        let refused = outcome(&mut connection, &memory, sql).await.unwrap_err();
        assert!(refused.starts_with("refused: "), "{refused}");
    })
    .await;
}

#[tokio::test]
async fn a_table_that_was_made_anew_is_another_one() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(BEFORE).await;
        let login = db.reader(&["shop"]).await;
        let memory = Memory::default();
        let mut connection = open(&login.url).await;
        ran(&mut connection, &memory, "TABLE shop.secret").await;
        db.run(&format!("DROP TABLE shop.secret; CREATE VIEW shop.secret AS SELECT shop.evil(1); GRANT SELECT ON shop.secret TO {}", login.role)).await;
        let refused = outcome(&mut connection, &memory, "TABLE shop.secret").await.unwrap_err();
        assert!(refused.starts_with("refused: "), "{refused}");
    })
    .await;
}
