//! Every rule of pinned queries that this crate holds: one line, what is accepted, what is refused and why.

use pins::{Pin, Problem};
use serde_json::json;

use crate::{object, parsed};

/// What a rule is tried on.
enum Case {
    /// A statement and its rows, compiled.
    Sql(&'static str, &'static str),
    /// One row for `:a`, read and compiled.
    Row(&'static str),
    /// One row for `:a`, and the arguments of a call.
    Call(&'static str, &'static str),
    /// A key of the document, set to this.
    Key(&'static str, &'static str),
}
use Case::{Call, Key, Row, Sql};

const DATE: &str = r#"[{"name":"a","type":"date"}]"#;
const INT: &str = r#"[{"name":"a","type":"int8"}]"#;
const TWO: &str = r#"[{"name":"a","type":"int8"},{"name":"b","type":"text"}]"#;
const NONE: &str = "[]";
const ANY_DATE: &str = r#"{"name":"a","type":"date"}"#;

#[rustfmt::skip] // a table: one rule, one line
const RULES: &[(&str, Case, Case, &str)] = &[
    // The statement.
    ("one SELECT", Sql("SELECT 1 LIMIT 1", NONE), Sql("UPDATE t SET x = 1", NONE), "begins with SELECT or WITH"),
    ("or WITH", Sql("WITH x AS (SELECT 1) SELECT * FROM x LIMIT 1", NONE), Sql("EXPLAIN SELECT 1 LIMIT 1", NONE), "begins with SELECT or WITH"),
    ("no VALUES", Sql("SELECT * FROM (VALUES (1)) v LIMIT 1", NONE), Sql("VALUES (1) LIMIT 1", NONE), "begins with SELECT or WITH"),
    ("no TABLE", Sql("SELECT * FROM t LIMIT 1", NONE), Sql("TABLE t LIMIT 1", NONE), "begins with SELECT or WITH"),
    ("one statement", Sql("SELECT ';' LIMIT 1", NONE), Sql("SELECT 1 LIMIT 1; SELECT 2 LIMIT 1", NONE), "a pin is one statement"),
    ("no semicolon at the end", Sql("SELECT 1 LIMIT 1 -- ;", NONE), Sql("SELECT 1 LIMIT 1; -- end", NONE), "at character 17; remove it"),
    ("PostgreSQL's grammar", Sql("SELECT 1 FROM t LIMIT 1", NONE), Sql("SELECT FROM FROM t LIMIT 1", NONE), "syntax error at or near \"FROM\""),
    ("a text that can be read", Sql("SELECT 'a' LIMIT 1", NONE), Sql("SELECT 'a LIMIT 1", NONE), "close every quote"),
    // LIMIT.
    ("a LIMIT", Sql("SELECT 1 LIMIT 100", NONE), Sql("SELECT 1", NONE), "add `LIMIT 100`"),
    ("at the top level", Sql("SELECT * FROM (SELECT 1) x LIMIT 1", NONE), Sql("SELECT * FROM (SELECT 1 LIMIT 1) x", NONE), "add `LIMIT 100`"),
    ("over all of a union", Sql("SELECT 1 UNION SELECT 2 LIMIT 1", NONE), Sql("(SELECT 1 LIMIT 1) UNION (SELECT 2 LIMIT 1)", NONE), "add `LIMIT 100`"),
    ("a literal one", Sql("SELECT 1 OFFSET 5 LIMIT 10", NONE), Sql("SELECT 1 LIMIT 5 + 5", NONE), "no literal whole number"),
    ("not ALL", Sql("SELECT ALL 1 LIMIT 5", NONE), Sql("SELECT 1 LIMIT ALL", NONE), "no literal whole number"),
    ("not NULL", Sql("SELECT NULL LIMIT 5", NONE), Sql("SELECT 1 LIMIT NULL", NONE), "no literal whole number"),
    ("not a subquery", Sql("SELECT (SELECT 5) LIMIT 5", NONE), Sql("SELECT 1 LIMIT (SELECT 5)", NONE), "no literal whole number"),
    ("not a cast", Sql("SELECT 5::int LIMIT 5", NONE), Sql("SELECT 1 LIMIT 5::int", NONE), "no literal whole number"),
    ("not a fraction", Sql("SELECT 1.5 LIMIT 15", NONE), Sql("SELECT 1 LIMIT 1.5", NONE), "no literal whole number"),
    ("a name is no LIMIT", Sql("SELECT t.limit, 1 AS limit FROM t LIMIT 1", NONE), Sql("SELECT t.limit, 1 AS limit FROM t", NONE), "add `LIMIT 100`"),
    ("FETCH FIRST is a LIMIT", Sql("SELECT 1 FETCH FIRST 5 ROWS ONLY", NONE), Sql("SELECT 1 FETCH FIRST (5) ROWS ONLY", NONE), "no literal whole number"),
    ("but not WITH TIES", Sql("SELECT 1 FETCH NEXT ROW ONLY", NONE), Sql("SELECT 1 ORDER BY 1 FETCH FIRST 5 ROWS WITH TIES", NONE), "WITH TIES returns more rows"),
    ("no parameter in LIMIT", Sql("SELECT :a LIMIT 1", INT), Sql("SELECT 1 LIMIT :a", INT), "stands in LIMIT"),
    ("nor in OFFSET", Sql("SELECT :a LIMIT 1 OFFSET 5", INT), Sql("SELECT 1 LIMIT 1 OFFSET :a", INT), "stands in OFFSET"),
    ("nor in FETCH FIRST", Sql("SELECT :a FETCH FIRST 5 ROWS ONLY", INT), Sql("SELECT 1 FETCH FIRST :a ROWS ONLY", INT), "stands in FETCH FIRST"),
    ("nor in a subquery's", Sql("SELECT (SELECT :a LIMIT 1) LIMIT 1", INT), Sql("SELECT (SELECT 1 LIMIT :a) LIMIT 1", INT), "stands in LIMIT"),
    ("nor in a CTE's", Sql("WITH x AS (SELECT :a OFFSET 1) SELECT 1 FROM x LIMIT 1", INT), Sql("WITH x AS (SELECT 1 OFFSET :a) SELECT 1 FROM x LIMIT 1", INT), "stands in OFFSET"),
    ("nor below an expression there", Sql("SELECT 1 FROM (SELECT 1 LIMIT 1) x WHERE 1 = :a LIMIT 1", INT), Sql("SELECT (SELECT 1 OFFSET greatest(0, (SELECT :a))) LIMIT 1", INT), "stands in OFFSET"),
    // Parameters in the statement.
    (":name is the only form", Sql("SELECT :a LIMIT 1", INT), Sql("SELECT $1 LIMIT 1", NONE), "is no parameter; write `:name`"),
    ("? is none", Sql("SELECT tags ? 'x', tags ?| ARRAY['x'], tags ?& ARRAY['x'] FROM t LIMIT 1", NONE), Sql("SELECT ? LIMIT 1", NONE), "syntax error"),
    ("nor is a name in quotes", Sql("SELECT ':a', \":a\", $$:a$$ /* :a */ LIMIT 1 -- :a", NONE), Sql("SELECT ':a', \":a\", $$:a$$ /* :a */, :a LIMIT 1 -- :a", NONE), "`:a` has no row"),
    ("nor a cast", Sql("SELECT x::text FROM t LIMIT 1", NONE), Sql("SELECT x: :text FROM t LIMIT 1", NONE), "`:text` has no row"),
    ("no list parameter", Sql("SELECT 1 WHERE 1 IN (:a) LIMIT 1", INT), Sql("SELECT 1 WHERE 1 IN :a LIMIT 1", INT), "no list parameter"),
    ("no array parameter", Row(r#"{"name":"a","type":"int8"}"#), Row(r#"{"name":"a","type":"int8[]"}"#), "is not a parameter type"),
    ("no table", Sql("SELECT :a FROM t LIMIT 1", INT), Sql("SELECT 1 FROM :a LIMIT 1", INT), "syntax error at or near `:a`"),
    ("no column list", Sql("SELECT x FROM t WHERE y = :a LIMIT 1", INT), Sql("SELECT t.:a FROM t LIMIT 1", INT), "syntax error at or near `:a`"),
    ("no sort direction", Sql("SELECT x FROM t WHERE y = :a ORDER BY x DESC LIMIT 1", INT), Sql("SELECT x FROM t ORDER BY x :a LIMIT 1", INT), "syntax error at or near `:a`"),
    ("no call is made of it", Sql("SELECT date(:a) LIMIT 1", DATE), Sql("SELECT date :a LIMIT 1", DATE), "syntax error at or near `:a`"),
    ("no [ after it", Sql("SELECT (ARRAY[:a])[1] LIMIT 1", INT), Sql("SELECT :a[1] LIMIT 1", INT), "`(` or `[` follows `:a`"),
    ("no (after it", Sql("SELECT f(:a) LIMIT 1", INT), Sql("SELECT :a(1) LIMIT 1", INT), "`(` or `[` follows `:a`"),
    ("no open slice", Sql("SELECT x[1:2], x[(:a)] FROM t LIMIT 1", INT), Sql("SELECT x[:a] FROM t LIMIT 1", INT), "bound of a slice"),
    ("an array of parameters", Sql("SELECT ARRAY[:a, :b] LIMIT 1", TWO), Sql("SELECT ARRAY[:a, :c] LIMIT 1", TWO), "`:c` has no row"),
    ("each name has a row", Sql("SELECT :a LIMIT 1", INT), Sql("SELECT :a, :b LIMIT 1", INT), "`:b` has no row"),
    ("each row is used", Sql("SELECT :a, :b LIMIT 1", TWO), Sql("SELECT :a LIMIT 1", TWO), "`:b` does not stand in the statement"),
    ("sql is reserved", Row(ANY_DATE), Row(r#"{"name":"sql","type":"date"}"#), "argument of other tools"),
    ("statement is reserved", Row(ANY_DATE), Row(r#"{"name":"statement","type":"date"}"#), "argument of other tools"),
    ("query is reserved", Row(ANY_DATE), Row(r#"{"name":"query","type":"date"}"#), "argument of other tools"),
    ("cursor is reserved", Row(ANY_DATE), Row(r#"{"name":"cursor","type":"date"}"#), "argument of other tools"),
    ("page is reserved", Row(ANY_DATE), Row(r#"{"name":"page","type":"date"}"#), "argument of other tools"),
    ("so are the limits of a call", Row(ANY_DATE), Row(r#"{"name":"max_rows","type":"date"}"#), "argument of other tools"),
    // Rows.
    ("seven types", Row(r#"{"name":"a","type":"timestamptz"}"#), Row(r#"{"name":"a","type":"int4"}"#), "`text`, `int8`, `numeric`, `date`, `timestamp`, `timestamptz`, `bool`"),
    ("a type is picked", Row(ANY_DATE), Row(r#"{"name":"a"}"#), "no type is picked"),
    ("required unless said otherwise", Row(r#"{"name":"a","type":"date","required":false,"default":"2026-01-01"}"#), Row(r#"{"name":"a","type":"date","default":"2026-01-01"}"#), "a required parameter has no default"),
    ("a default of the type", Row(r#"{"name":"a","type":"int8","required":false,"default":5}"#), Row(r#"{"name":"a","type":"int8","required":false,"default":"x"}"#), "int8 takes"),
    ("a default within the bounds", Row(r#"{"name":"a","type":"int8","required":false,"default":5,"max":5}"#), Row(r#"{"name":"a","type":"int8","required":false,"default":6,"max":5}"#), "above the greatest value `5`"),
    ("a default that is allowed", Row(r#"{"name":"a","type":"text","required":false,"default":"x","allowed":["x"]}"#), Row(r#"{"name":"a","type":"text","required":false,"default":"y","allowed":["x"]}"#), "not one of the allowed values `x`"),
    ("allowed values of the type", Row(r#"{"name":"a","type":"date","allowed":["2026-01-01"]}"#), Row(r#"{"name":"a","type":"date","allowed":["2026-02-30"]}"#), "no such day"),
    ("each once", Row(r#"{"name":"a","type":"numeric","allowed":[1,2]}"#), Row(r#"{"name":"a","type":"numeric","allowed":[1,"1.0"]}"#), "twice"),
    ("min not above max", Row(r#"{"name":"a","type":"int8","min":1,"max":1}"#), Row(r#"{"name":"a","type":"int8","min":2,"max":1}"#), "above `max`"),
    ("bounds where there is an order", Row(r#"{"name":"a","type":"timestamp","min":"2026-01-01 00:00"}"#), Row(r#"{"name":"a","type":"text","min":"a"}"#), "has no bounds"),
    ("only known keys", Row(ANY_DATE), Row(r#"{"name":"a","type":"date","pattern":"x"}"#), "unknown key"),
    // The pin.
    ("a tool name begins with pq_", Key("name", r#""pq_a1""#), Key("name", r#""revenue""#), "begins with `pq_`"),
    ("letters, digits, underscores", Key("name", r#""pq_a_1""#), Key("name", r#""pq_a-1""#), "digits and underscores only"),
    ("at most 64 characters", Key("name", r#""pq_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""#), Key("name", r#""pq_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""#), "at most 64"),
    ("a purpose of one line", Key("purpose", r#""Revenue""#), Key("purpose", r#""Revenue\nby region""#), "one line"),
    ("a row cap is rounded down", Key("rowCap", "50.9"), Key("rowCap", "0"), "at least 1"),
    ("a pin has no other key", Key("version", "3"), Key("compiledSql", r#""SELECT 1""#), "unknown key"),
    // Calls.
    ("a required one is given", Call(ANY_DATE, r#"{"a":"2026-01-01"}"#), Call(ANY_DATE, "{}"), "missing"),
    ("as its type", Call(ANY_DATE, r#"{"a":"2024-02-29"}"#), Call(ANY_DATE, r#"{"a":"2026-02-29"}"#), "no such day"),
    ("unknown names are refused", Call(ANY_DATE, r#"{"a":"2026-01-01"}"#), Call(ANY_DATE, r#"{"a":"2026-01-01","b":1}"#), "this tool takes `a` (date, required)"),
    ("SQL is never taken", Call(ANY_DATE, r#"{"a":"2026-01-01"}"#), Call(ANY_DATE, r#"{"a":"2026-01-01","sql":"SELECT 1"}"#), "`sql`: no such parameter"),
    ("allowed values hold", Call(r#"{"name":"a","type":"text","allowed":["x"]}"#, r#"{"a":"x"}"#), Call(r#"{"name":"a","type":"text","allowed":["x"]}"#, r#"{"a":"X"}"#), "not one of the allowed values"),
    ("min holds", Call(r#"{"name":"a","type":"int8","min":1}"#, r#"{"a":1}"#), Call(r#"{"name":"a","type":"int8","min":1}"#, r#"{"a":0}"#), "below the least value `1`"),
    ("max holds", Call(r#"{"name":"a","type":"int8","max":20}"#, r#"{"a":20}"#), Call(r#"{"name":"a","type":"int8","max":20}"#, r#"{"a":21}"#), "above the greatest value `20`"),
    ("a timestamp has no zone", Call(r#"{"name":"a","type":"timestamp"}"#, r#"{"a":"2026-01-01 00:00:00"}"#), Call(r#"{"name":"a","type":"timestamp"}"#, r#"{"a":"2026-01-01T00:00:00Z"}"#), "a zone follows the time"),
    ("a timestamptz has one", Call(r#"{"name":"a","type":"timestamptz"}"#, r#"{"a":"2026-01-01T00:00:00Z"}"#), Call(r#"{"name":"a","type":"timestamptz"}"#, r#"{"a":"2026-01-01 00:00:00"}"#), "the zone is missing"),
];

#[test]
fn every_rule_accepts_what_it_should_and_refuses_the_rest() {
    for (rule, accepted, refused, why) in RULES {
        if let Err(messages) = judge(accepted) {
            panic!("{rule}: refused, {messages}");
        }
        match judge(refused) {
            Ok(()) => panic!("{rule}: accepted"),
            Err(messages) => assert!(messages.contains(why), "{rule}: {messages}"),
        }
    }
}

#[test]
fn every_message_is_one_line_without_a_full_stop() {
    for (rule, _, refused, _) in RULES {
        let messages = judge(refused).unwrap_err();
        let styled = !messages.contains('\n') && !messages.ends_with('.');
        assert!(styled, "{rule}: {messages}");
    }
}

fn judge(case: &Case) -> Result<(), String> {
    let joined =
        |problems: Vec<Problem>| problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ");
    let mut document = json!({"id": "p1", "name": "pq_it", "purpose": "it", "sql": "SELECT :a LIMIT 1"});
    let mut arguments = None;
    match case {
        Sql(sql, rows) => {
            document["sql"] = (*sql).into();
            document["params"] = parsed(rows);
        }
        Row(row) => document["params"] = json!([parsed(row)]),
        Call(row, given) => {
            document["params"] = json!([parsed(row)]);
            arguments = Some(object(parsed(given)));
        }
        Key(key, value) => {
            document["params"] = json!([parsed(ANY_DATE)]);
            document[*key] = parsed(value);
        }
    }
    let compiled = Pin::from_json(&document).and_then(|pin| pin.compile()).map_err(joined)?;
    match arguments {
        Some(arguments) => compiled.bind(&arguments).map(drop).map_err(|bad| bad.to_string()),
        None => Ok(()),
    }
}

#[test]
fn the_table_names_each_rule_once() {
    let mut seen: Vec<&str> = RULES.iter().map(|(rule, ..)| *rule).collect();
    seen.sort_unstable();
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
}
