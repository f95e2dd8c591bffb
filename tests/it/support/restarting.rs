//! A server that is stopped and comes back where it was, with what it had.

use std::{fs, path::PathBuf};

use local::embedded::{Binaries, Home, Server, ServerOptions, random_word};

/// A server of PostgreSQL 18 in a folder of its own; both go with their value.
pub(crate) struct Restarting {
    server: Option<Server>,
    home: PathBuf,
    port: u16,
}

impl Restarting {
    pub(crate) fn start() -> Self {
        let home = std::env::temp_dir().join(format!("pinguard-restart-{}", random_word().unwrap()));
        let server = serve(&home, None);
        let port = server.port();
        Self { server: Some(server), home, port }
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("it runs")
    }

    pub(crate) fn stop(&mut self) {
        self.server.take().expect("it runs").stop().unwrap();
    }

    /// Comes back at the same port.
    pub(crate) fn come_back(&mut self) {
        self.server = Some(serve(&self.home, Some(self.port)));
    }
}

impl Drop for Restarting {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop().unwrap();
        }
        fs::remove_dir_all(&self.home).unwrap();
    }
}

fn serve(home: &std::path::Path, port: Option<u16>) -> Server {
    let options = ServerOptions {
        binaries: Binaries::unpacked(18).unwrap(),
        home: Home::At(home.to_owned()),
        port,
        settings: vec![("fsync".to_owned(), "off".to_owned())],
    };
    Server::start(&options).unwrap()
}
