//! What to do next, by SQLSTATE and by the slips that agents make most.

/// What to do about a statement that ran out of its time.
pub(crate) const OUT_OF_TIME: &str = "the statement ran into its time limit: filter, aggregate or limit it; it will not end \
     sooner when repeated unchanged";

/// What to grant so that statements can be judged, by the server's major version.
pub(crate) fn grant_for_a_lane(major: u32) -> &'static str {
    if major >= 15 {
        "the operator gives the login one of: GRANT SET ON PARAMETER log_min_messages TO the_login (best); \
         GRANT TEMPORARY ON DATABASE the_database TO the_login; `pinguard setup-sql` prints all of it"
    } else {
        "the operator gives the login one of: ALTER ROLE the_login SET log_min_messages = fatal, by a superuser (best); \
         GRANT TEMPORARY ON DATABASE the_database TO the_login; `pinguard setup-sql` prints all of it"
    }
}

/// A hint for an error of the database about a statement: for a slip we know, ours; else the server's own; else ours by
/// SQLSTATE.
pub(crate) fn for_error(sqlstate: &str, message: &str, server: Option<String>, sql: &str) -> Option<String> {
    // The setting that the server names is fixed here.
    let server = server.filter(|hint| !hint.to_lowercase().contains("datestyle"));
    slip(sqlstate, message, sql)
        .map(str::to_owned)
        .or(server)
        .or_else(|| by_state(sqlstate).map(str::to_owned))
}

fn slip(sqlstate: &str, message: &str, sql: &str) -> Option<&'static str> {
    match sqlstate {
        "42703" if message.contains("\"tablename\"") && sql.contains("pg_stat") => {
            Some("the statistics views name the table `relname`")
        }
        "42703" if is_alias(quoted_name(message)?, sql) => Some(
            "a name given with AS is not visible in WHERE, GROUP BY expressions or HAVING: repeat the expression, \
             or filter around a subquery",
        ),
        "22P02" if message.contains("for enum ") => {
            Some("list the labels of the enum with `SELECT unnest(enum_range(NULL::the_enum))`")
        }
        "42883" if message.contains("extract(") && message.contains("integer") => {
            Some("a date minus a date is a whole number of days already: leave EXTRACT out")
        }
        "42883" if message.contains("max(boolean)") || message.contains("min(boolean)") => {
            Some("use bool_or(…) for the largest and bool_and(…) for the smallest of booleans")
        }
        "42883" if message.contains("round(double precision, integer)") => {
            Some("round with digits takes numeric: write round((…)::numeric, 2)")
        }
        _ => None,
    }
}

pub(crate) fn by_state(sqlstate: &str) -> Option<&'static str> {
    Some(match sqlstate {
        "42P01" => {
            "write the schema before the name; `describe` finds a relation by its bare name and tells its schema; names in \
             upper case need double quotes"
        }
        "42703" => "call `describe` for the columns of the relation; names in upper case need double quotes",
        "42702" => "put the relation's name or alias before the column",
        "42883" => "no function or operator takes these types: cast the arguments",
        "42804" | "42846" => "make the types agree with a cast such as `x::text`",
        "42803" => "put the column into GROUP BY or into an aggregate",
        "42P18" | "42P08" => {
            "PostgreSQL cannot infer the type of a parameter: write it with a cast, such as `$1::date`"
        }
        "42P10" => "ORDER BY and DISTINCT ON take output columns or their numbers here",
        "42501" => "the login may not read this; name only columns and relations that it may read",
        "42601" => "check the grammar at the position given",
        "42712" => "give the second of the two an alias of its own",
        "3F000" => "check the schema's name",
        "22P02" | "22007" | "22008" => "write the value as the type expects it; dates as 'YYYY-MM-DD'",
        "22003" => "the number does not fit the type: cast to numeric or bigint",
        "22012" => "divide by NULLIF(x, 0)",
        "21000" => "the subquery gives several rows: add LIMIT 1, an aggregate, or use IN",
        "25006" => {
            "nothing can be written: calls run in a read-only transaction, and the login, the server's default or a replica \
             may forbid writing too"
        }
        "57014" => "somebody cancelled the statement on the server: try once more, or ask for less",
        "55P03" => "another transaction holds a lock on the relation: try again in a moment",
        "40001" | "40P01" => "the server gave another transaction precedence: try again",
        "53200" | "53100" | "54000" | "54001" => {
            "the statement needs more than the server has: make it simpler"
        }
        "53300" => "the server takes no more connections: try again in some seconds",
        "57P01" | "57P02" | "57P03" => "the server is stopping or starting: try again in some seconds",
        "28P01" => "the operator checks user and password in the node's secret",
        "3D000" => "the operator checks the database's name in the node's secret",
        _ => return None,
    })
}

fn quoted_name(message: &str) -> Option<&str> {
    message.split('"').nth(1)
}

fn is_alias(name: &str, sql: &str) -> bool {
    let lower = sql.to_lowercase();
    let alias = format!(" as {}", name.to_lowercase());
    lower.match_indices(&alias).any(|(at, found)| {
        let after = lower.get(at + found.len()..).and_then(|rest| rest.chars().next());
        after.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_in_where_is_explained() {
        let hint = for_error(
            "42703",
            "column \"total\" does not exist",
            None,
            "SELECT a+b AS total FROM t WHERE total > 1",
        );
        assert!(hint.unwrap().contains("not visible in WHERE"));
    }

    #[test]
    fn a_missing_column_that_is_no_alias_points_to_describe() {
        let sql = "SELECT a+b AS total FROM t WHERE tot > 1";
        let hint = for_error("42703", "column \"tot\" does not exist", None, sql);
        assert!(hint.unwrap().contains("`describe`"));
    }

    #[test]
    fn a_slip_is_told_ahead_of_what_the_server_advises() {
        let message = "function round(double precision, integer) does not exist";
        let server = Some("You might need to add explicit type casts.".to_owned());
        assert!(for_error("42883", message, server.clone(), "SELECT 1").unwrap().contains("::numeric"));
        assert_eq!(for_error("42883", "function f() does not exist", server.clone(), "SELECT 1"), server);
    }

    #[test]
    fn advice_about_a_setting_that_is_fixed_is_not_passed_on() {
        let server = Some("Perhaps you need a different \"DateStyle\" setting.".to_owned());
        assert!(for_error("22008", "out of range", server, "SELECT 1").unwrap().contains("YYYY-MM-DD"));
    }
}
