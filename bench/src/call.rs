//! A call through the endpoint beside the least that a plain client does for the same rows.

use std::{sync::Arc, time::Duration};

use guard::{RowLimit, Rules};
use pg::{ConnectOptions, Connection, Memory, Question, Ran, Read, ReadPlan, Target};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use serde_json::json;
use state::SecretStage;
use tokio::task::JoinHandle;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{
    endpoint::{Endpoint, timed},
    median, milliseconds,
    world::{DATABASE_SECRET, PATH, SQL, World},
};

const WARM_UP: usize = 30;
const ROUNDS: usize = 400;

/// The most that a call may take, as a multiple of what the plain client takes.
const AT_MOST: f64 = 1.6;

/// Measures and prints.
pub(crate) async fn measure(world: &World) {
    let endpoint = Endpoint::of(world);
    let plain = Plain::of(world);
    let target = Target::parse(&world.reader_url).unwrap();
    let (mut ours, mut theirs, mut our_logins, mut their_logins) = (vec![], vec![], vec![], vec![]);
    for round in 0..WARM_UP + ROUNDS {
        let times = [
            timed(call(&endpoint)).await,
            timed(plain.read()).await,
            timed(async { open(&target).await.close().await }).await,
            timed(plain.connect()).await,
        ];
        if round >= WARM_UP {
            let lists = [&mut ours, &mut theirs, &mut our_logins, &mut their_logins];
            for (list, time) in lists.into_iter().zip(times) {
                list.push(time);
            }
        }
    }
    println!("medians of {ROUNDS} rounds, taken in turns; TLS, SCRAM and a new connection each time");
    line("connecting alone", median(&mut our_logins), median(&mut their_logins));
    let ratio = line("a small query", median(&mut ours), median(&mut theirs));
    println!(
        "  a small query is `query` through the endpoint, with key, flow, secret, guard and JSON, beside"
    );
    println!(
        "  connect, BEGIN READ ONLY, the statement and ROLLBACK by tokio-postgres; at most {AT_MOST} is the aim"
    );
    parts(&endpoint, world, &target).await;
    if ratio > AT_MOST {
        println!("NOT MET: {ratio:.2} is more than {AT_MOST}");
    }
}

fn line(what: &str, ours: Duration, theirs: Duration) -> f64 {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "  {what:<18} pinguard {:>9}   tokio-postgres {:>9}   ratio {ratio:.2}",
        milliseconds(ours),
        milliseconds(theirs)
    );
    ratio
}

async fn call(endpoint: &Endpoint) {
    let answer = endpoint.call(PATH, "query", &json!({"sql": SQL})).await;
    assert_eq!(answer["rowCount"], 7, "{answer}");
}

/// A request that needs no database but the control one.
async fn list_tools(endpoint: &Endpoint) {
    let answer = endpoint.ask(PATH, "tools/list", &json!({})).await;
    assert_eq!(answer["result"]["tools"][0]["name"], "query", "{answer}");
}

/// What a call is made of, each part alone.
async fn parts(endpoint: &Endpoint, world: &World, target: &Target) {
    let control = world.control();
    let secrets = world.secrets();
    let token = world.key.text().parse().unwrap();
    let rules = Rules::open(RowLimit::new(500));
    let check = || guard::candidate(SQL, &rules).unwrap();
    let memory = Memory::default();
    let (mut listing, mut admitting, mut secret, mut judging, mut reading) =
        (vec![], vec![], vec![], vec![], vec![]);
    let mut flights = 0;
    for _ in 0..ROUNDS {
        listing.push(timed(list_tools(endpoint)).await);
        admitting.push(timed(async { control.admit(&token, "team", soon()).await.unwrap() }).await);
        secret
            .push(timed(async { secrets.read(DATABASE_SECRET, SecretStage::Current).await.unwrap() }).await);
        judging.push(timed(async { check() }).await);
        let (candidate, mut connection) = (check(), open(target).await);
        let question = Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan() };
        reading.push(timed(async { ran(pg::read(&mut connection, &memory, question).await) }).await);
        flights = connection.flights();
    }
    println!(
        "  a list of the tools, which asks the control database alone: {}",
        milliseconds(median(&mut listing))
    );
    println!(
        "  of a call: key and flow {}, secret {}, guard {}, statement {} in {flights} flights",
        milliseconds(median(&mut admitting)),
        milliseconds(median(&mut secret)),
        milliseconds(median(&mut judging)),
        milliseconds(median(&mut reading))
    );
}

pub(crate) fn ran(read: Result<Read, pg::ReadError>) -> Ran {
    match read.unwrap() {
        Read::Ran(ran) => *ran,
        Read::Refused(refusal) => panic!("{refusal}"),
        Read::TooCostly(estimate) => panic!("{estimate:?}"),
    }
}

pub(crate) fn plan() -> ReadPlan {
    ReadPlan {
        search_path: None,
        claims: None,
        deadline: soon(),
        row_limit: 500,
        raw_byte_budget: 1 << 20,
        keep: 16_000,
        cost: None,
        page: None,
    }
}

pub(crate) async fn open(target: &Target) -> Connection {
    let options = ConnectOptions { connect_timeout: Duration::from_secs(5), deadline: soon() };
    Connection::open(target, options).await.unwrap()
}

fn soon() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_secs(20)
}

/// The plain client: tokio-postgres with rustls, its TLS configuration made once.
struct Plain {
    config: tokio_postgres::Config,
    tls: MakeRustlsConnect,
}

impl Plain {
    fn of(world: &World) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(world.ca.as_bytes()).unwrap()).unwrap();
        let tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let (url, _) = world.reader_url.split_once('?').unwrap();
        let mut config: tokio_postgres::Config = url.parse().unwrap();
        config.ssl_mode(tokio_postgres::config::SslMode::Require);
        Self { config, tls: MakeRustlsConnect::new(tls) }
    }

    async fn connect(&self) {
        let (client, driver) = self.open().await;
        drop(client);
        driver.await.unwrap().unwrap();
    }

    async fn read(&self) {
        let (client, driver) = self.open().await;
        client.batch_execute("BEGIN READ ONLY").await.unwrap();
        let rows = client.query(SQL, &[]).await;
        client.batch_execute("ROLLBACK").await.unwrap();
        // numeric has no plain form in this client, so that its bytes stay as they are.
        assert_eq!(rows.unwrap().len(), 7);
        drop(client);
        // Taking leave is part of it, as it is of ours; left to itself it would fall into the next measurement.
        driver.await.unwrap().unwrap();
    }

    async fn open(&self) -> (tokio_postgres::Client, JoinHandle<Result<(), tokio_postgres::Error>>) {
        let (client, connection) = self.config.connect(self.tls.clone()).await.unwrap();
        (client, tokio::spawn(connection))
    }
}
