//! Requests in every shape that the front doors give them, as samples.

use serde_json::json;

use super::{
    PATH, SQL, TIME, content, deploy,
    events::{FrontDoor, event, query, sample},
};

#[tokio::test]
async fn every_shape_of_a_request_reaches_its_node() {
    let mut deployed = deploy().await;
    let key = deployed.key.text().to_owned();
    for name in [
        "http-api",
        "http-api-stage",
        "http-api-own-host",
        "http-api-base64",
        "http-api-cookies",
        "function-url",
        "function-url-base64",
        "function-url-cookies",
    ] {
        let event = sample(name, &[("@KEY@", &key), ("@BODY@", &query(SQL))]);
        let rows = content(&deployed.function.invoke(&event, TIME))["rows"].clone();
        assert_eq!(rows, json!([["nail", "0.10", "9007199254740993"], ["screw", "1.00", 7]]), "{name}");
    }
}

#[tokio::test]
async fn a_header_sent_twice_comes_joined_and_is_no_key() {
    let mut deployed = deploy().await;
    let key = deployed.key.text().to_owned();
    let mut twice = event(FrontDoor::HttpApi, "POST", PATH, None, &query(SQL));
    twice["headers"]["authorization"] = json!(format!("Bearer {key},Bearer {key}"));
    assert_eq!(deployed.function.invoke(&twice, TIME)["statusCode"], 401);
    // Names of headers come in any case, and the scheme may too.
    let mut odd = event(FrontDoor::FunctionUrl, "POST", PATH, None, &query(SQL));
    odd["headers"]["Authorization"] = json!(format!("bearer {key}"));
    assert_eq!(content(&deployed.function.invoke(&odd, TIME))["rowCount"], 2);
}

#[tokio::test]
async fn what_is_no_request_fails_alone() {
    let mut deployed = deploy().await;
    for stray in [json!({}), json!({"Records": []}), json!("text"), sample("schedule", &[])] {
        assert!(deployed.function.outcome(&stray, TIME).is_err(), "{stray}");
    }
    let mut broken = event(FrontDoor::HttpApi, "POST", PATH, Some(deployed.key.text()), "%%%");
    broken["isBase64Encoded"] = json!(true);
    assert!(deployed.function.outcome(&broken, TIME).is_err());
    assert_eq!(content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)))["rowCount"], 2);
}
