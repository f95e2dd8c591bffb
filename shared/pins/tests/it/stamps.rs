//! When a stamp proves a test, and when it does not.

use pins::{Column, Pin, Scope, ScopeCredential, StampKey, StampState, Test};
use serde_json::{Value as Json, json};

use crate::pin;

const SQL: &str = "SELECT x FROM t WHERE m = :m AND n <= :n AND r = :r LIMIT 20";

type Edit = fn(&mut Json);

fn rows() -> Json {
    json!([
        {"name": "r", "type": "text", "required": false},
        {"name": "n", "type": "int8", "required": false, "default": 5, "allowed": [5, 10], "min": 1, "max": 20},
        {"name": "m", "type": "date", "description": "first day"},
    ])
}

fn key() -> StampKey {
    let bytes: Vec<u8> = (0..32).collect();
    StampKey::new(&bytes).unwrap()
}

fn scope() -> Scope {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Scope {
        workspace: "acme".to_owned(),
        credential: ScopeCredential::Named { id: "cred-1".to_owned(), secret: "arn:secret".to_owned() },
        selection: set(&["public.b", "public.a"]),
        allowed_functions: set(&["public.f"]),
        allowed_foreign_tables: set(&[]),
        search_path: vec!["sales".to_owned(), "public".to_owned()],
    }
}

fn test() -> Test {
    let column = |name: &str, ty: &str| Column { name: name.to_owned(), ty: ty.to_owned() };
    Test {
        columns: vec![column("x", "numeric(12,2)"), column("é", "text")],
        by: "ada".to_owned(),
        at: "2026-01-01T00:00:00Z".to_owned(),
    }
}

fn tested() -> Pin {
    let pin = pin(SQL, rows());
    let stamp = pin.stamp_test(&key(), &scope(), test()).unwrap();
    pin.with_stamp(Some(stamp))
}

/// The same pin after an edit of its document.
fn edited(change: impl FnOnce(&mut Json)) -> Pin {
    let mut json = tested().to_json();
    change(&mut json);
    Pin::from_json(&json).unwrap()
}

/// Both figures come from an implementation of these few lines in another language.
#[test]
fn hash_and_stamp_are_these_for_ever() {
    let compiled = pin(SQL, rows()).compile().unwrap();
    assert_eq!(compiled.statement_hash(), "8cb00284f974bbff7218f5ef160d97234568ef062508064645b42ea8a8a4ea70");
    let hmac = |pin: &Pin| pin.stamp().unwrap().hmac_hex();
    assert_eq!(hmac(&tested()), "ddce43364967e92c48057328b0f497dacaf9d88c10c6384b72ea05bbb00d29ec");
    let default = Scope { credential: ScopeCredential::Default, ..scope() };
    let stamp = pin(SQL, rows()).stamp_test(&key(), &default, test()).unwrap();
    assert_eq!(stamp.hmac_hex(), "8f2cf3bf6251a225524dc324195c89826cd3ce5977a44499be4ea004050c6c68");
}

#[test]
fn a_stamp_outlives_the_document_it_is_saved_in() {
    let saved = Pin::from_json(&tested().to_json()).unwrap();
    assert_eq!(saved.verify(&key(), &scope()), StampState::Verified);
    assert_eq!(saved.stamp().unwrap().test(), &test());
}

#[test]
fn what_a_stamp_does_not_cover_can_change() {
    for (key_of_document, value) in [
        ("name", json!("pq_other")),
        ("purpose", json!("another line")),
        ("rowCap", json!(5)),
        ("version", json!(9)),
        ("id", json!("p2")),
    ] {
        let pin = edited(|pin| pin[key_of_document] = value);
        assert_eq!(pin.verify(&key(), &scope()), StampState::Verified, "{key_of_document}");
    }
    let reordered = edited(|pin| pin["params"].as_array_mut().unwrap().reverse());
    assert_eq!(reordered.verify(&key(), &scope()), StampState::Verified);
}

