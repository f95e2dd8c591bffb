//! What holds for every input.

use pg_query::protobuf::Token;
use pins::{ParamType, Pin, Value, sql_hash, tidy};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use crate::{compiled, pin};

/// Pieces of SQL in which a colon, a quote or a bracket can be misread.
fn sql() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "SELECT ",
        "WITH x AS (",
        "FROM t ",
        "WHERE ",
        "LIMIT ",
        "OFFSET ",
        "FETCH FIRST ",
        "ROWS ONLY ",
        "UNION ",
        "IN ",
        "AS ",
        ":a",
        ":b",
        ":page",
        ":é",
        "::",
        ":",
        "$1",
        "$$",
        "$x$",
        "'",
        "\"",
        "E'",
        "U&'",
        "\\",
        "--",
        "/*",
        "*/",
        "\n",
        "(",
        ")",
        "[",
        "]",
        "ARRAY",
        ",",
        ";",
        ".",
        "?",
        "@>",
        "-",
        "1",
        "1.5",
        "x",
        "é",
        "\u{a0}",
        "100 ",
        " ",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Json> {
    let number = prop::sample::select(vec![
        "0",
        "-0",
        "1e6",
        "5.0",
        "1E400",
        "-1e-400",
        "9223372036854775808",
        "0.1",
        "1e99999999999",
    ]);
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        number.prop_map(|number| serde_json::from_str(number).unwrap()),
        any::<String>().prop_map(Json::from),
        "[-+0-9.eETZ: ]{0,24}".prop_map(Json::from),
        prop::sample::select(vec!["text", "int8", "numeric", "date", "pq_a", "a", "SELECT :a LIMIT 1"])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop::sample::select(vec![
            "id", "name", "purpose", "sql", "params", "rowCap", "version", "stamp", "type", "required",
            "default", "allowed", "min", "max",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|fields| fields
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

fn document(sql: &str) -> Json {
    json!({"id": "p", "name": "pq_a", "purpose": "it", "sql": sql,
        "params": [{"name": "a", "type": "int8"}, {"name": "b", "type": "text", "required": false}]})
}

/// The words of a text, comments left out.
fn words(sql: &str) -> Vec<String> {
    let tokens = pg_query::scan_tokens(sql).unwrap();
    let words = tokens.iter().filter(|token| !matches!(token.token(), Token::SqlComment | Token::CComment));
    let text = |byte: i32| usize::try_from(byte).unwrap();
    words.map(|token| sql[text(token.start)..text(token.end)].to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_text_is_judged_without_a_panic(text in prop_oneof![sql(), any::<String>()]) {
        if let Ok(pin) = Pin::from_json(&document(&text)) {
            let (compiled, probe) = (pin.compile(), pin.probe(&[]));
            prop_assert!(compiled.is_err() || probe.is_ok());
            if let Err(problems) = compiled {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| !problem.message.contains('\n')));
            }
        }
        prop_assert_eq!(tidy(&tidy(&text)), tidy(&text));
        prop_assert_eq!(sql_hash(&text).len(), 64);
        prop_assert_eq!(sql_hash(&format!(" {text}\n")), sql_hash(&text));
    }

    #[test]
    fn any_document_is_judged_without_a_panic(json in json_value()) {
        if let Ok(pin) = Pin::from_json(&json) {
            prop_assert_eq!(Pin::from_json(&pin.to_json()), Ok(pin));
        }
    }

    #[test]
    fn compiling_replaces_the_parameters_and_no_other_word(text in sql()) {
        let whole = format!("SELECT :a, :b, {text} LIMIT 7");
        if let Ok(compiled) = Pin::from_json(&document(&whole)).and_then(|pin| pin.compile()) {
            let mut expected = Vec::new();
            for word in words(&whole) {
                let cast = |number: &str, ty: &str| ["(", number, "::", "pg_catalog", ".", ty, ")"].map(str::to_owned);
                match (expected.last().map(String::as_str), word.as_str()) {
                    (Some(":"), "a") => { expected.pop(); expected.extend(cast("$1", "int8")); }
                    (Some(":"), "b") => { expected.pop(); expected.extend(cast("$2", "text")); }
                    _ => expected.push(word),
                }
            }
            prop_assert_eq!(words(compiled.sql()), expected);
            prop_assert!(pg_query::parse(compiled.sql(), 0).is_ok());
        }
    }

    #[test]
    fn no_value_can_change_the_statement(a in json_value(), b in json_value()) {
        let pin = compiled("SELECT :a, :b LIMIT 1", json!(["a int8", {"name": "b", "type": "text", "required": false}]));
        let before = pin.sql().to_owned();
        if let Ok(bound) = pin.bind(&[("a".to_owned(), a), ("b".to_owned(), b.clone())].into_iter().collect()) {
            prop_assert_eq!(bound.len(), 2);
            prop_assert_eq!(bound[1].as_deref(), b.as_str());
        }
        prop_assert_eq!(pin.sql(), before);
        prop_assert_eq!(pin.statement_hash().len(), 64);
    }

    #[test]
    fn canonical_text_is_of_its_type_alone_and_reads_as_itself(json in json_value(), index in 0_usize..7) {
        let ty = ParamType::ALL[index];
        if let Ok(value) = Value::read(ty, &json) {
            let letters = value.text();
            let plain = letters.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE: ".contains(&byte));
            prop_assert!(ty == ParamType::Text || plain || letters == "true" || letters == "false", "{}", letters);
            prop_assert_eq!(Value::read(ty, &Json::from(letters)), Ok(value.clone()));
            prop_assert_eq!(Value::read(ty, &value.to_json()), Ok(value));
        }
    }

    #[test]
    fn int8_reads_every_whole_number_and_no_other(number in any::<i64>(), zeros in 0_usize..5, fraction in 1_u32..1000) {
        let read = |text: &str| Value::read(ParamType::Int8, &serde_json::from_str(text).unwrap());
        for text in [format!("{number}"), format!("{number}.0"), format!("{number}{}e-{zeros}", "0".repeat(zeros)), format!("\"{number}\"")] {
            prop_assert_eq!(read(&text).map(|value| value.text().to_owned()), Ok(number.to_string()), "{}", text);
        }
        let text = format!("{number}.{fraction:03}");
        prop_assert!(read(&text).is_err());
    }

    #[test]
    fn a_number_that_the_schema_lets_through_survives_a_double(min in any::<i64>(), max in any::<i64>(), at in any::<u64>()) {
        let (min, max) = (min.min(max) >> 8, min.max(max) >> 8);
        let row = json!({"name": "a", "type": "int8", "min": min.to_string(), "max": max.to_string()});
        let schema = pin("SELECT :a LIMIT 1", json!([row])).input_schema().unwrap();
        let property = &schema["properties"]["a"];
        if property["type"] == "integer" {
            let (low, high) = (property["minimum"].as_i64().unwrap(), property["maximum"].as_i64().unwrap());
            prop_assert_eq!((low, high), (min, max));
            let number = i128::from(low) + i128::from(at) % (i128::from(high) - i128::from(low) + 1);
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the loss is what is looked for")]
            let back = number as f64 as i128;
            prop_assert_eq!(back, number);
        }
    }
}
