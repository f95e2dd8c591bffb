//! What somebody with all rights in the database does to the rows, and what is said of it.

use state::AuditHead;

use super::{Lab, event, key, soon};
use crate::support;

/// Without the trigger, as an owner of the table can have it.
const OPEN: &str = "ALTER TABLE pinguard.audit DISABLE TRIGGER append_only";

/// Does something to six rows, and holds what is found against what is expected.
async fn check(done: &str, logged: Logged, expected: &[&str]) {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    let events: Vec<_> = (1..=6).map(|number| event("w", number)).collect();
    lab.auditor.record(&events, soon()).await.unwrap();
    let heads = lab.heads();
    db.run(&format!("{OPEN}; {done}")).await;
    let logged: Option<&AuditHead> = match logged {
        Logged::Nothing => None,
        Logged::Last => heads.last(),
    };
    let found = lab.verify("w", logged).await;
    let said: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    assert_eq!(said, expected, "{done}");
}

#[derive(Clone, Copy)]
enum Logged {
    Nothing,
    Last,
}

const HEAD_BACK: &str =
    "UPDATE pinguard.audit_head SET count = 4, hmac = (SELECT hmac FROM pinguard.audit WHERE number = 4)";

#[tokio::test]
async fn nobody_changes_or_removes_rows_in_passing() {
    support::each_major(async |server| {
        let db = server.database().await;
        let lab = Lab::over(&db).await;
        lab.rows(2).await;
        for sql in [
            "UPDATE pinguard.audit SET summary = 'x'",
            "UPDATE pinguard.audit SET summary = 'x' WHERE false",
            "DELETE FROM pinguard.audit",
            "TRUNCATE pinguard.audit",
            "INSERT INTO pinguard.audit SELECT * FROM pinguard.audit ON CONFLICT (workspace, number) DO UPDATE SET summary = 'x'",
        ] {
            let error = db.client().await.batch_execute(sql).await.unwrap_err();
            let message = error.as_db_error().unwrap().message().to_owned();
            assert_eq!(message, "audit rows are never changed or removed", "{sql}");
        }
        assert!(lab.verify("w", None).await.is_whole());
    })
    .await;
}

#[tokio::test]
async fn a_change_of_any_column_is_found_at_its_row() {
    for (column, value) in [
        ("id", "gen_random_uuid()"),
        ("at", "at + interval '1 microsecond'"),
        ("type", "'other'"),
        ("change", "'edit'"),
        ("actor", "'key-2'"),
        ("user_name", "'Bob'"),
        ("flow", "'other'"),
        ("node", "'other'"),
        ("summary", "summary || ' '"),
        ("detail", "NULL"),
        ("detail", "'{}'"),
        ("hmac", "sha256(hmac)"),
    ] {
        let change = format!("UPDATE pinguard.audit SET {column} = {value} WHERE number = 3");
        check(&change, Logged::Last, &["row 3 was changed"]).await;
    }
    check(
        "UPDATE pinguard.audit SET previous = sha256('x') WHERE number IN (1, 4)",
        Logged::Nothing,
        &["row 1 was changed", "row 4 was changed"],
    )
    .await;
    check(
        "UPDATE pinguard.audit SET hmac = sha256(hmac) WHERE number = 6",
        Logged::Last,
        &[
            "row 6 was changed",
            "row 6 is another than the log tells of",
            "the head tells of 6 rows, or of another last row",
        ],
    )
    .await;
}

#[tokio::test]
async fn removed_rows_are_named() {
    for (which, expected) in [
        ("number = 1", ["row 1 is missing"].as_slice()),
        ("number IN (2, 3)", &["rows 2 to 3 are missing"]),
        ("number IN (2, 4)", &["row 2 is missing", "row 4 is missing"]),
        ("number = 6", &["row 6 is missing at the end"]),
        ("true", &["rows 1 to 6 are missing at the end"]),
    ] {
        check(&format!("DELETE FROM pinguard.audit WHERE {which}"), Logged::Nothing, expected).await;
    }
}

