//! PostgreSQL servers and databases for tests.
//!
//! One server of each major is started when a test first asks for it and shared by all tests of the process; each test
//! takes a database of its own, which is dropped with its [`TestDb`]. Nothing is skipped: where the binaries are not
//! there, the test fails and says what to run.

pub(crate) mod command;
pub(crate) mod http;
pub(crate) mod pooler;
pub(crate) mod proxy;
pub(crate) mod restarting;
pub(crate) mod standby;
pub(crate) mod tls;

use std::{
    path::Path,
    sync::{Mutex, OnceLock},
    thread,
};

use local::embedded::{Binaries, Home, Server, ServerOptions};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};

/// All that pinguard supports.
pub(crate) const MAJORS: [u16; 5] = [14, 15, 16, 17, 18];

/// A statement that the guard lets run, and that runs for many minutes unless it is stopped.
pub(crate) const SLOW: &str =
    "SELECT count(*) FROM generate_series(1, 300000) a, generate_series(1, 300000) b";

/// The role whose members keep trees out of the server's log, from PostgreSQL 15 on. Logins join it rather than be granted
/// the setting themselves: all grants of one setting are one row of the catalog, which tests side by side cannot all update.
const QUIET: &str = "quiet_logs";

/// A running server.
pub(crate) struct TestServer {
    pub(crate) major: u16,
    pub(crate) server: Server,
    quiet: OnceCell<()>,
}

/// A database of one test. Dropping it drops the database and the logins made for it.
pub(crate) struct TestDb {
    pub(crate) server: &'static TestServer,
    pub(crate) name: String,
    /// The superuser's URL of this database.
    pub(crate) url: String,
    logins: Mutex<Vec<String>>,
}

/// A login that [`TestDb::login`] made.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    /// The role; roles belong to the whole server, so this holds the database's name.
    pub(crate) role: String,
    pub(crate) password: String,
    pub(crate) url: String,
}

/// A row of `pg_stat_activity`.
#[derive(Debug, Clone)]
pub(crate) struct Activity {
    pub(crate) pid: i32,
    pub(crate) state: String,
    pub(crate) query: String,
}

/// The shared server of a major version.
pub(crate) fn server(major: u16) -> &'static TestServer {
    static SERVERS: [OnceLock<TestServer>; MAJORS.len()] = [const { OnceLock::new() }; MAJORS.len()];
    let place = MAJORS.iter().position(|&known| known == major).expect("a major of MAJORS");
    SERVERS[place].get_or_init(|| TestServer::start(Binaries::unpacked(major).unwrap(), &[]))
}

/// The shared server of the Debian package, which has PostGIS beside it.
pub(crate) fn postgis_server() -> &'static TestServer {
    static SERVER: OnceLock<TestServer> = OnceLock::new();
    SERVER.get_or_init(|| {
        let control = Path::new("/usr/share/postgresql/15/extension/postgis.control");
        assert!(
            control.is_file(),
            "no PostGIS for the PostgreSQL 15 of this system: run scripts/test, which installs it"
        );
        TestServer::start(Binaries::at(Path::new("/usr/lib/postgresql/15/bin")).unwrap(), &[])
    })
}

/// A fresh, empty database on the shared server of a major version.
pub(crate) async fn database(major: u16) -> TestDb {
    server(major).database().await
}

/// Runs a test on the shared server of every major, one after the other, and says on which it failed.
pub(crate) async fn each_major(test: impl AsyncFn(&'static TestServer)) {
    for major in MAJORS {
        let _named = NameOnPanic(major);
        test(server(major)).await;
    }
}

struct NameOnPanic(u16);

impl Drop for NameOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("this was on PostgreSQL {}", self.0);
        }
    }
}

