//! On a hot standby, where nothing can be written at all.

use pg::{Lane, Memory};

use super::{TABLES, outcome, ran};
use crate::client::{open, texts};
use crate::support::standby::Standby;

#[tokio::test]
async fn the_quiet_lane_works_where_nothing_can_be_written() {
    let setup = format!(
        "{TABLES}; CREATE ROLE reader LOGIN PASSWORD 'r'; CREATE ROLE plain LOGIN PASSWORD 'p'; \
         GRANT USAGE ON SCHEMA shop TO reader, plain; GRANT SELECT ON ALL TABLES IN SCHEMA shop TO reader, plain; \
         GRANT SET ON PARAMETER log_min_messages TO reader"
    );
    let standby = Standby::of(17, &setup).await;
    let memory = Memory::default();
    let mut connection = open(&standby.url("reader", "r")).await;
    for _ in 0..2 {
        let ran = ran(&mut connection, &memory, "SELECT note FROM shop.notes").await;
        assert_eq!(
            (texts(&ran.raw), ran.lane),
            (vec![vec!["a".to_owned()], vec!["b".to_owned()]], Some(Lane::Quiet))
        );
    }
    let refused = outcome(&mut connection, &memory, "SELECT pg_sleep(0)").await.unwrap_err();
    assert!(refused.starts_with("refused: "), "{refused}");
    let plain = Memory::default();
    let mut without_grant = open(&standby.url("plain", "p")).await;
    assert_eq!(outcome(&mut without_grant, &plain, "SELECT 1").await.unwrap_err(), "no_lane");

    // A promotion in the middle: what was open goes on, and the other lane opens.
    standby.promote().await;
    ran(&mut connection, &memory, "SELECT note FROM shop.notes").await;
    assert_eq!(ran(&mut without_grant, &plain, "SELECT 1").await.lane, Some(Lane::Function));
}
