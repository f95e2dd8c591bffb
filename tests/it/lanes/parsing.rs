//! What PostgreSQL may run while it only parses: checks of domains and the code of ranges, reached by literals.

use pg::Memory;

use super::{candidate, outcome, ran};
use crate::client::{open, texts};
use crate::support::each_major;

const SAFE: &str = r"
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE DOMAIN word AS text CHECK (VALUE ~ '^[a-z]+$');
CREATE TYPE span AS RANGE (subtype = int);
";

const UNSAFE: &str = r"
CREATE SEQUENCE evil_s;
CREATE FUNCTION evil(text) RETURNS bool LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN PERFORM nextval('evil_s'); RETURN true; END $$;
CREATE DOMAIN evil_d AS text CHECK (evil(VALUE));
";

#[tokio::test]
async fn literals_run_where_every_domain_is_safe() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(SAFE).await;
        let mut connection = open(&db.reader(&["public"]).await.url).await;
        let sql = "SELECT '{1,2}'::positive[], '[1,3)'::span, '{\"a\": 1}'::jsonb ->> 'a', '{x,y}'::word[]";
        let ran = ran(&mut connection, &Memory::default(), sql).await;
        assert_eq!(texts(&ran.raw), [["{1,2}", "[1,3)", "1", "{x,y}"]]);
    })
    .await;
}

#[tokio::test]
async fn a_domain_that_runs_code_closes_literals_with_brackets_and_nothing_else() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(SAFE).await;
        let mut connection = open(&db.reader(&["public"]).await.url).await;
        let memory = Memory::default();
        let brackets = [
            "SELECT '{x}'::evil_d[]",
            "SELECT '  {x}'::text[]",
            "SELECT E'\\x7bx}'::evil_d[]",
            "SELECT U&'\\007bx}'::evil_d[]",
            "SELECT $q$(x)$q$",
            "SELECT '\u{a0}[1,2)'::int4range",
            "SELECT '' '{x}'",
            "EXPLAIN SELECT '{x}'::evil_d[]",
        ];
        ran(&mut connection, &memory, "SELECT '{1}'::positive[]").await;
        // It comes while the memory is warm.
        db.run(UNSAFE).await;
        for sql in brackets {
            if guard::candidate(sql, &super::rules()).is_err() {
                continue;
            }
            let refused = outcome(&mut connection, &memory, sql).await.unwrap_err();
            assert!(refused.contains("public.evil_d"), "{sql}: {refused}");
        }
        for sql in ["SELECT 'x'", "SELECT ARRAY[1, 2]", "SELECT 'a {b}'", "SELECT ROW(1, 'x')"] {
            assert!(candidate(sql).as_it_is().is_none());
            ran(&mut connection, &memory, sql).await;
        }
        let advanced = db.client().await.query_one("SELECT is_called FROM evil_s", &[]).await.unwrap();
        assert!(!advanced.get::<_, bool>(0), "the check ran");
        db.run("DROP DOMAIN evil_d").await;
        ran(&mut connection, &memory, "SELECT '{1}'::positive[]").await;
    })
    .await;
}

#[tokio::test]
async fn a_function_behind_a_check_that_is_replaced_is_noticed() {
    each_major(async |server| {
        let db = server.database().await;
        let owner = db.login("owner", "").await;
        db.run(&format!(
            "CREATE FUNCTION fine(text) RETURNS bool IMMUTABLE LANGUAGE sql AS $$ SELECT $1 <> '' $$; \
             ALTER FUNCTION fine(text) OWNER TO {}; CREATE DOMAIN d AS text CHECK (fine(VALUE))",
            owner.role
        ))
        .await;
        let mut connection = open(&db.reader(&["public"]).await.url).await;
        let memory = Memory::default();
        for _ in 0..2 {
            assert_eq!(texts(&ran(&mut connection, &memory, "SELECT '{x}'::d[]").await.raw), [["{x}"]]);
        }
        db.run(
            "CREATE OR REPLACE FUNCTION fine(text) RETURNS bool VOLATILE LANGUAGE sql AS $$ SELECT true $$",
        )
        .await;
        let refused = outcome(&mut connection, &memory, "SELECT '{x}'::d[]").await.unwrap_err();
        assert!(refused.contains("public.d"), "{refused}");
    })
    .await;
}