/// A superuser's or any other connection, for what a test does behind pinguard's back.
pub(crate) async fn connect(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

impl TestServer {
    /// A throwaway server that trades safety for speed. `settings` come on top.
    pub(crate) fn start(binaries: Binaries, settings: &[(&str, &str)]) -> Self {
        let fast = [("fsync", "off"), ("full_page_writes", "off"), ("synchronous_commit", "off")];
        let settings =
            fast.iter().chain(settings).map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        let major = binaries.major();
        let options = ServerOptions { binaries, home: Home::Throwaway, port: None, settings };
        Self { major, server: Server::start(&options).unwrap(), quiet: OnceCell::new() }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.port()
    }

    /// A superuser's connection to the database `postgres`.
    pub(crate) async fn admin(&self) -> Client {
        connect(&self.server.superuser_url("postgres")).await
    }

    /// A fresh, empty database.
    pub(crate) async fn database(&'static self) -> TestDb {
        let name = format!("t{}", local::embedded::random_word().unwrap());
        self.admin().await.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let url = self.server.superuser_url(&name);
        TestDb { server: self, name, url, logins: Mutex::default() }
    }

    async fn make_quiet_role(&self) {
        let make = format!("CREATE ROLE {QUIET}; GRANT SET ON PARAMETER log_min_messages TO {QUIET}");
        self.quiet.get_or_init(async || self.admin().await.batch_execute(&make).await.unwrap()).await;
    }

    /// Ends it as it ends in an emergency: everybody is sent away in the middle of what they do.
    pub(crate) fn quit(&self) {
        let file = self.server.data_dir().join("postmaster.pid");
        let pid = std::fs::read_to_string(file).unwrap();
        let quit = ["-QUIT", pid.lines().next().unwrap()];
        assert!(std::process::Command::new("kill").args(quit).status().unwrap().success());
    }

    /// Replaces `pg_hba.conf`.
    pub(crate) async fn set_hba(&self, lines: &[&str]) {
        std::fs::write(self.server.data_dir().join("pg_hba.conf"), lines.join("\n") + "\n").unwrap();
        self.admin().await.execute("SELECT pg_reload_conf()", &[]).await.unwrap();
    }

    /// The server's own log up to now.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.server.log_file()).unwrap()).into_owned()
    }
}

impl TestDb {
    /// A superuser's connection.
    pub(crate) async fn client(&self) -> Client {
        connect(&self.url).await
    }

    /// Runs statements as the superuser.
    pub(crate) async fn run(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }

    /// Makes a login that may read nothing yet, but have its statements resolved on the quiet lane. `options` are words of
    /// CREATE ROLE.
    pub(crate) async fn login(&self, name: &str, options: &str) -> Login {
        let login = self.plain_login(name, options).await;
        let role = &login.role;
        if self.server.major == 14 {
            self.run(&format!("ALTER ROLE {role} SET log_min_messages = fatal")).await;
        } else {
            self.server.make_quiet_role().await;
            self.run(&format!("GRANT {QUIET} TO {role}")).await;
        }
        login
    }

    /// Makes a login without any grant, also none that the quiet lane needs.
    pub(crate) async fn plain_login(&self, name: &str, options: &str) -> Login {
        let role = format!("{}_{name}", self.name);
        let password = local::embedded::random_word().unwrap();
        self.run(&format!("CREATE ROLE {role} LOGIN PASSWORD '{password}' {options}")).await;
        self.logins.lock().unwrap().push(role.clone());
        let url = self.server.server.url(&role, &password, &self.name);
        Login { role, password, url }
    }

    /// A login that may read every table and view of the given schemas as they are now.
    pub(crate) async fn reader(&self, schemas: &[&str]) -> Login {
        let login = self.login("reader", "").await;
        self.let_read(&login, schemas).await;
        login
    }

    /// Lets a login read every table and view of the given schemas as they are now.
    pub(crate) async fn let_read(&self, login: &Login, schemas: &[&str]) {
        for schema in schemas {
            let role = &login.role;
            self.run(&format!(
                "GRANT USAGE ON SCHEMA {schema} TO {role}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"
            ))
            .await;
        }
    }

    /// Has the server end what pinguard has open on this database.
    pub(crate) async fn end_connections(&self) {
        self.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE application_name = 'pinguard' AND datname = current_database()",
        )
        .await;
    }

    /// What pinguard has open on this database.
    pub(crate) async fn activity(&self) -> Vec<Activity> {
        let rows = self
            .client()
            .await
            .query(
                "SELECT pid, coalesce(state, ''), coalesce(query, '') FROM pg_stat_activity \
                 WHERE application_name = 'pinguard' AND datname = current_database() ORDER BY pid",
                &[],
            )
            .await
            .unwrap();
        rows.iter().map(|row| Activity { pid: row.get(0), state: row.get(1), query: row.get(2) }).collect()
    }
}

impl Drop for TestDb {
    fn drop(&mut self) {
        let url = self.server.server.superuser_url("postgres");
        let database = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        let logins = std::mem::take(&mut *self.logins.lock().unwrap());
        // A thread of its own, because the test's runtime is busy dropping us.
        let dropped = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let client = connect(&url).await;
                client.batch_execute(&database).await?;
                for login in logins {
                    client.batch_execute(&format!("DROP OWNED BY {login}; DROP ROLE {login}")).await?;
                }
                Ok::<_, tokio_postgres::Error>(())
            })
        })
        .join();
        if !thread::panicking() {
            dropped.expect("the thread ends").expect("database and logins are dropped");
        }
    }
}
