//! A second page beside the same rows by OFFSET, from a table of a million rows.

use serde_json::json;

use crate::{
    endpoint::{Endpoint, timed},
    median, milliseconds,
    world::{PATH, World},
};

const ROUNDS: usize = 40;

/// How many times as fast a page must be.
const AT_LEAST: f64 = 5.0;

const TABLE: &str = "CREATE TABLE long (id int PRIMARY KEY, item text NOT NULL); \
     INSERT INTO long SELECT i, md5(i::text) FROM generate_series(1, 1000000) AS i; \
     GRANT SELECT ON long TO reader; ANALYZE long";

/// Measures and prints.
pub(crate) async fn measure(world: &World) {
    world.admin().await.batch_execute(TABLE).await.unwrap();
    let endpoint = Endpoint::of(world);
    println!(
        "a second page of 500 rows from the cache (tables of the control database), beside running the statement with OFFSET 500; \
         medians of {ROUNDS} rounds, taken in turns"
    );
    for (what, sql) in [
        ("sorted by a column without an index", "SELECT id, item FROM long ORDER BY item, id"),
        ("sorted by the primary key", "SELECT id, item FROM long ORDER BY id"),
    ] {
        let (mut paged, mut again) = (vec![], vec![]);
        for _ in 0..ROUNDS {
            let first = endpoint.call(PATH, "query", &json!({"sql": sql})).await;
            let next = json!({"cursor": first["cursor"]});
            let offset = json!({"sql": format!("{sql} LIMIT 500 OFFSET 500")});
            paged.push(timed(endpoint.call(PATH, "next_page", &next)).await);
            again.push(timed(endpoint.call(PATH, "query", &offset)).await);
        }
        let (paged, again) = (median(&mut paged), median(&mut again));
        let ratio = again.as_secs_f64() / paged.as_secs_f64();
        println!(
            "  {what}: {} to {}, {ratio:.1} times as fast; at least {AT_LEAST} is the aim{}",
            milliseconds(paged),
            milliseconds(again),
            if ratio < AT_LEAST { ": NOT MET" } else { "" }
        );
    }
}
