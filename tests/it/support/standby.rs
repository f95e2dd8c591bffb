//! A hot standby: the data of a server that was stopped, brought up as a server that follows another and can only be read.

use std::path::PathBuf;
use std::process::Command;

use local::embedded::{Binaries, Home, Server, ServerOptions};

use super::connect;

/// A standby in a folder of its own; dropping it stops it.
pub(crate) struct Standby {
    server: Server,
    folder: PathBuf,
}

impl Standby {
    /// Lays out a server by statements of its superuser, and has a copy of it follow.
    pub(crate) async fn of(major: u16, setup: &str) -> Self {
        let word = local::embedded::random_word().unwrap();
        let folder = std::env::temp_dir().join(format!("pinguard-standby-{word}"));
        let options = ServerOptions {
            binaries: Binaries::unpacked(major).unwrap(),
            home: Home::At(folder.clone()),
            port: None,
            settings: Vec::new(),
        };
        let primary = Server::start(&options).unwrap();
        connect(&primary.superuser_url("postgres")).await.batch_execute(setup).await.unwrap();
        let signal = primary.data_dir().join("standby.signal");
        primary.stop().unwrap();
        // With the owner of what lies beside it.
        let version = signal.with_file_name("PG_VERSION");
        assert!(Command::new("cp").arg("-p").args([&version, &signal]).status().unwrap().success());
        Self { server: Server::start(&options).unwrap(), folder }
    }

    pub(crate) fn url(&self, user: &str, password: &str) -> String {
        self.server.url(user, password, "postgres")
    }

    pub(crate) fn superuser_url(&self) -> String {
        self.server.superuser_url("postgres")
    }

    /// Ends following: from now on it can be written to.
    pub(crate) async fn promote(&self) {
        let client = connect(&self.superuser_url()).await;
        assert!(client.query_one("SELECT pg_promote()", &[]).await.unwrap().get::<_, bool>(0));
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        let folder = self.folder.clone();
        // The server goes with its field, after this; what it still writes then lies in a folder that is gone.
        let _ = std::fs::remove_dir_all(folder);
    }
}