#[test]
fn an_edit_of_statement_or_parameters_undoes_the_stamp() {
    let edits: [(&str, Edit); 14] = [
        ("sql", |pin| pin["sql"] = json!(SQL.replace("<=", "<"))),
        ("a blank", |pin| pin["sql"] = json!(SQL.replace(" AND", "  AND"))),
        ("limit", |pin| pin["sql"] = json!(SQL.replace("20", "21"))),
        ("type", |pin| pin["params"][2]["type"] = json!("timestamp")),
        ("no type", |pin| pin["params"][2]["type"] = json!(null)),
        ("presence", |pin| pin["params"][0]["required"] = json!(true)),
        ("default", |pin| pin["params"][1]["default"] = json!(10)),
        ("allowed", |pin| pin["params"][1]["allowed"] = json!([5])),
        ("min", |pin| pin["params"][1]["min"] = json!(2)),
        ("max", |pin| pin["params"][1]["max"] = json!(null)),
        ("description", |pin| pin["params"][2]["description"] = json!("last day")),
        ("claim", |pin| pin["params"][2]["claim"] = json!("org")),
        ("tested name", |pin| pin["stamp"]["testedColumns"][0]["name"] = json!("y")),
        ("tested type", |pin| pin["stamp"]["testedColumns"][0]["type"] = json!("numeric")),
    ];
    for (what, edit) in edits {
        assert_eq!(edited(edit).verify(&key(), &scope()), StampState::Mismatch, "{what}");
    }
}

#[test]
fn another_claim_undoes_the_stamp() {
    let hash = |claim: &str| {
        let row = json!({"name": "a", "type": "text", "claim": claim});
        pin("SELECT :a LIMIT 1", json!([row])).compile().unwrap().statement_hash().to_owned()
    };
    assert_eq!(hash("tenant"), hash("tenant"));
    assert_ne!(hash("tenant"), hash("org"));
}

#[test]
fn another_place_undoes_the_stamp() {
    let named =
        |id: &str, secret: &str| ScopeCredential::Named { id: id.to_owned(), secret: secret.to_owned() };
    let scopes = [
        Scope { workspace: "other".to_owned(), ..scope() },
        Scope { credential: ScopeCredential::Default, ..scope() },
        Scope { credential: named("cred-2", "arn:secret"), ..scope() },
        Scope { credential: named("cred-1", "arn:other"), ..scope() },
        Scope { selection: ["public.a".to_owned()].into(), ..scope() },
        Scope { selection: ["public.a,public.b".to_owned()].into(), ..scope() },
        Scope { allowed_functions: [].into(), ..scope() },
        Scope {
            allowed_functions: [].into(),
            allowed_foreign_tables: ["public.f".to_owned()].into(),
            ..scope()
        },
        Scope { search_path: vec!["public".to_owned(), "sales".to_owned()], ..scope() },
    ];
    for scope in scopes {
        assert_eq!(tested().verify(&key(), &scope), StampState::Mismatch, "{scope:?}");
    }
}

#[test]
fn another_key_or_a_forged_stamp_proves_nothing() {
    let rotated = StampKey::new(&[7; 32]).unwrap();
    assert_eq!(tested().verify(&rotated, &scope()), StampState::Mismatch);
    assert_eq!(pin(SQL, rows()).verify(&key(), &scope()), StampState::Missing);
    let forged = edited(|pin| pin["stamp"]["hmac"] = json!("00".repeat(32)));
    assert_eq!(forged.verify(&key(), &scope()), StampState::Mismatch);
    for hmac in [json!(""), json!("ab"), json!("zz".repeat(32)), json!(null), json!(5)] {
        let mut json = tested().to_json();
        json["stamp"]["hmac"] = hmac;
        assert_eq!(Pin::from_json(&json).unwrap_err()[0].path, "stamp.hmac");
    }
    let mut copied = pin("SELECT 1 LIMIT 1", json!([]));
    copied = copied.with_stamp(tested().stamp().cloned());
    assert_eq!(copied.verify(&key(), &scope()), StampState::Mismatch);
}

#[test]
fn a_pin_that_breaks_a_rule_gets_no_stamp() {
    let problems = pin("SELECT 1", json!([])).stamp_test(&key(), &scope(), test()).unwrap_err();
    assert!(problems[0].message.contains("LIMIT 100"), "{problems:?}");
}

#[test]
fn a_key_is_long_enough_and_shows_nothing() {
    assert!(StampKey::new(&[1; 31]).unwrap_err().contains("at least 32"));
    assert_eq!(format!("{:?}", StampKey::new(&[200; 100]).unwrap()), "StampKey(…)");
}
