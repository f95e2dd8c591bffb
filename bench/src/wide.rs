//! A server with forty tables of ten columns, and two statements over them.

use local::embedded::{Binaries, Home, Server, ServerOptions};

/// A table by its number.
const TABLE: &str = "CREATE TABLE wide_N (id int, a text, b text, c numeric, d date, e int, f bool, g text, h jsonb, i float8)";
const TABLES: usize = 40;

/// A statement as agents write many.
pub(crate) const SMALL: &str = "SELECT a, c FROM wide_1 WHERE e > 5 ORDER BY a";

/// A running server.
pub(crate) struct Wide {
    pub(crate) server: Server,
    /// The superuser's.
    pub(crate) url: String,
}

impl Wide {
    pub(crate) async fn make() -> Self {
        let binaries = Binaries::unpacked(18).unwrap();
        let options = ServerOptions { binaries, home: Home::Throwaway, port: None, settings: Vec::new() };
        let server = Server::start(&options).unwrap();
        let wide = Self { url: server.superuser_url("postgres"), server };
        let admin = wide.admin().await;
        for number in 1..=TABLES {
            admin.batch_execute(&TABLE.replace('N', &number.to_string())).await.unwrap();
        }
        admin.batch_execute("VACUUM ANALYZE").await.unwrap();
        wide
    }

    pub(crate) async fn admin(&self) -> tokio_postgres::Client {
        let (client, connection) = tokio_postgres::connect(&self.url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

/// The join of all tables.
pub(crate) fn join() -> String {
    let joined: Vec<String> = (2..=TABLES).map(|n| format!("wide_{n} ON wide_{n}.id = wide_1.id")).collect();
    format!("SELECT wide_1.a FROM wide_1 JOIN {}", joined.join(" JOIN "))
}