#[tokio::test]
async fn a_cut_with_its_head_put_back_is_found_by_a_head_of_the_log_alone() {
    let cut = format!("DELETE FROM pinguard.audit WHERE number > 4; {HEAD_BACK}");
    check(&cut, Logged::Last, &["rows 5 to 6 are missing at the end"]).await;
    check(&cut, Logged::Nothing, &[]).await;
    let all = "DELETE FROM pinguard.audit; DELETE FROM pinguard.audit_head";
    check(all, Logged::Last, &["rows 1 to 6 are missing at the end"]).await;
}

#[tokio::test]
async fn rows_in_another_order_are_told_where_they_belong() {
    check(
        "UPDATE pinguard.audit SET number = 100 WHERE number = 2; UPDATE pinguard.audit SET number = 2 WHERE number = 5;
         UPDATE pinguard.audit SET number = 5 WHERE number = 100",
        Logged::Last,
        &["row 2 was written as row 5", "row 5 was written as row 2"],
    )
    .await;
    check(
        "DELETE FROM pinguard.audit WHERE number = 3; UPDATE pinguard.audit SET number = 3 WHERE number = 4;
         UPDATE pinguard.audit SET number = 4 WHERE number = 5; UPDATE pinguard.audit SET number = 5 WHERE number = 6;
         UPDATE pinguard.audit_head SET count = 5",
        Logged::Last,
        &[
            "row 3 was written as row 4",
            "row 3 is missing",
            "row 4 was written as row 5",
            "row 5 was written as row 6",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_row_that_was_put_in_is_found() {
    check(
        "INSERT INTO pinguard.audit SELECT workspace, 7, gen_random_uuid(), at, type, change, actor, user_name, flow, node,
             summary, detail, hmac, sha256(hmac) FROM pinguard.audit WHERE number = 6",
        Logged::Last,
        &["row 7 was changed", "the head tells of 6 rows, or of another last row"],
    )
    .await;
    // A row of another workspace's chain, good in itself there.
    check(
        "UPDATE pinguard.audit SET workspace = 'v'",
        Logged::Nothing,
        &["rows 1 to 6 are missing at the end"],
    )
    .await;
}

#[tokio::test]
async fn a_chain_that_went_on_from_a_cut_is_not_the_one_of_the_log() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.rows(6).await;
    let heads = lab.heads();
    db.run(&format!("{OPEN}; DELETE FROM pinguard.audit WHERE number > 4; {HEAD_BACK}")).await;
    for number in [11, 12, 13] {
        lab.auditor.record(&[event("w", number)], soon()).await.unwrap();
    }
    let said =
        |found: state::Verification| found.findings.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(said(lab.verify("w", heads.last()).await), ["row 6 is another than the log tells of"]);
    assert!(said(lab.verify("w", heads.get(3)).await).is_empty(), "the log's head of row 4 fits both");
}

#[tokio::test]
async fn a_row_of_an_earlier_chain_does_not_follow_the_one_before_it() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.rows(6).await;
    let cut = "DELETE FROM pinguard.audit WHERE number > 4";
    db.run(&format!("{OPEN}; CREATE TABLE kept AS TABLE pinguard.audit; {cut}; {HEAD_BACK}")).await;
    lab.auditor.record(&[event("w", 11)], soon()).await.unwrap();
    db.run(
        "INSERT INTO pinguard.audit SELECT * FROM kept WHERE number = 6;
         UPDATE pinguard.audit_head SET count = 6, hmac = (SELECT hmac FROM kept WHERE number = 6)",
    )
    .await;
    let found = lab.verify("w", None).await;
    let said: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["row 6 follows another row than the one before it"]);
}

#[tokio::test]
async fn with_another_key_no_row_fits() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.rows(3).await;
    let found = lab.auditor.control.verify_audit(&key(8), "w", None, soon()).await.unwrap();
    let said: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["row 1 was changed", "row 2 was changed", "row 3 was changed"]);
}
