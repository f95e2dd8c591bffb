//! A PostgreSQL 15 with the databases, and the login that may only read.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
    thread,
};

use guard::facts::ObjectName;
use local::embedded::{Binaries, random_word};

use crate::support::{self, TestServer};

/// The login that the statements were recorded with.
const READER: &str = "analyst";

/// As the recording had them. A dump of many tables restores in one transaction, so it takes many locks.
const SETTINGS: &[(&str, &str)] =
    &[("timezone", "UTC"), ("max_locks_per_transaction", "512"), ("max_connections", "200")];

/// Databases whose unqualified names lie elsewhere than in `public`.
const SEARCH_PATHS: &[(&str, &str)] = &[
    ("pgexercises", "cd, public"),
    ("employees", "employees, public"),
    ("webshop", "webshop, public"),
    ("musicbrainz", "musicbrainz, public"),
];

/// Functions that a superuser made or that are VOLATILE, for which the owner of a node has to vouch.
const ALLOWED_FUNCTIONS: &[(&str, &[&str])] =
    &[("musicbrainz", &["musicbrainz.musicbrainz_unaccent", "musicbrainz.get_area_parent_hierarchy_rows"])];

/// Lets the reader read all that is there. A foreign table without its server cannot be granted, and is not asked for.
const GRANTS: &str = "DO $$ DECLARE s text; BEGIN
    FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO analyst', s);
        BEGIN EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO analyst', s); EXCEPTION WHEN OTHERS THEN NULL; END;
        BEGIN EXECUTE format('GRANT SELECT ON ALL SEQUENCES IN SCHEMA %I TO analyst', s); EXCEPTION WHEN OTHERS THEN NULL; END;
    END LOOP; END $$";

/// Databases that are restored at one time.
const AT_ONCE: usize = 3;

/// The loaded databases; the server goes with them.
pub(super) struct Databases {
    server: TestServer,
    password: String,
}

impl Databases {
    /// Starts the server of the Debian package, which has PostGIS and contrib beside it, and restores every dump.
    pub(super) fn load(folder: &Path) -> Self {
        let binaries = Binaries::at(Path::new("/usr/lib/postgresql/15/bin"))
            .expect("the PostgreSQL 15 of Debian, with PostGIS: run scripts/test, which installs it");
        let server = TestServer::start(binaries, SETTINGS);
        let password = random_word().unwrap();
        let roles = fs::read_to_string(folder.join("roles.sql")).unwrap();
        execute(&server, "postgres", &format!("{roles}; ALTER ROLE {READER} PASSWORD '{password}'"));
        execute(&server, "postgres", &format!("GRANT SET ON PARAMETER log_min_messages TO {READER}"));
        let dumps = Mutex::new(dumps(folder));
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some(dump) = { dumps.lock().unwrap().pop() } {
                        restore(&server, &dump);
                    }
                });
            }
        });
        Self { server, password }
    }

    /// The reader's URL of a database.
    pub(super) fn reader_url(&self, database: &str) -> String {
        self.server.server.url(READER, &self.password, database)
    }

    /// The superuser's URL of a new, empty database.
    pub(super) fn make(&self, database: &str) -> String {
        execute(&self.server, "postgres", &format!("CREATE DATABASE {database}"));
        self.server.server.superuser_url(database)
    }
}

/// What a node on the database allows by name.
pub(super) fn allowed_functions(database: &str) -> Vec<ObjectName> {
    let known = ALLOWED_FUNCTIONS.iter().find(|(known, _)| *known == database);
    let name = |name: &&str| {
        let (schema, name) = name.split_once('.').unwrap();
        ObjectName { schema: schema.to_owned(), name: name.to_owned() }
    };
    known.iter().flat_map(|(_, names)| names.iter().map(name)).collect()
}

/// The dumps, the largest last.
fn dumps(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("db")).unwrap();
    let mut dumps: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    dumps.sort_by_key(|dump| fs::metadata(dump).unwrap().len());
    dumps
}

fn restore(server: &TestServer, dump: &Path) {
    let database = dump.file_name().unwrap().to_str().unwrap().strip_suffix(".sql.gz").unwrap();
    let locale = "ENCODING 'UTF8' LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'";
    execute(server, "postgres", &format!("CREATE DATABASE {database} TEMPLATE template0 {locale}"));
    // Some dumps hold a statement or two that only their old server knew, so psql goes on after an error.
    let restored = Command::new("sh")
        .args(["-c", r#"gunzip -c "$1" | psql -X -q -d "$2""#, "restore"])
        .arg(dump)
        .arg(server.server.superuser_url(database))
        .env("PGOPTIONS", "-c client_min_messages=error")
        .output()
        .unwrap();
    assert!(restored.status.success(), "{database}: {}", String::from_utf8_lossy(&restored.stderr));
    if let Some((_, path)) = SEARCH_PATHS.iter().find(|(known, _)| *known == database) {
        execute(server, "postgres", &format!("ALTER DATABASE {database} SET search_path = {path}"));
    }
    execute(server, database, GRANTS);
    // Plans are among what was recorded, and the recording's server had swept its tables.
    execute(server, database, "VACUUM ANALYZE");
}

fn execute(server: &TestServer, database: &str, sql: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        support::connect(&server.server.superuser_url(database)).await.batch_execute(sql).await.unwrap();
    });
}
