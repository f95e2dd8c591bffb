//! From the saved statement to the text that runs.

use pins::{ParamType, tidy};
use serde_json::json;

use crate::{compiled, object, pin};

#[test]
fn a_name_used_twice_is_one_parameter() {
    let pin = compiled("SELECT :b, :a, :b LIMIT 1", json!(["a text", "b int8"]));
    assert_eq!(
        pin.sql(),
        "SELECT ($1::pg_catalog.int8), ($2::pg_catalog.text), ($1::pg_catalog.int8) LIMIT 1"
    );
    let bound = pin.bind(&object(json!({"a": "x", "b": 1}))).unwrap();
    assert_eq!(bound, [Some("1".to_owned()), Some("x".to_owned())]);
}

#[test]
fn everything_but_the_parameters_stays_byte_for_byte() {
    let sql = "select\t'é:a' , x -- :b\n ,\r\n:a::text FROM \"T:a\" LIMIT 0009";
    assert_eq!(compiled(sql, json!(["a text"])).sql(), sql.replace("\n:a", "\n($1::pg_catalog.text)"));
}

#[test]
fn a_parameter_glued_to_a_word_cannot_merge_with_it() {
    assert_eq!(
        compiled("SELECT 1 WHERE'x'=:a AND NOT:b LIMIT 1", json!(["a text", "b bool"])).sql(),
        "SELECT 1 WHERE'x'=($1::pg_catalog.text) AND NOT($2::pg_catalog.bool) LIMIT 1"
    );
}

#[test]
fn a_parameter_stands_wherever_a_value_can() {
    for place in [
        "x = :a",
        "x BETWEEN :a AND :a",
        "x LIKE :a ESCAPE :a",
        "x ILIKE :a",
        "x SIMILAR TO :a",
        "x ~ :a",
        "x IS DISTINCT FROM :a",
        "x IN (:a, :a)",
        "x = ANY (ARRAY[:a])",
        "NOT :a",
        ":a",
        "-:a = 1",
        ":a IS NULL",
        ":a::date = d",
        "CAST(:a AS date) = d",
        "CASE WHEN :a THEN :a ELSE :a END",
        "CASE :a WHEN :a THEN true END",
        "extract(year FROM :a) = 1",
        "position(:a IN x) = 1",
        "substring(x FROM :a FOR :a) = x",
        "trim(:a FROM x) = x",
        "f(:a, b => :a) = 1",
        "f(VARIADIC :a) = 1",
        "t AT TIME ZONE :a = t",
        "(:a, x) = (y, :a)",
        "(d, :a) OVERLAPS (:a, d)",
        "x COLLATE \"C\" = :a",
        "coalesce(:a, x) = x",
        "json_value(j, '$.a' PASSING :a AS b) = x",
        "x = (SELECT max(y) FROM u WHERE u.z = :a)",
        "j->:a = j",
        "j @> jsonb_build_object('k', :a)",
        "tags ?:a",
    ] {
        compiled(&format!("SELECT x FROM t WHERE {place} LIMIT 1"), json!(["a text"]));
    }
    for statement in [
        "SELECT x FROM t GROUP BY x, :a HAVING count(*) > :a ORDER BY :a LIMIT 1",
        "SELECT sum(x) FILTER (WHERE y > :a) OVER (PARTITION BY :a ORDER BY x ROWS :a PRECEDING) FROM t LIMIT 1",
        "SELECT * FROM f(:a) g, LATERAL (VALUES (:a)) v, generate_series(1, :a) LIMIT 1",
        "SELECT x FROM t JOIN u ON t.id = u.id AND u.y = :a LIMIT 1",
        "WITH RECURSIVE r AS (SELECT :a UNION ALL SELECT n + :a FROM r) SELECT DISTINCT ON (:a) n FROM r LIMIT 1",
        "SELECT :a AS limit, t.offset, :a AS fetch FROM t LIMIT 1",
    ] {
        compiled(statement, json!(["a int8"]));
    }
}

#[test]
fn a_parameter_that_would_become_a_call_or_a_list_is_refused() {
    for place in [
        "date :a",
        "f :a",
        "s.f :a",
        "\"f\" :a",
        "interval :a",
        "x = ANY :a",
        "x = ALL :a",
        "coalesce :a",
        "row :a",
        "EXISTS :a",
        "x IS :a",
        "x::varchar(:a)",
        "x :a y",
        "x OPERATOR(:a) y",
    ] {
        let pin = pin(&format!("SELECT {place} LIMIT 1"), json!(["a text"]));
        let problems = pin.compile().map(|compiled| compiled.sql().to_owned()).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.message.starts_with("syntax error")),
            "{place}: {problems:?}"
        );
    }
}

#[test]
fn a_deep_statement_is_judged_within_a_small_stack() {
    let sql = format!("SELECT {}:a{} LIMIT 1", "(".repeat(60_000), ")".repeat(60_000));
    let small = std::thread::Builder::new().stack_size(1 << 20);
    let judged = small.spawn(move || pin(&sql, json!(["a text"])).compile().is_err()).unwrap();
    assert!(judged.join().unwrap());
    let sql = format!("SELECT {}:a LIMIT 1", "1 + ".repeat(30_000));
    let small = std::thread::Builder::new().stack_size(1 << 20);
    assert!(small.spawn(move || pin(&sql, json!(["a int8"])).compile().is_ok()).unwrap().join().unwrap());
}

