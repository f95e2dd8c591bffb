//! What the template allows, against what the code does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{
    FUNCTIONS,
    document::{self, Template},
};

/// The right that each call of the code needs, by crate and operation. What is signed for a service by hand stands by its
/// name: a token of RDS goes to the database, which asks AWS whether the signer may connect.
const CALLS: &[((&str, &str), &str)] = &[
    (("aws-sdk-secretsmanager", "get_secret_value"), "secretsmanager:GetSecretValue"),
    (("aws-sdk-sqs", "send_message_batch"), "sqs:SendMessage"),
    (("aws-sigv4", "rds-db"), "rds-db:connect"),
];

/// What AWS does in a function's name, ahead of its code or behind it.
const BY_AWS: &[(&str, &str)] = &[
    ("logs:CreateLogStream", "Lambda writes logs"),
    ("logs:PutLogEvents", "Lambda writes logs"),
    ("xray:PutTraceSegments", "Lambda writes traces"),
    ("xray:PutTelemetryRecords", "Lambda writes traces"),
    ("kms:Decrypt", "Secrets Manager opens a secret under a key of one's own"),
    ("ec2:CreateNetworkInterface", "Lambda joins a VPC"),
    ("ec2:DescribeNetworkInterfaces", "Lambda joins a VPC"),
    ("ec2:DescribeSubnets", "Lambda joins a VPC"),
    ("ec2:DeleteNetworkInterface", "Lambda joins a VPC"),
    ("ec2:AssignPrivateIpAddresses", "Lambda joins a VPC"),
    ("ec2:UnassignPrivateIpAddresses", "Lambda joins a VPC"),
    ("sqs:ReceiveMessage", "Lambda takes messages to the audit"),
    ("sqs:DeleteMessage", "Lambda takes messages to the audit"),
    ("sqs:GetQueueAttributes", "Lambda takes messages to the audit"),
];

#[test]
fn roles_may_do_what_the_code_does_and_nothing_else() {
    let template = Template::read();
    let mut allowed = BTreeSet::new();
    for (id, ..) in FUNCTIONS {
        allowed.extend(template.statements(id).into_iter().flat_map(actions));
    }
    let made = calls();
    let known: BTreeMap<_, _> = CALLS.iter().copied().collect();
    let listed: BTreeSet<(String, String)> =
        known.keys().map(|(package, call)| ((*package).to_owned(), (*call).to_owned())).collect();
    assert_eq!(made, listed, "the table holds the calls that the code makes");
    let needed: BTreeSet<&str> =
        known.values().copied().chain(BY_AWS.iter().map(|(action, _)| *action)).collect();
    assert_eq!(allowed.iter().map(String::as_str).collect::<BTreeSet<_>>(), needed);
}

#[test]
fn no_statement_reaches_further_than_it_must() {
    let template = Template::read();
    for (id, ..) in FUNCTIONS {
        for statement in template.statements(id) {
            let everything = statement["Resource"] == "*";
            let actions = actions(statement);
            assert!(actions.iter().all(|action| !action.contains('*')), "{statement}");
            // These two services know no resources to name.
            let nameless =
                actions.iter().all(|action| action.starts_with("xray:") || action.starts_with("ec2:"));
            assert_eq!(everything, nameless, "{statement}");
            let sid = statement["Sid"].as_str().unwrap();
            let same = template.statements(id).into_iter().filter(|other| other["Sid"] == sid).count();
            assert_eq!(same, 1, "{sid} of {id}");
        }
    }
}

#[test]
fn a_function_reads_the_secrets_that_its_variables_name_and_no_others() {
    let template = Template::read();
    for (id, ..) in FUNCTIONS {
        let mut readable = BTreeSet::new();
        for statement in template.statements(id) {
            if actions(statement) == ["secretsmanager:GetSecretValue"] {
                named(&statement["Resource"], &mut readable);
            }
        }
        let mut meant = BTreeSet::new();
        let variables = template.variables(id);
        let secrets = variables.iter().filter(|(name, _)| name.ends_with("_SECRET"));
        for (name, value) in secrets.filter(|(name, _)| !only_by_name(id, name)) {
            named(value, &mut meant);
            assert!(!meant.is_empty(), "{name}");
        }
        if *id != "Audit" {
            meant.insert("CredentialPrefix".to_owned());
        }
        assert_eq!(readable, meant, "{id}");
    }
}

