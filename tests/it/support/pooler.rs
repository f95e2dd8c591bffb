//! PgBouncer in front of a server, with a transaction as the unit that gets a server connection.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    thread,
    time::Duration,
};

use local::{
    embedded::{SUPERUSER, random_word, target_folder},
    supervised::{Account, Program, Supervised, temporary},
};

use super::TestServer;

const PGBOUNCER: &str = "/usr/sbin/pgbouncer";

/// A newer one, in the target folder: see `scripts/lib/pgbouncer.sh`.
const NEWER: &str = "pgbouncer/pgbouncer";

/// What only a newer one knows: whether it keeps named statements, and how many.
const KEEPS_NAMED: &str = "max_prepared_statements = 100\n";
const KEEPS_NONE: &str = "max_prepared_statements = 0\n";

/// A running pooler; it ends with its value. Any login of the server may come through it.
pub(crate) struct Pooler {
    pub(crate) port: u16,
    program: Supervised,
}

impl Pooler {
    /// Runs a test with each PgBouncer that is here: the system's, a newer one, and that one keeping named statements.
    pub(crate) async fn each(server: &TestServer, size: u16, test: impl AsyncFn(Self)) {
        test(Self::start(server, size)).await;
        let newer = target_folder().unwrap().join(NEWER);
        if !newer.is_file() {
            println!("left out: there is no newer PgBouncer; scripts/test builds it");
            return;
        }
        for more in [KEEPS_NONE, KEEPS_NAMED] {
            test(Self::start_program(&newer, more, server, size)).await;
        }
    }

    /// Starts the system's. At most `size` server connections a user and database.
    pub(crate) fn start(server: &TestServer, size: u16) -> Self {
        let path = Path::new(PGBOUNCER);
        assert!(path.is_file(), "there is no {PGBOUNCER}: run scripts/test, which installs it");
        Self::start_program(path, "", server, size)
    }

    fn start_program(path: &Path, more: &str, server: &TestServer, size: u16) -> Self {
        let account = Account::for_programs(None).unwrap();
        let folder = temporary().join(format!("pinguard-{}", random_word().unwrap()));
        fs::create_dir(&folder).unwrap();
        let port = free_port();
        // PgBouncer looks every login up by the superuser, and shows the server what the client proved to it.
        let settings = format!(
            "[databases]\n* = host=127.0.0.1 port={} auth_user={SUPERUSER}\n\
             [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
             auth_type = scram-sha-256\nauth_file = {}\nauth_user = {SUPERUSER}\n\
             pool_mode = transaction\nmax_client_conn = 400\ndefault_pool_size = {size}\n{more}",
            server.port(),
            folder.join("users").display(),
        );
        let users = format!("\"{SUPERUSER}\" \"{}\"\n", server.server.password());
        fs::write(folder.join("pgbouncer.ini"), settings).unwrap();
        fs::write(folder.join("users"), users).unwrap();
        if let Some(account) = account {
            account.own(&folder).unwrap();
        }
        let mut program = Supervised::start(Program {
            path,
            arguments: vec![folder.join("pgbouncer.ini").into()],
            account,
            folder: &folder,
            log: folder.join("log"),
            // Newer ones take TERM as a wish to wait for their clients; they have nothing to lose.
            stop_signal: "KILL",
            scratch: Some(&folder),
        })
        .unwrap();
        for _ in 0..500 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Self { port, program };
            }
            assert!(!program.ended().unwrap(), "PgBouncer did not start: {}", program.output());
            thread::sleep(Duration::from_millis(10));
        }
        panic!("PgBouncer does not listen: {}", program.output());
    }

    /// The URL of the server, through this pooler.
    pub(crate) fn through(&self, url: &str, server_port: u16) -> String {
        url.replacen(&format!(":{server_port}/"), &format!(":{}/", self.port), 1)
    }

    /// The pooler's log up to now.
    pub(crate) fn log(&self) -> String {
        self.program.output()
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}