#[test]
fn a_statement_full_of_faults_is_judged_in_no_time() {
    for piece in ["$1 ", ":é ", ":a ", ":a,", ":a(", "x[:a]", "; "] {
        let problems = pin(&format!("SELECT {}", piece.repeat(30_000)), json!([])).compile().unwrap_err();
        assert!(problems.len() < 100, "{piece}: {}", problems.len());
    }
    let names: Vec<String> = (0..20_000).map(|n| format!(":a{n}")).collect();
    assert_eq!(pin(&names.join(","), json!([])).compile().unwrap_err().len(), 1);
}

#[test]
fn positions_go_back_to_the_saved_text() {
    let sql = "SELECT 'é', :a, nope, :bb, also LIMIT 1";
    let pin = compiled(sql, json!(["a text", "bb int8"]));
    let place = |text: &str, word: &str| text.split(word).next().unwrap().chars().count() + 1;
    for word in ["SELECT", "nope", "also", "LIMIT"] {
        assert_eq!(pin.saved_position(place(pin.sql(), word)), place(sql, word), "{word}");
    }
    for (compiled, saved) in
        [("($1::", ":a"), ("pg_catalog.text", ":a"), ("($2::", ":bb"), ("pg_catalog.int8", ":bb")]
    {
        assert_eq!(pin.saved_position(place(pin.sql(), compiled)), place(sql, saved), "{compiled}");
    }
    assert_eq!(pin.saved_position(0), 1);
}

#[test]
fn all_problems_come_at_once() {
    let pin = pin("SELECT :a, :c, $1 OFFSET :a;", json!(["a int8", "b text", {"name": "d"}]));
    let problems = pin.compile().unwrap_err();
    let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths,
        ["sql", "sql", "params[1].name", "params[2].name", "sql", "sql", "sql", "params[2].type"]
    );
}

#[test]
fn a_probe_leaves_bare_what_has_no_type_yet() {
    let pin = pin("SELECT 1 WHERE x=:a AND y=:b LIMIT 1", json!([{"name": "a"}, "b date"]));
    let probe = pin.probe(&[]).unwrap();
    assert_eq!(probe.sql, "SELECT 1 WHERE x=($1) AND y=($2::pg_catalog.date) LIMIT 1");
    assert_eq!(probe.params, [("a".to_owned(), None), ("b".to_owned(), Some(ParamType::Date))]);
    assert!(pin.compile().is_err());
}

#[test]
fn a_suggested_type_is_never_a_quiet_text() {
    for (oid, ty) in
        [(25, ParamType::Text), (23, ParamType::Int8), (701, ParamType::Numeric), (16, ParamType::Bool)]
    {
        assert_eq!(ParamType::suggest(oid), Some(ty));
    }
    // unknown, uuid, text[], a user's type
    for oid in [0, 705, 2950, 1009, 16_384] {
        assert_eq!(ParamType::suggest(oid), None, "{oid}");
    }
}

#[test]
fn the_editor_can_have_semicolons_and_limit_put_right() {
    for (sql, tidied) in [
        ("SELECT 1", "SELECT 1\nLIMIT 100"),
        ("SELECT 1 ; ;\n", "SELECT 1\nLIMIT 100"),
        ("SELECT 1 LIMIT 5;", "SELECT 1 LIMIT 5"),
        ("SELECT 1; -- why", "SELECT 1 -- why\nLIMIT 100"),
        ("SELECT 1 -- ;", "SELECT 1 -- ;\nLIMIT 100"),
        ("SELECT 1 LIMIT :n", "SELECT 1 LIMIT :n"),
        ("SELECT * FROM (SELECT 1 LIMIT 5) x", "SELECT * FROM (SELECT 1 LIMIT 5) x\nLIMIT 100"),
        ("SELECT 'open", "SELECT 'open"),
        ("", ""),
        (";", ""),
    ] {
        assert_eq!(tidy(sql), tidied, "{sql}");
        assert_eq!(tidy(&tidy(sql)), tidied, "{sql}");
    }
}

#[test]
fn the_limit_is_read_from_every_way_to_write_it() {
    for (sql, limit) in [
        ("SELECT 1 LIMIT 0", 0),
        ("SELECT 1 LIMIT 20 OFFSET 5", 20),
        ("SELECT 1 OFFSET 5 ROWS FETCH NEXT 20 ROWS ONLY", 20),
        ("SELECT 1 FETCH FIRST ROW ONLY", 1),
        ("SELECT 1 LIMIT 10000000000", 10_000_000_000),
        ("(SELECT 1) LIMIT 3", 3),
        ("SELECT 1 FROM t, LATERAL (SELECT 2 LIMIT 9) x LIMIT 3", 3),
        ("SELECT a[1] FROM t LIMIT 3", 3),
    ] {
        assert_eq!(compiled(sql, json!([])).limit(), limit, "{sql}");
    }
}
