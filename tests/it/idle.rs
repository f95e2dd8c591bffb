//! The one connection that waits between two calls: when it is used again, when it is not, and that a call leaves nothing on it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use analyst::Failure;
use analyst::connect::{self, Asked, Keeper, SecretText, Stage};
use guard::facts::ObjectName;
use guard::{RowLimit, Rules};
use pg::{
    Claims, ConnectOptions, Connection, Consent, Idle, Memory, Place, Question, Read, ReadPlan, TokenRequest,
};
use tokio_postgres::Client;

use crate::client::{plan, soon};
use crate::support::{
    self, Login, SLOW, TestDb, each_major,
    pooler::Pooler,
    proxy::{Fault, Proxy},
};

/// Longer than any test of these takes.
const LONG: Duration = Duration::from_mins(2);

/// A credential whose secret a test changes.
struct Credential {
    id: &'static str,
    url: Mutex<String>,
    version: Mutex<String>,
}

impl Credential {
    fn new(id: &'static str, url: &str) -> Self {
        Self { id, url: Mutex::new(url.to_owned()), version: Mutex::new("1".to_owned()) }
    }

    fn rotate(&self, url: &str, version: &str) {
        url.clone_into(&mut self.url.lock().unwrap());
        version.clone_into(&mut self.version.lock().unwrap());
    }
}

impl Keeper for Credential {
    fn id(&self) -> &str {
        self.id
    }

    fn secret(&self, _: Stage) -> Asked<'_, SecretText> {
        let secret = SecretText {
            text: self.url.lock().unwrap().clone(),
            version: self.version.lock().unwrap().clone(),
        };
        Box::pin(async move { Ok(secret) })
    }

    fn place(&self, version: &str) -> Place {
        Place { secret: self.id.to_owned(), version: version.to_owned(), consent: Consent::default() }
    }

    fn token(&self, _: TokenRequest) -> Asked<'_, String> {
        unreachable!("these secrets hold passwords")
    }
}

/// An instance.
struct Instance {
    idle: Arc<Idle>,
    memory: Memory,
}

impl Instance {
    fn keeping(most: Duration) -> Self {
        Self { idle: Arc::new(Idle::new(most)), memory: Memory::default() }
    }

    async fn open(&self, credential: &Credential) -> Result<Connection, Failure> {
        let options = ConnectOptions { connect_timeout: Duration::from_secs(5), deadline: soon(20) };
        connect::open(credential, &self.idle, options).await.map(|opened| opened.connection)
    }

    /// One call: what the statement gave, as text; or why it gave nothing.
    async fn call(&self, credential: &Credential, sql: &str) -> Result<String, String> {
        self.call_with(credential, sql, &Rules::open(RowLimit::new(1000)), &plan()).await
    }

    async fn call_with(
        &self,
        credential: &Credential,
        sql: &str,
        rules: &Rules,
        plan: &ReadPlan,
    ) -> Result<String, String> {
        let mut connection = self.open(credential).await.map_err(|failure| failure.message)?;
        let candidate = guard::candidate(sql, rules).map_err(|refusal| refusal.to_string())?;
        let question = Question { candidate: &candidate, rules, parameters: &[], plan };
        let read = pg::read(&mut connection, &self.memory, question).await;
        connection.close().await;
        match read {
            Ok(Read::Ran(ran)) => Ok(crate::client::texts(&ran.raw).concat().concat()),
            Ok(Read::Refused(refusal)) => Err(refusal.to_string()),
            Ok(Read::TooCostly(estimate)) => Err(format!("{estimate:?}")),
            Err(error) => Err(error.code().to_owned()),
        }
    }
}

