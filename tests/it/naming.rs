//! Names hide nothing: whatever a caller calls columns, tables and parts of a statement, what runs beside them is seen in the
//! tree that PostgreSQL prints or keeps.

use pg::Memory;

use crate::client::{everything, open};
use crate::guarded::{Outcome, judge};
use crate::support::each_major;

/// Names that end or begin what a tree is made of, for a reader that takes it for something else than words and brackets.
const NAMES: &[&str] = &[
    "\"", "\"\"", "\"\"\"", "x\"", "\"x", "\" \"", "\\", "\\\"", "\\\\", "\\)", "(", ")", "}", ") }", "\"(",
    "\")", "x)\"", "<>", "\"<>\"", ":relid", ":relid 1", "{QUERY", "[ 1 ]", "1\"", "-1", "+.5\"", "\n",
    "\n\"", "\t\"", "\r\"", "é\"", "\u{a0}",
];

/// `@` is such a name; each calls what does not run.
const STATEMENTS: &[&str] = &[
    "SELECT * FROM (SELECT pg_sleep(0)::text, 1) AS x(a, \"@\"), (SELECT 2) AS y(c)",
    "SELECT * FROM (SELECT pg_sleep(0)::text, 1) AS x(\"@\", \"@ \"), (SELECT 2) AS y(\"@\")",
    "SELECT * FROM (SELECT pg_sleep(0)::text AS \"@\", 1 AS \"@ \") AS \"@\", (SELECT 2 AS \"@\") AS \"y@\"",
    "SELECT * FROM ROWS FROM (pg_sleep(0), generate_series(1, 2)) AS \"@\"(a, \"@\"), generate_series(1, 2) AS \"y@\"(c)",
    "WITH x(a, \"@\") AS (SELECT pg_sleep(0)::text, 1), y(c) AS (SELECT 2) SELECT * FROM x, y",
    "WITH \"@\"(\"@\", \"@ \") AS (SELECT pg_sleep(0)::text, 1), \"y@\"(\"@\") AS (SELECT 2) SELECT * FROM \"@\", \"y@\"",
    "SELECT sum(1) OVER \"@\" FROM (SELECT pg_sleep(0)) AS \"@ \" WINDOW \"@\" AS (ORDER BY 1), \"w@\" AS (\"@\")",
    "SELECT xmlelement(NAME \"@\", xmlattributes(pg_sleep(0)::text AS \"@\"), 1)",
    "SELECT * FROM xmltable('/a' PASSING xmlparse(CONTENT pg_sleep(0)::text) COLUMNS a text, \"@\" int) AS x, (SELECT 2) AS y(c)",
    "SELECT x.\"@\" FROM (SELECT 1 AS \"@\") AS x JOIN (SELECT 1 AS \"@\", pg_sleep(0)) AS z USING (\"@\")",
    "SELECT * FROM (VALUES (pg_sleep(0)::text, 1)) AS x(a, \"@\"), (VALUES (2)) AS y(c)",
];

#[tokio::test]
async fn whatever_names_are_what_runs_beside_them_is_seen_on_every_major() {
    each_major(async |server| {
        let db = server.database().await;
        let login = db.plain_login("keeps", "").await;
        for (lane, url) in [("quiet", &db.url), ("function", &login.url)] {
            let mut connection = open(url).await;
            let memory = Memory::default();
            let mut refused = 0;
            for name in NAMES {
                for statement in STATEMENTS {
                    let sql = statement.replace('@', &name.replace('"', "\"\""));
                    match judge(&mut connection, &memory, &sql, &everything()).await {
                        Outcome::Refused(_) => refused += 1,
                        // Not every name may stand in XML or twice.
                        Outcome::Failed(_) => {}
                        Outcome::Admitted => panic!("{sql}"),
                    }
                }
            }
            connection.close().await;
            assert_eq!(memory.lane().map(pg::Lane::as_str), Some(lane));
            assert!(refused * 10 > NAMES.len() * STATEMENTS.len() * 9, "{refused}");
        }
    })
    .await;
}
