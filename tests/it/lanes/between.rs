//! What changes between the two flights of one call: the server resolves the statement anew, and it is judged anew.

use std::time::Duration;

use pg::Memory;

use super::{candidate, rules};
use crate::client::{open, plan};
use crate::support;
use crate::support::proxy::{Fault, Proxy};

/// How long every piece takes on its way: the second flight leaves after two of these, and arrives after three.
const WAY: Duration = Duration::from_millis(500);

#[tokio::test]
async fn a_function_that_comes_between_the_flights_is_judged_before_its_rows_are_told() {
    for major in [14, 18] {
        let db = support::database(major).await;
        db.run(
            "CREATE SCHEMA shop; CREATE TABLE shop.words (v varchar); INSERT INTO shop.words VALUES ('A'); \
             CREATE FUNCTION shop.evil(varchar) RETURNS text VOLATILE LANGUAGE sql AS $$ SELECT 'stolen' $$",
        )
        .await;
        let login = db.reader(&["shop"]).await;
        db.run(&format!("ALTER ROLE {} SET search_path = shop, pg_catalog", login.role)).await;
        let proxy = Proxy::start(db.server.port()).await;
        let mut connection = open(&proxy.through(&login.url, db.server.port())).await;
        let memory = Memory::default();
        let (candidate, rules) = (candidate("SELECT lower(v) FROM words"), rules());
        let plan = plan();
        let question = pg::Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan };
        assert!(matches!(pg::read(&mut connection, &memory, question).await, Ok(pg::Read::Ran(_))));

        proxy.set(Fault::Delay(WAY));
        let change = async {
            tokio::time::sleep(WAY * 2).await;
            // The first flight has arrived and is answered; the new schema makes the server look at names again.
            db.run("ALTER FUNCTION shop.evil(varchar) RENAME TO lower; CREATE SCHEMA anew").await;
            proxy.set(Fault::None);
        };
        let (read, ()) = tokio::join!(pg::read(&mut connection, &memory, question), change);
        match read.unwrap() {
            pg::Read::Refused(refusal) => {
                assert!(refusal.to_string().contains("shop.lower"), "on {major}: {refusal}");
            }
            pg::Read::TooCostly(estimate) => panic!("on {major}: {estimate:?}"),
            pg::Read::Ran(ran) => panic!("on {major}: {:?}", crate::client::texts(&ran.raw)),
        }
    }
}