/// The connections that pinguard has open on the database, by process.
async fn open_now(db: &TestDb) -> Vec<i32> {
    let until = soon(2);
    loop {
        let pids: Vec<i32> = db.activity().await.iter().map(|one| one.pid).collect();
        // A server takes a moment to see that somebody has left.
        if pids.len() <= 1 || tokio::time::Instant::now() > until {
            return pids;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until pinguard has no connection open on the database.
async fn all_left(db: &TestDb) {
    let until = soon(2);
    while let Some(one) = db.activity().await.first() {
        assert!(tokio::time::Instant::now() < until, "{one:?} is open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn shop(server: &'static support::TestServer) -> (TestDb, Login) {
    let db = server.database().await;
    db.run("CREATE SCHEMA shop; CREATE TABLE shop.orders (id int, note text); INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b')").await;
    let login = db.reader(&["shop"]).await;
    (db, login)
}

#[tokio::test]
async fn the_next_call_takes_the_connection_that_waits() {
    each_major(async |server| {
        let (db, login) = shop(server).await;
        let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &login.url));
        assert_eq!(
            instance.call(&credential, "SELECT note FROM shop.orders ORDER BY 1").await.unwrap(),
            "ab"
        );
        let first = open_now(&db).await;
        assert_eq!(first.len(), 1);
        for _ in 0..3 {
            assert_eq!(instance.call(&credential, "SELECT count(*) FROM shop.orders").await.unwrap(), "2");
            assert_eq!(open_now(&db).await, first);
        }
        // A refusal is an answer as good as rows.
        instance.call(&credential, "SELECT pg_sleep(1)").await.unwrap_err();
        assert_eq!(open_now(&db).await, first);
    })
    .await;
}

#[tokio::test]
async fn none_waits_where_none_is_to_or_where_it_has_waited_too_long() {
    let (db, login) = shop(support::server(18)).await;
    let credential = Credential::new("shop", &login.url);
    let none = Instance::keeping(Duration::ZERO);
    none.call(&credential, "SELECT 1").await.unwrap();
    all_left(&db).await;
    let short = Instance::keeping(Duration::from_millis(100));
    short.call(&credential, "SELECT 1").await.unwrap();
    let first = open_now(&db).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    short.call(&credential, "SELECT 1").await.unwrap();
    let second = open_now(&db).await;
    assert!(second.len() == 1 && second != first, "{first:?} {second:?}");
}

/// What a session has that a call could leave behind, as text.
async fn session(admin: &Client, connection: &mut Connection, pid: i32) -> Vec<String> {
    let asks = [
        "SELECT pg_catalog.jsonb_object_agg(name, setting ORDER BY name)::text FROM pg_catalog.pg_settings \
         WHERE name <> ALL ('{transaction_read_only,in_hot_standby,search_path,statement_timeout,lock_timeout,\
         idle_in_transaction_session_timeout,transaction_timeout,client_connection_check_interval,TimeZone}')",
        "SELECT pg_catalog.concat(pg_catalog.json_agg(s.name)) FROM pg_catalog.pg_prepared_statements s",
        "SELECT pg_catalog.concat(pg_catalog.json_agg(c.name)) FROM pg_catalog.pg_cursors c WHERE c.name <> ''",
        "SELECT pg_catalog.concat(pg_catalog.json_agg(l)) FROM pg_catalog.pg_listening_channels() l",
        "SELECT pg_catalog.concat(current_user, session_user, pg_catalog.pg_my_temp_schema())",
    ];
    let asks = asks.map(|sql| pg::Ask { sql, parameters: Vec::new() });
    let tables = connection.catalog(&asks, None, soon(10)).await.unwrap();
    let mut seen: Vec<String> = tables.into_iter().flatten().flatten().flatten().collect();
    let about = admin
        .query_one(
            "SELECT concat((SELECT json_agg(l) FROM pg_locks l WHERE l.pid = $1), \
             (SELECT concat(a.state, a.backend_xid, a.backend_xmin, a.application_name) FROM pg_stat_activity a WHERE a.pid = $1))",
            &[&pid],
        )
        .await
        .unwrap();
    seen.push(about.get(0));
    seen
}

#[tokio::test]
async fn a_call_leaves_nothing_on_the_connection() {
    each_major(async |server| {
        let (db, login) = shop(server).await;
        let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &login.url));
        instance.call(&credential, "SELECT 1").await.unwrap();
        let [pid] = open_now(&db).await[..] else { panic!("not one connection") };
        let admin = db.client().await;
        let mut connection = instance.open(&credential).await.unwrap();
        let before = session(&admin, &mut connection, pid).await;
        connection.close().await;

        let tenant = pg::ClaimName::parse("tenant").unwrap();
        let claims = Claims::new(&[(&tenant, "t1".to_owned())]).unwrap();
        let path = pg::SearchPath::new(["shop"]).unwrap();
        let set = ReadPlan { claims: Some(claims), search_path: Some(path), ..plan() };
        let rules = Rules::open(RowLimit::new(1000));
        for sql in [
            "SELECT * FROM orders o JOIN orders p USING (id) WHERE o.note > 'A'",
            "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 100) SELECT sum(n) FROM t",
            "SELECT setseed(0.5)",
            "EXPLAIN ANALYZE SELECT * FROM orders",
            "SHOW search_path",
            "SELECT pg_sleep(0)",
            "SELECT count(*), repeat(note, 1000) FROM orders GROUP BY note",
        ] {
            let _ = instance.call_with(&credential, sql, &rules, &set).await;
            assert_eq!(open_now(&db).await, [pid], "{sql}");
        }
        let mut connection = instance.open(&credential).await.unwrap();
        let after = session(&admin, &mut connection, pid).await;
        assert_eq!(after, before);
        connection.close().await;
    })
    .await;
}

#[tokio::test]
async fn after_a_failure_the_connection_is_left() {
    let (db, login) = shop(support::server(17)).await;
    let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &login.url));
    let rules = Rules::open(RowLimit::new(1000));
    let brief = || ReadPlan { deadline: tokio::time::Instant::now() + Duration::from_millis(300), ..plan() };
    instance.call(&credential, "SELECT 1 / (id - 1) FROM shop.orders").await.unwrap_err();
    all_left(&db).await;
    instance.call(&credential, "SELECT nothing FROM shop.orders").await.unwrap_err();
    all_left(&db).await;
    instance.call_with(&credential, SLOW, &rules, &brief()).await.unwrap_err();
    all_left(&db).await;
    // Enough was read, and the statement was cancelled: the cancel may still be on its way.
    let short = ReadPlan { row_limit: 10, ..plan() };
    instance.call_with(&credential, "SELECT generate_series(1, 1000)", &rules, &short).await.unwrap();
    all_left(&db).await;
    // The caller has gone.
    let gone = tokio::time::timeout(Duration::from_millis(200), instance.call(&credential, SLOW)).await;
    assert!(gone.is_err());
    all_left(&db).await;
    instance.call(&credential, "SELECT 1").await.unwrap();
    assert_eq!(open_now(&db).await.len(), 1);
}

