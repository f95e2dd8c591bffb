//! What an operator should know of a login: rights that a reader does not need, and a server that some reads crash.
//!
//! Nothing here stops a call; the guard holds for every login. It is the wall behind it that these rights make lower.

mod sql;

use pg::{Ask, Table};

const SUPERUSER: &str =
    "the login is a superuser: give pinguard one of least privilege, such as `pinguard setup-sql` makes";
const MAY_WRITE: &str = "the login's transactions may write unless they say otherwise: ALTER ROLE … SET default_transaction_read_only = on";

/// The query about the login, to be asked with `search_path` at `pg_catalog`. Its answer changes seldom: once for each
/// credential is enough.
pub fn question() -> Ask {
    Ask { sql: sql::LOGIN, parameters: Vec::new() }
}

/// Sentences for the operator, made of the answer to [`question`]; none of a login of least privilege on a server up to date.
pub fn warnings(answer: &Table) -> Vec<String> {
    let row = answer.first().and_then(|row| <&[Option<String>; 12]>::try_from(row.as_slice()).ok());
    row.map(|row| of_login(row.each_ref().map(Option::as_deref))).unwrap_or_default()
}

fn of_login(row: [Option<&str>; 12]) -> Vec<String> {
    let [superuser, rights @ .., may_write, version] = row;
    let mut warnings = if holds(superuser) {
        // It may do everything else as well.
        vec![SUPERUSER.to_owned()]
    } else {
        of_rights(rights)
    };
    if holds(may_write) {
        warnings.push(MAY_WRITE.to_owned());
    }
    let version = version.and_then(|number| number.parse().ok()).unwrap_or(0);
    warnings.extend(CRASHES.iter().filter(|crash| crash.has(version)).map(Crash::warning));
    warnings
}

fn of_rights(rights: [Option<&str>; 9]) -> Vec<String> {
    let [
        bypass_rls,
        replication,
        create_role,
        create_db,
        memberships,
        owns,
        writes,
        creates_in,
        creates_schemas,
    ] = rights;
    let told = |right: Option<&str>, text: &str| holds(right).then(|| format!("the login {text}"));
    [
        told(bypass_rls, "sees rows that row security hides (BYPASSRLS): no reader needs that"),
        told(replication, "may replicate the whole server (REPLICATION): no reader needs that"),
        told(create_role, "may make other logins (CREATEROLE): no reader needs that"),
        told(create_db, "may make databases (CREATEDB): no reader needs that"),
        memberships.map(|roles| format!("the login is a member of {roles}: no reader needs that")),
        told(owns, "owns tables or views, so it may change and drop them: make another one that only reads"),
        told(writes, "may write to tables: SELECT is all that a reader needs"),
        creates_in.map(|schemas| {
            format!("the login may create objects in {schemas}: REVOKE CREATE ON SCHEMA … FROM PUBLIC, or from the login")
        }),
        told(creates_schemas, "may create schemas: REVOKE CREATE ON DATABASE … FROM PUBLIC, or from the login"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn holds(right: Option<&str>) -> bool {
    right == Some("t")
}

/// Releases of one major that some SELECT brings down, with all other sessions of the server.
struct Crash {
    major: u32,
    /// The first minor without it.
    fixed_in: u32,
}

/// Found with the regression tests of 18.6 on 18.4: `IS JSON` and `JSON(… WITH UNIQUE KEYS)` over a domain's value, and
/// `satisfies_hash_partition` with a VARIADIC NULL.
const CRASHES: &[Crash] = &[Crash { major: 18, fixed_in: 6 }];

impl Crash {
    fn has(&self, version: u32) -> bool {
        version / 10_000 == self.major && version % 10_000 < self.fixed_in
    }

    fn warning(&self) -> String {
        let Self { major, fixed_in } = self;
        format!(
            "PostgreSQL {major} before {major}.{fixed_in} is brought down by some statements that only read: update to the newest \
             minor version"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: [Option<&str>; 12] = [
        Some("f"),
        Some("f"),
        Some("f"),
        Some("f"),
        Some("f"),
        None,
        Some("f"),
        Some("f"),
        None,
        Some("f"),
        Some("f"),
        Some("170010"),
    ];

    #[track_caller]
    fn check(changes: &[(usize, &str)], told: &[&str]) {
        let mut row = READER.map(|value| value.map(str::to_owned));
        for &(at, value) in changes {
            row[at] = Some(value.to_owned());
        }
        let warnings = warnings(&vec![row.to_vec()]);
        assert_eq!(warnings.len(), told.len(), "{warnings:?}");
        for (warning, told) in warnings.iter().zip(told) {
            assert!(warning.contains(told), "`{told}` is not in `{warning}`");
        }
    }

    #[test]
    fn a_login_of_least_privilege_is_not_warned_of() {
        check(&[], &[]);
        assert_eq!(warnings(&Table::new()), Vec::<String>::new());
    }

    #[test]
    fn a_superuser_is_told_once() {
        check(&[(0, "t"), (1, "t"), (5, "pg_read_server_files"), (9, "t")], &["is a superuser"]);
    }

    #[test]
    fn each_right_that_no_reader_needs_is_told() {
        check(
            &[
                (1, "t"),
                (2, "t"),
                (3, "t"),
                (4, "t"),
                (5, "pg_maintain"),
                (6, "t"),
                (7, "t"),
                (8, "public"),
                (9, "t"),
                (10, "t"),
            ],
            &[
                "BYPASSRLS",
                "REPLICATION",
                "CREATEROLE",
                "CREATEDB",
                "member of pg_maintain",
                "owns",
                "may write to tables",
                "create objects in public",
                "create schemas",
                "default_transaction_read_only",
            ],
        );
    }

    #[test]
    fn versions_that_reads_bring_down_are_told() {
        check(&[(11, "180004")], &["before 18.6"]);
        check(&[(11, "180006")], &[]);
        check(&[(11, "170004")], &[]);
    }
}
