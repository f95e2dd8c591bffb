//! The embedded PostgreSQL: what it keeps, what it refuses, and where it lives.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use local::embedded::{Binaries, Home, Server, ServerOptions};

use crate::support::{command::Folder, connect};

fn options(major: u16, folder: &Path) -> ServerOptions {
    ServerOptions {
        binaries: Binaries::unpacked(major).unwrap(),
        home: Home::At(folder.to_owned()),
        port: None,
        settings: vec![("fsync".to_owned(), "off".to_owned())],
    }
}

#[tokio::test]
async fn data_and_password_outlive_the_server() {
    let folder = Folder::new();
    let first = Server::start(&options(18, &folder.0)).unwrap();
    let password = first.password().to_owned();
    let client = connect(&first.superuser_url("postgres")).await;
    client.batch_execute("CREATE TABLE kept AS SELECT 7 AS n").await.unwrap();
    first.stop().unwrap();
    let second = Server::start(&options(18, &folder.0)).unwrap();
    assert_eq!(second.password(), password);
    let client = connect(&second.superuser_url("postgres")).await;
    assert_eq!(client.query_one("SELECT n FROM kept", &[]).await.unwrap().get::<_, i32>(0), 7);
}

#[tokio::test]
async fn it_listens_on_loopback_alone_and_has_the_given_settings() {
    let folder = Folder::new();
    let server = Server::start(&options(16, &folder.0)).unwrap();
    let client = connect(&server.superuser_url("postgres")).await;
    let settings = "SELECT current_setting('listen_addresses'), current_setting('unix_socket_directories'), \
                    current_setting('fsync'), current_setting('TimeZone'), current_setting('server_encoding')";
    let row = client.query_one(settings, &[]).await.unwrap();
    let values: Vec<&str> = (0..row.len()).map(|column| row.get(column)).collect();
    assert_eq!(values, ["127.0.0.1", "", "off", "UTC", "UTF8"]);
}

#[test]
fn data_of_another_major_are_refused() {
    let folder = Folder::new();
    Server::start(&options(14, &folder.0)).unwrap().stop().unwrap();
    let error = Server::start(&options(15, &folder.0)).unwrap_err();
    let expected = format!(
        "{} was made by PostgreSQL 14, and this is PostgreSQL 15: give another data folder",
        folder.0.display()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_port_in_use_and_a_bad_setting_are_told() {
    let folder = Folder::new();
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = Server::start(&ServerOptions { port: Some(port), ..options(17, &folder.0) }).unwrap_err();
    assert_eq!(error.to_string(), format!("port {port} on 127.0.0.1 is in use: free it or give another one"));
    let settings = vec![("colour".to_owned(), "red".to_owned())];
    let error = Server::start(&ServerOptions { settings, ..options(17, &folder.0) }).unwrap_err();
    assert!(error.to_string().contains("unrecognized configuration parameter \"colour\""), "{error}");
}

#[test]
fn a_folder_that_only_root_can_enter_is_left_for_one_that_postgres_can() {
    let folder = Folder::new();
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o700)).unwrap();
    let given = folder.0.join("data");
    let server = Server::start(&options(15, &given)).unwrap();
    let used = server.data_dir().parent().unwrap().to_owned();
    server.stop().unwrap();
    // Without root, postgres runs as ourselves and enters.
    if used != given {
        assert_eq!(used.parent(), Some(local::supervised::temporary().as_path()));
        assert_eq!(Home::At(given).major(), Some(15));
        fs::remove_dir_all(used).unwrap();
    }
}