#[tokio::test]
async fn what_somebody_vouched_for_has_its_connection_to_itself() {
    let (db, login) = shop(support::server(18)).await;
    let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &login.url));
    db.run("CREATE FUNCTION shop.lock() RETURNS int STABLE LANGUAGE sql AS $$ SELECT 1 FROM pg_advisory_lock(7) $$").await;
    db.run(&format!("GRANT EXECUTE ON FUNCTION shop.lock() TO {}", login.role)).await;
    let vouched = ObjectName { schema: "shop".to_owned(), name: "lock".to_owned() };
    let rules = Rules { allowed_functions: vec![vouched], ..Rules::open(RowLimit::new(1000)) };
    assert_eq!(instance.call_with(&credential, "SELECT shop.lock()", &rules, &plan()).await.unwrap(), "1");
    all_left(&db).await;
}

#[tokio::test]
async fn a_connection_that_ended_meanwhile_is_replaced_before_anything_is_sent() {
    each_major(async |server| {
        let (db, login) = shop(server).await;
        let proxy = Proxy::start(server.port()).await;
        let url = proxy.through(&login.url, server.port());
        let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &url));
        let sql = "SELECT note FROM shop.orders ORDER BY 1";
        instance.call(&credential, sql).await.unwrap();
        let first = open_now(&db).await;
        db.end_connections().await;
        proxy.all_ended().await;
        assert_eq!(instance.call(&credential, sql).await.unwrap(), "ab", "the server ended it");
        let second = open_now(&db).await;
        assert!(second.len() == 1 && second != first, "{first:?} {second:?}");
        proxy.set(Fault::Cut);
        proxy.all_ended().await;
        proxy.set(Fault::None);
        assert_eq!(instance.call(&credential, sql).await.unwrap(), "ab", "the line was cut");
        let third = open_now(&db).await;
        assert!(third.len() == 1 && third != second, "{second:?} {third:?}");
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_a_network_forgot_is_replaced_within_a_second() {
    let (db, login) = shop(support::server(18)).await;
    let proxy = Proxy::start(db.server.port()).await;
    let url = proxy.through(&login.url, db.server.port());
    let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &url));
    instance.call(&credential, "SELECT 1").await.unwrap();
    assert_eq!(proxy.connections(), 1);
    tokio::time::sleep(Duration::from_millis(5_100)).await;
    instance.call(&credential, "SELECT 1").await.unwrap();
    assert_eq!(proxy.connections(), 1, "the server said a word, and the connection was used again");
    tokio::time::sleep(Duration::from_millis(5_100)).await;
    proxy.set(Fault::Silence);
    let heals = async {
        tokio::time::sleep(Duration::from_millis(1_200)).await;
        proxy.set(Fault::None);
    };
    let began = tokio::time::Instant::now();
    let (answer, ()) = tokio::join!(instance.call(&credential, "SELECT 1"), heals);
    assert_eq!(answer.unwrap(), "1");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_rotated_secret_opens_a_connection_of_its_own_and_leaves_the_old_one() {
    let (db, login) = shop(support::server(16)).await;
    let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &login.url));
    instance.call(&credential, "SELECT 1").await.unwrap();
    let first = open_now(&db).await;
    db.run(&format!("ALTER ROLE {} PASSWORD 'other'", login.role)).await;
    credential.rotate(&login.url.replace(&login.password, "other"), "2");
    instance.call(&credential, "SELECT 1").await.unwrap();
    let second = open_now(&db).await;
    assert!(second.len() == 1 && second != first, "{first:?} {second:?}");
    // A secret that does not fit any more is no matter of what waits: the old version is not used again.
    credential.rotate(&login.url, "3");
    let refused = instance.call(&credential, "SELECT 1").await.unwrap_err();
    assert!(refused.contains("password"), "{refused}");
    all_left(&db).await;
}

