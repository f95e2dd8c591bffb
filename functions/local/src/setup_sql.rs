//! `pinguard setup-sql`: SQL that makes a login for pinguard, for a person to read and to run.

use std::{
    collections::BTreeSet,
    fmt,
    io::{self, Write as _},
};

use anyhow::{Context as _, Result};
use pg::name::{self, RelationName, quote_identifier};

use crate::arguments::SetupSql;

const HEAD: &str = "\
-- Makes a login for pinguard: it may SELECT from what is named below, and nothing else.
-- Run this as a superuser, connected to the database that is to be read. If the role is there already, leave CREATE ROLE out.
-- It has no password yet: psql's \\password sets one that stands in no history and no log.
";

const WALLS: &str = "\
-- Walls behind pinguard's own: a transaction of this login writes only if it says so first, and none stays for ever.
";

const LATER: &str = "\
-- Tables made later are not among them. Whoever makes them runs this as well:
";

const QUIET: &str = "\
-- pinguard has PostgreSQL print what a statement resolves to, and judges that. With this right the print goes to pinguard alone
-- and stays out of the server's log. Only a superuser can give it.
";

const QUIET_14: &str = "\
-- pinguard has PostgreSQL print what a statement resolves to, and judges that. With this setting the print goes to pinguard alone
-- and stays out of the server's log; so does all else below FATAL that the server would log of this login. Only a superuser can
-- set it.
";

const IF_14: &str = "\
-- PostgreSQL 14 does not know that right. There, run this instead; all else below FATAL that the server would log of this login
-- is then lost as well:
";

const CREATE_14: &str = "\
-- PostgreSQL 14 lets every login make tables in the schema public. Unless somebody relies on it:
";

/// Writes the SQL to standard output.
pub(crate) fn print(options: &SetupSql) -> Result<()> {
    io::stdout().lock().write_all(text(options).as_bytes()).context("cannot write to standard output")
}

/// Reads the name of a role, as SQL writes it.
pub(crate) fn role(text: &str) -> Result<String, String> {
    let role = name::identifier(text).map_err(|error| error.to_string())?;
    if role == "public" || role == "none" || role.starts_with("pg_") {
        return Err("PostgreSQL keeps this name for itself: take another one".to_owned());
    }
    Ok(role)
}

