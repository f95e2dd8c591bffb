//! The databases on the embedded server: the control database, and the demo with its login that may only read.

use anyhow::{Context as _, Result};
use tokio_postgres::{Client, NoTls};

use crate::embedded::{Server, random_word};

/// The content of the demo database. The role `pinguard_reader` must be there.
pub const DEMO: &str = include_str!("../demo.sql");

const CONTROL: &str = "pinguard";
const CONTROL_ROLE: &str = "pinguard_control";
const DEMO_DATABASE: &str = "demo";
const READER: &str = "pinguard_reader";

/// Lets the reader keep out of the server's log what PostgreSQL resolves its statements to. PostgreSQL 14 cannot even read the
/// grant that later ones take.
const QUIETEN: &str = "DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 150000 THEN
        EXECUTE 'GRANT SET ON PARAMETER log_min_messages TO pinguard_reader';
    ELSE
        ALTER ROLE pinguard_reader SET log_min_messages = fatal;
    END IF;
END $$";

/// Makes the control database and its owner unless they are there. Gives the owner's URL, good until the next start.
pub(crate) async fn control(server: &Server) -> Result<String> {
    let admin = connect(&server.superuser_url("postgres")).await?;
    let password = login(&admin, CONTROL_ROLE).await?;
    if !exists(&admin, "SELECT FROM pg_database WHERE datname = $1", CONTROL).await? {
        admin.batch_execute(&format!("CREATE DATABASE {CONTROL} OWNER {CONTROL_ROLE}")).await?;
    }
    // The demo's login has no business here.
    admin.batch_execute(&format!("REVOKE ALL ON DATABASE {CONTROL} FROM PUBLIC")).await?;
    Ok(server.url(CONTROL_ROLE, &password, CONTROL))
}

/// Makes and fills the demo database unless that was done. Gives the reader's URL, good until the next start.
pub(crate) async fn demo(server: &Server) -> Result<String> {
    let admin = connect(&server.superuser_url("postgres")).await?;
    let password = login(&admin, READER).await?;
    admin.batch_execute(QUIETEN).await?;
    if !exists(&admin, "SELECT FROM pg_database WHERE datname = $1", DEMO_DATABASE).await? {
        admin.batch_execute(&format!("CREATE DATABASE {DEMO_DATABASE}")).await?;
    }
    // The comment is written together with the data, so it says whether they are all there, whatever became of them.
    let loaded =
        "SELECT FROM pg_database WHERE datname = $1 AND shobj_description(oid, 'pg_database') IS NOT NULL";
    if !exists(&admin, loaded, DEMO_DATABASE).await? {
        let client = connect(&server.superuser_url(DEMO_DATABASE)).await?;
        let comment = format!("COMMENT ON DATABASE {DEMO_DATABASE} IS 'demo data of pinguard, loaded once'");
        client
            .batch_execute(&format!("BEGIN; {DEMO}; {comment}; COMMIT; ANALYZE"))
            .await
            .context("cannot load the demo")?;
    }
    Ok(server.url(READER, &password, DEMO_DATABASE))
}

/// Leaves one flow Live. Those of earlier runs were meant for another database or another selection; their drafts stay.
pub(crate) async fn only_live(control_url: &str, workspace: &str, flow: &str) -> Result<()> {
    let client = connect(control_url).await?;
    let withdraw = "UPDATE pinguard.flow SET live = NULL WHERE workspace = $1 AND id <> $2";
    client.execute(withdraw, &[&workspace, &flow]).await?;
    Ok(())
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("cannot connect to the embedded server")?;
    tokio::spawn(connection);
    Ok(client)
}

async fn exists(client: &Client, query: &str, name: &str) -> Result<bool> {
    Ok(client.query_opt(query, &[&name]).await?.is_some())
}

/// Makes a login, or gives it a new password: none needs to be kept.
async fn login(admin: &Client, role: &str) -> Result<String> {
    let password = random_word()?;
    let verb = if exists(admin, "SELECT FROM pg_roles WHERE rolname = $1", role).await? {
        "ALTER"
    } else {
        "CREATE"
    };
    admin.batch_execute(&format!("{verb} ROLE {role} LOGIN PASSWORD '{password}'")).await?;
    Ok(password)
}