#[test]
fn only_what_sends_events_may_send_them() {
    let template = Template::read();
    for (id, ..) in FUNCTIONS {
        let sends = template.statements(id).into_iter().any(|statement| {
            actions(statement) == ["sqs:SendMessage"]
                && statement["Resource"]["Fn::GetAtt"][0] == "AuditQueue"
        });
        assert_eq!(sends, template.variables(id).contains_key("PINGUARD_AUDIT_QUEUE_URL"), "{id}");
    }
}

/// `flows` knows these so that no credential may name them, and reads none.
fn only_by_name(function: &str, variable: &str) -> bool {
    function == "Flows"
        && ["PINGUARD_STAMP_SECRET", "PINGUARD_AUDIT_SECRET", "PINGUARD_CACHE_SECRET"].contains(&variable)
}

fn actions(statement: &Value) -> Vec<String> {
    match &statement["Action"] {
        Value::String(action) => vec![action.clone()],
        several => {
            several.as_array().unwrap().iter().map(|action| action.as_str().unwrap().to_owned()).collect()
        }
    }
}

/// The parameters and resources that a value names, AWS's own left out.
fn named(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let names = text.split("${").skip(1).filter_map(|rest| rest.split('}').next());
            // A name that a `Fn::Sub` defines itself is there as another value.
            found.extend(
                names.filter(|name| !name.starts_with("AWS::") && *name != "Beginning").map(str::to_owned),
            );
        }
        Value::Array(values) => values.iter().for_each(|value| named(value, found)),
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("Ref", Value::String(name)) if !name.starts_with("AWS::") => {
                        found.insert(name.clone());
                    }
                    ("Fn::If", Value::Array(chosen)) => {
                        chosen.iter().skip(1).for_each(|value| named(value, found));
                    }
                    _ => named(value, found),
                }
            }
        }
        _ => {}
    }
}

/// Every call of an AWS service in the code, by the operations that the SDK's crates have.
fn calls() -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    let sources = sources();
    for (package, folder) in sdk() {
        let word = package.replace('-', "_");
        let users: Vec<&String> = sources.iter().filter(|text| text.contains(&word)).collect();
        assert!(!users.is_empty(), "nothing uses {package}");
        for operation in fs::read_dir(folder.join("src/operation")).unwrap() {
            let path = operation.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if users.iter().any(|text| text.contains(&format!(".{name}("))) {
                found.insert((package.clone(), name.to_owned()));
            }
        }
    }
    let signing = sources.iter().filter(|text| text.contains("aws_sigv4"));
    let services =
        signing.flat_map(|text| text.split(".name(\"").skip(1)).filter_map(|rest| rest.split('"').next());
    found.extend(services.map(|service| ("aws-sigv4".to_owned(), service.to_owned())));
    found
}

/// The SDK's crates that the workspace names, and where their sources are.
fn sdk() -> Vec<(String, PathBuf)> {
    // Only what this machine builds for: a build has fetched no other systems' crates.
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata =
        cargo(&["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", host]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let manifest = fs::read_to_string(document::root().join("Cargo.toml")).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| (package["name"].as_str().unwrap(), package["manifest_path"].as_str().unwrap()))
        .filter(|(name, _)| name.starts_with("aws-sdk-") && manifest.contains(&format!("\n{name} = ")))
        .map(|(name, path)| (name.to_owned(), Path::new(path).parent().unwrap().to_owned()))
        .collect()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(document::root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The sources of everything that is deployed.
fn sources() -> Vec<String> {
    fn collect(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut found = Vec::new();
    for room in ["shared", "functions"] {
        collect(&document::root().join(room), &mut found);
    }
    found
}