fn text(options: &SetupSql) -> String {
    let role = quote_identifier(&options.role);
    let mut script = Script(HEAD.to_owned());
    script.section("BEGIN;\n");
    script.section(format_args!("CREATE ROLE {role} LOGIN;\n"));

    script.section(WALLS);
    script.run(format_args!("ALTER ROLE {role} SET default_transaction_read_only = on"));
    script.run(format_args!("ALTER ROLE {role} SET statement_timeout = '5min'"));
    script.run(format_args!("ALTER ROLE {role} SET idle_in_transaction_session_timeout = '1min'"));

    script.section("-- What it may reach.\n");
    if let Some(database) = &options.database {
        script.run(format_args!("GRANT CONNECT ON DATABASE {} TO {role}", quote_identifier(database)));
    }
    let whole = whole_schemas(options);
    let named = options.relations.iter().map(RelationName::schema);
    for schema in whole.iter().copied().chain(named).collect::<BTreeSet<_>>() {
        script.run(format_args!("GRANT USAGE ON SCHEMA {} TO {role}", quote_identifier(schema)));
    }

    script.section("-- What it may read.\n");
    for relation in &options.relations {
        script.run(format_args!("GRANT SELECT ON {relation} TO {role}"));
    }
    for schema in &whole {
        let schema = quote_identifier(schema);
        script.run(format_args!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"));
    }
    if !whole.is_empty() {
        script.say(LATER);
        for schema in &whole {
            let schema = quote_identifier(schema);
            script.suggest(&format!(
                "ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {role}"
            ));
        }
    }
    script.section("COMMIT;\n");

    let set_14 = format!("ALTER ROLE {role} SET log_min_messages = fatal");
    if options.major == Some(14) {
        script.section(QUIET_14);
        script.run(&set_14);
    } else {
        script.section(QUIET);
        script.run(format_args!("GRANT SET ON PARAMETER log_min_messages TO {role}"));
    }
    if options.major.is_none() {
        script.say(IF_14);
        script.suggest(&set_14);
    }
    if matches!(options.major, None | Some(14)) {
        script.section(CREATE_14);
        script.suggest("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    }
    script.0
}

/// The schemas of which all is to be read: those given; `public` where nothing is given at all.
fn whole_schemas(options: &SetupSql) -> Vec<&str> {
    if options.schemas.is_empty() && options.relations.is_empty() {
        return vec!["public"];
    }
    options.schemas.iter().map(String::as_str).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Statements and what is said about them.
struct Script(String);

impl Script {
    fn say(&mut self, text: impl fmt::Display) {
        self.0.push_str(&text.to_string());
    }

    fn section(&mut self, text: impl fmt::Display) {
        self.say(format_args!("\n{text}"));
    }

    fn run(&mut self, statement: impl fmt::Display) {
        self.say(format_args!("{statement};\n"));
    }

    /// Writes a statement as a comment. A name in it may hold a line break, which would end the comment.
    fn suggest(&mut self, statement: &str) {
        self.say(format_args!("-- {};\n", statement.replace(['\n', '\r'], "\n-- ")));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::text;
    use crate::arguments::{Arguments, Command};

    fn printed(words: &[&str]) -> String {
        let words = ["pinguard", "setup-sql"].iter().chain(words);
        match Arguments::try_parse_from(words).unwrap().command {
            Command::SetupSql(options) => text(&options),
            other => panic!("{other:?} is another command"),
        }
    }

    fn statements(words: &[&str]) -> Vec<String> {
        let text = printed(words);
        text.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).map(str::to_owned).collect()
    }

    #[track_caller]
    fn refused(words: &[&str], told: &str) {
        let words = ["pinguard", "setup-sql"].iter().chain(words);
        let said = Arguments::try_parse_from(words).unwrap_err().to_string();
        assert!(said.contains(told), "{said}");
    }

    #[test]
    fn without_more_than_a_role_it_may_read_the_schema_public() {
        let expected = [
            "BEGIN;",
            "CREATE ROLE reader LOGIN;",
            "ALTER ROLE reader SET default_transaction_read_only = on;",
            "ALTER ROLE reader SET statement_timeout = '5min';",
            "ALTER ROLE reader SET idle_in_transaction_session_timeout = '1min';",
            "GRANT USAGE ON SCHEMA public TO reader;",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;",
            "COMMIT;",
            "GRANT SET ON PARAMETER log_min_messages TO reader;",
        ];
        assert_eq!(statements(&["--role", "Reader"]), expected);
        let text = printed(&["--role", "reader"]);
        assert!(text.contains("-- ALTER ROLE reader SET log_min_messages = fatal;"), "{text}");
        assert!(!printed(&["--role", "reader", "--major", "17"]).contains("PostgreSQL 14"));
    }

    #[test]
    fn named_relations_are_all_that_may_be_read() {
        let words = [
            "--role",
            "r",
            "--database",
            "Shop",
            "--relation",
            "app.orders",
            "--relation",
            "\"Sales 2026\".daily",
        ];
        let granted: Vec<String> =
            statements(&words).into_iter().filter(|line| line.starts_with("GRANT")).collect();
        let expected = [
            "GRANT CONNECT ON DATABASE shop TO r;",
            "GRANT USAGE ON SCHEMA \"Sales 2026\" TO r;",
            "GRANT USAGE ON SCHEMA app TO r;",
            "GRANT SELECT ON app.orders TO r;",
            "GRANT SELECT ON \"Sales 2026\".daily TO r;",
            "GRANT SET ON PARAMETER log_min_messages TO r;",
        ];
        assert_eq!(granted, expected);
    }

    #[test]
    fn version_14_gets_the_setting_instead_of_the_right() {
        let last = statements(&["--role", "r", "--major", "14"]).pop().unwrap();
        assert_eq!(last, "ALTER ROLE r SET log_min_messages = fatal;");
    }

    #[test]
    fn a_name_that_looks_like_sql_stays_a_name() {
        let schema = "\"a\"\"; DROP TABLE x; --\"";
        let text = printed(&["--role", "\"Read'er\"", "--schema", schema]);
        assert!(text.contains(&format!("GRANT USAGE ON SCHEMA {schema} TO \"Read'er\";")), "{text}");
        let broken = "\"a\nDROP TABLE x;\r--\"";
        let text = printed(&["--role", "r", "--schema", broken]);
        assert!(
            text.contains("-- ALTER DEFAULT PRIVILEGES IN SCHEMA \"a\n-- DROP TABLE x;\n-- --\" GRANT"),
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_a_name_is_told_why() {
        refused(&[], "--role");
        refused(&["--role", "my reader"], "needs double quotes");
        refused(&["--role", "pg_reader"], "keeps this name for itself");
        refused(&["--role", "\"public\""], "keeps this name for itself");
        refused(&["--role", "r", "--relation", "orders"], "has no schema");
        refused(&["--role", "r", "--schema", ""], "empty");
        refused(&["--role", "r", "--major", "13"], "14..=18");
    }
}
