//! Servers that speak TLS with a good or a bad certificate.

use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, chown},
    time::Duration,
};

use local::embedded::Binaries;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};

use super::TestServer;

/// What is the matter with the server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// Nothing: signed by the CA, for `localhost` and 127.0.0.1.
    Good,
    /// Signed by the CA, for another host.
    WrongHost,
    /// Signed by the CA, for the right host, until the end of 2020.
    Expired,
}

/// A server with TLS switched on; it takes connections without TLS too, until [`TestServer::set_hba`] says otherwise.
/// The plain case, a server without TLS, is [`super::server`].
pub(crate) struct TlsServer {
    pub(crate) server: TestServer,
    /// The private CA that signed the certificate, as PEM: what `sslrootcert` takes.
    pub(crate) ca: String,
    /// Another CA, which signed nothing here.
    pub(crate) foreign_ca: String,
}

impl TlsServer {
    /// Starts a server of PostgreSQL 16.
    pub(crate) async fn start(certificate: Certificate) -> Self {
        let server = TestServer::start(Binaries::unpacked(16).unwrap(), &[]);
        let (ca, issuer) = authority("pinguard test CA");
        let (foreign_ca, _) = authority("another CA");
        let (chain, key) = issue(certificate, &issuer);
        write(&server, "server.crt", &chain);
        write(&server, "server.key", &key);
        let admin = server.admin().await;
        admin.batch_execute("ALTER SYSTEM SET ssl = on").await.unwrap();
        admin.execute("SELECT pg_reload_conf()", &[]).await.unwrap();
        // The postmaster reloads when it gets round to it, and new connections see that.
        for _ in 0..500 {
            let ssl: String = server.admin().await.query_one("SHOW ssl", &[]).await.unwrap().get(0);
            if ssl == "on" {
                return Self { server, ca, foreign_ca };
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the server does not switch TLS on: {}", server.log());
    }

    /// The superuser's URL by the host name `localhost`, with the given parameters after the `?`.
    pub(crate) fn url(&self, parameters: &str) -> String {
        self.server.server.superuser_url("postgres").replacen("@127.0.0.1:", "@localhost:", 1)
            + "?"
            + parameters
    }
}

pub(crate) fn authority(name: &str) -> (String, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    (pem, Issuer::new(params, key))
}

pub(crate) fn issue(certificate: Certificate, issuer: &Issuer<'_, KeyPair>) -> (String, String) {
    let hosts: &[&str] = match certificate {
        Certificate::Good | Certificate::Expired => &["localhost", "127.0.0.1"],
        Certificate::WrongHost => &["db.example.org"],
    };
    let mut params =
        CertificateParams::new(hosts.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    if certificate == Certificate::Expired {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2020, 12, 31);
    }
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, issuer).unwrap().pem(), key.serialize_pem())
}

/// PostgreSQL takes a key file only if it is its own and nobody else's.
fn write(server: &TestServer, name: &str, text: &str) {
    let folder = server.server.data_dir();
    let path = folder.join(name);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let owner = fs::metadata(&folder).unwrap();
    chown(&path, Some(owner.uid()), Some(owner.gid())).unwrap();
}
