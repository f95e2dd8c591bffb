//! What is measured against: a server that speaks TLS, a table, a login by SCRAM, and a flow with a key.

use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use local::embedded::{Binaries, Home, Server, ServerOptions, random_word};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use state::{ApiKey, Control, Credential, CredentialId, Flow, FlowStage, NewKey, Scope, SecretStore};
use tokio_postgres::NoTls;

/// The statement of every call.
pub(crate) const SQL: &str = "SELECT item, price, sold FROM stock WHERE sold > 5 ORDER BY item";

/// The node that serves it.
pub(crate) const PATH: &str = "/mcp/team/sales";

/// The ids of the secrets, and the files that they lie in.
pub(crate) const CONTROL_SECRET: &str = "control";
pub(crate) const DATABASE_SECRET: &str = "stock";

/// Everything that calls need.
pub(crate) struct World {
    pub(crate) folder: PathBuf,
    /// The CA of the server's certificate, as PEM.
    pub(crate) ca: String,
    /// The login that reads, over TLS.
    pub(crate) reader_url: String,
    /// The control database, over TLS.
    pub(crate) control_url: String,
    pub(crate) key: ApiKey,
    server: Server,
}

impl World {
    pub(crate) async fn make() -> Self {
        let binaries = Binaries::unpacked(18).unwrap();
        // For as many callers at one time, each with a connection to either database.
        let settings = vec![("max_connections".to_owned(), "500".to_owned())];
        let options = ServerOptions { binaries, home: Home::Throwaway, port: None, settings };
        let server = Server::start(&options).unwrap();
        let folder = std::env::temp_dir().join(format!("pinguard-bench-{}", random_word().unwrap()));
        fs::create_dir(&folder).unwrap();
        let ca = encrypt(&server).await;
        fs::write(folder.join("ca.pem"), &ca).unwrap();
        let password = random_word().unwrap();
        let admin = connect(&server).await;
        for sql in [
            "CREATE TABLE stock (item text PRIMARY KEY, price numeric(8,2) NOT NULL, sold bigint NOT NULL)",
            "INSERT INTO stock SELECT 'item ' || n, n * 1.25, n FROM generate_series(1, 12) AS n",
            &format!("CREATE ROLE reader LOGIN PASSWORD '{password}'"),
            "GRANT SELECT ON stock TO reader",
            "GRANT SET ON PARAMETER log_min_messages TO reader",
            "VACUUM ANALYZE",
        ] {
            admin.batch_execute(sql).await.unwrap();
        }
        let tls = format!("?sslmode=verify-full&sslrootcert={}", folder.join("ca.pem").display());
        let reader_url = server.url("reader", &password, "postgres") + &tls;
        let control_url = server.superuser_url("postgres") + &tls;
        fs::write(folder.join(CONTROL_SECRET), &control_url).unwrap();
        fs::write(folder.join(DATABASE_SECRET), &reader_url).unwrap();
        let mut world =
            Self { folder, ca, reader_url, control_url, key: ApiKey::from_random([7; 32]), server };
        world.publish().await;
        world
    }

    pub(crate) fn secrets(&self) -> Arc<SecretStore> {
        Arc::new(SecretStore::Files(self.folder.clone()))
    }

    pub(crate) fn control(&self) -> Control {
        Control::new(self.secrets(), CONTROL_SECRET.to_owned())
    }

    /// A connection of the superuser's.
    pub(crate) async fn admin(&self) -> tokio_postgres::Client {
        connect(&self.server).await
    }

    async fn publish(&mut self) {
        let control = self.control();
        control.migrate().await.unwrap();
        let id = CredentialId::parse("stock").unwrap();
        let credential = Credential { id: &id, name: "stock", secret_id: DATABASE_SECRET };
        control.put_credential("acme", &credential).await.unwrap();
        let flow = json!({"id": "team", "kind": "chatflow",
            "nodes": [{"id": "sales", "credential": "stock", "actions": ["query"]}]});
        control
            .put_flow("acme", &Flow::from_json(&flow.to_string()).unwrap(), FlowStage::Live)
            .await
            .unwrap();
        let new = NewKey { name: "agent", hash: self.key.hash(), scopes: &[Scope::McpCall], flows: None };
        control.put_key("acme", &new).await.unwrap();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.folder).unwrap();
    }
}

/// Switches TLS on with a certificate of a CA of its own. Gives the CA.
async fn encrypt(server: &Server) -> String {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let ca = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    // Named otherwise than its CA: OpenSSL would take it for one that signed itself.
    params.distinguished_name.push(DnType::CommonName, "127.0.0.1");
    let certificate = params.signed_by(&key, &issuer).unwrap();
    write(server, "server.crt", &certificate.pem());
    write(server, "server.key", &key.serialize_pem());
    let admin = connect(server).await;
    admin.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
    admin.execute("SELECT pg_reload_conf()", &[]).await.unwrap();
    // New connections see it when the postmaster has got round to it.
    loop {
        let ssl: String = connect(server).await.query_one("SHOW ssl", &[]).await.unwrap().get(0);
        if ssl == "on" {
            return ca;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Writes a file that is the server's own and nobody else's, as PostgreSQL wants its key.
fn write(server: &Server, name: &str, text: &str) {
    let path = server.data_dir().join(name);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let owner = fs::metadata(server.data_dir()).unwrap();
    chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
}

async fn connect(server: &Server) -> tokio_postgres::Client {
    let (client, connection) =
        tokio_postgres::connect(&server.superuser_url("postgres"), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}
