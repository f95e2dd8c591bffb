//! What an operator is told of a login.

use analyst::login;
use pg::SearchPath;

use crate::client::{open, soon};
use crate::support::{self, Login, TestDb};

async fn warnings(url: &str) -> Vec<String> {
    let mut connection = open(url).await;
    let path = SearchPath::new(["pg_catalog"]).unwrap();
    let answers = connection.catalog(&[login::question()], Some(&path), soon(20)).await.unwrap();
    connection.close().await;
    login::warnings(&answers[0])
}

/// A login as `pinguard setup-sql` makes it, in a database where nobody else can make things either.
async fn least(db: &TestDb) -> Login {
    db.run("CREATE TABLE t (a int); REVOKE CREATE ON SCHEMA public FROM PUBLIC").await;
    let login = db.reader(&["public"]).await;
    db.run(&format!("ALTER ROLE {} SET default_transaction_read_only = on", login.role)).await;
    login
}

/// The warnings without the one about the server's own version.
async fn of_login(url: &str) -> Vec<String> {
    warnings(url).await.into_iter().filter(|warning| !warning.starts_with("PostgreSQL")).collect()
}

#[tokio::test]
async fn a_login_of_least_privilege_gets_no_warning_and_a_superuser_one() {
    support::each_major(async |server| {
        let db = server.database().await;
        let login = least(&db).await;
        assert_eq!(of_login(&login.url).await, Vec::<String>::new());
        let of_superuser = of_login(&db.url).await;
        assert!(of_superuser[0].starts_with("the login is a superuser"), "{of_superuser:?}");
        assert_eq!(of_superuser.len(), 2);
        assert!(of_superuser[1].contains("default_transaction_read_only"), "{of_superuser:?}");
    })
    .await;
}

#[tokio::test]
async fn every_right_that_a_reader_does_not_need_is_told() {
    support::each_major(async |server| {
        let db = server.database().await;
        let login = least(&db).await;
        let role = &login.role;
        for (give, take, told) in [
            ("ALTER ROLE {} BYPASSRLS", "ALTER ROLE {} NOBYPASSRLS", "BYPASSRLS"),
            ("ALTER ROLE {} REPLICATION", "ALTER ROLE {} NOREPLICATION", "REPLICATION"),
            ("ALTER ROLE {} CREATEROLE", "ALTER ROLE {} NOCREATEROLE", "CREATEROLE"),
            ("ALTER ROLE {} CREATEDB", "ALTER ROLE {} NOCREATEDB", "CREATEDB"),
            (
                "GRANT pg_read_server_files, pg_execute_server_program TO {}",
                "REVOKE pg_read_server_files, pg_execute_server_program FROM {}",
                "member of pg_execute_server_program, pg_read_server_files",
            ),
            ("GRANT pg_write_server_files TO {}", "REVOKE pg_write_server_files FROM {}", "pg_write_server_files"),
            ("GRANT pg_signal_backend TO {}", "REVOKE pg_signal_backend FROM {}", "pg_signal_backend"),
            ("ALTER TABLE t OWNER TO {}", "ALTER TABLE t OWNER TO CURRENT_USER", "owns tables"),
            ("GRANT UPDATE ON t TO {}", "REVOKE UPDATE ON t FROM {}", "may write to tables"),
            ("GRANT TRUNCATE ON t TO PUBLIC", "REVOKE TRUNCATE ON t FROM PUBLIC", "may write to tables"),
            ("GRANT CREATE ON SCHEMA public TO {}", "REVOKE CREATE ON SCHEMA public FROM {}", "objects in public"),
            (
                "DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO {}', current_database()); END $$",
                "DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM {}', current_database()); END $$",
                "may create schemas",
            ),
            (
                "ALTER ROLE {} RESET default_transaction_read_only",
                "ALTER ROLE {} SET default_transaction_read_only = on",
                "default_transaction_read_only",
            ),
        ] {
            db.run(&give.replace("{}", role)).await;
            let said = of_login(&login.url).await;
            db.run(&take.replace("{}", role)).await;
            // An owner may write, too.
            let told_first = said.first().is_some_and(|warning| warning.contains(told));
            assert!(told_first && said.len() <= 2, "{give}: {said:?}");
        }
        for harmless in ["pg_monitor", "pg_read_all_data"] {
            db.run(&format!("GRANT {harmless} TO {role}")).await;
        }
        assert_eq!(of_login(&login.url).await, Vec::<String>::new());
        db.run(&format!("REVOKE pg_monitor, pg_read_all_data FROM {role}")).await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_reads_can_bring_down_is_told() {
    support::each_major(async |server| {
        let db = server.database().await;
        let version: String =
            db.client().await.query_one("SHOW server_version_num", &[]).await.unwrap().get(0);
        let version: u32 = version.parse().unwrap();
        let told =
            warnings(&db.url).await.iter().any(|warning| warning.contains("update to the newest minor"));
        assert_eq!(told, (180_000..180_006).contains(&version), "{version}");
    })
    .await;
}