#[tokio::test]
async fn a_right_that_was_taken_away_is_taken_from_what_waits_too() {
    let (db, login) = shop(support::server(18)).await;
    let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &login.url));
    let sql = "SELECT count(*) FROM shop.orders";
    instance.call(&credential, sql).await.unwrap();
    db.run(&format!("REVOKE SELECT ON shop.orders FROM {}", login.role)).await;
    assert_eq!(instance.call(&credential, sql).await.unwrap_err(), "42501");
    // What logs in anew is asked for the login itself.
    db.run(&format!("ALTER ROLE {} NOLOGIN", login.role)).await;
    let refused = instance.call(&credential, "SELECT 1").await.unwrap_err();
    assert!(refused.contains("log in"), "{refused}");
}

#[tokio::test]
async fn one_connection_waits_in_all() {
    let (sales, sales_login) = shop(support::server(18)).await;
    let (stock, stock_login) = shop(support::server(17)).await;
    let instance = Instance::keeping(LONG);
    let (one, other) =
        (Credential::new("sales", &sales_login.url), Credential::new("stock", &stock_login.url));
    for _ in 0..2 {
        instance.call(&one, "SELECT 1").await.unwrap();
        assert_eq!(open_now(&stock).await, [0; 0]);
        assert_eq!(open_now(&sales).await.len(), 1);
        instance.call(&other, "SELECT 1").await.unwrap();
        assert_eq!(open_now(&sales).await, [0; 0]);
        assert_eq!(open_now(&stock).await.len(), 1);
    }
    let (first, second) = tokio::join!(instance.call(&other, "SELECT 1"), instance.call(&other, "SELECT 1"));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(open_now(&stock).await.len(), 1);
}

#[tokio::test]
async fn a_connection_to_a_pooler_waits_as_well() {
    let (db, login) = shop(support::server(16)).await;
    Pooler::each(db.server, 2, async |pooler| {
        let url = pooler.through(&login.url, db.server.port());
        let (instance, credential) = (Instance::keeping(LONG), Credential::new("shop", &url));
        for _ in 0..4 {
            assert_eq!(
                instance.call(&credential, "SELECT note FROM shop.orders ORDER BY 1").await.unwrap(),
                "ab"
            );
        }
        let mut waiting = instance.open(&credential).await.unwrap();
        assert!(waiting.flights() > 8, "it is one connection of ours");
        assert!(waiting.catalog(&[], None, soon(5)).await.is_ok());
        waiting.close().await;
    })
    .await;
}
