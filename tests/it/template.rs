//! `template.yaml`: AWS's linters have nothing to say, and it says of settings and rights what the code says.

mod document;
mod rights;

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

use self::document::{Template, tool};
use crate::settings::{Function, README};

/// Logical id of each function, its program, and whose settings it reads.
const FUNCTIONS: &[(&str, &str, Function)] = &[
    ("Mcp", "mcp", Function::Mcp),
    ("PinTest", "pin-test", Function::PinTest),
    ("Flows", "flows", Function::Flows),
    ("Audit", "audit", Function::Audit),
];

#[test]
fn the_linters_have_nothing_to_say() {
    for (program, arguments) in [("cfn-lint", &["template.yaml"][..]), ("sam", &["validate", "--lint"])] {
        let output = Command::new(tool(program))
            .args(arguments)
            .current_dir(document::root())
            .envs([("AWS_DEFAULT_REGION", "us-east-1"), ("SAM_CLI_TELEMETRY", "0")])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program}: {said}");
    }
    let text = document::text("template.yaml");
    assert!(!text.contains("ignore_checks") && !text.contains("cfn-lint"), "no finding is waved through");
}

#[test]
fn each_function_has_the_variables_that_its_code_reads() {
    let template = Template::read();
    let listed: BTreeSet<&str> = FUNCTIONS.iter().map(|(id, ..)| *id).collect();
    let present: BTreeSet<&str> = template.of_type("AWS::Serverless::Function").collect();
    assert_eq!(listed, present);
    for &(id, _, function) in FUNCTIONS {
        let variables: BTreeSet<String> = template.variables(id).into_keys().collect();
        assert_eq!(variables, function.settings(), "{id}");
    }
}

#[test]
fn each_function_is_built_from_a_program_of_that_name() {
    let template = Template::read();
    for (id, program, _) in FUNCTIONS {
        let resource = template.resource(id);
        assert_eq!(resource["Metadata"]["BuildProperties"]["Binary"], *program);
        let manifest = document::root().join("functions").join(program).join("Cargo.toml");
        assert!(
            std::fs::read_to_string(manifest).unwrap().contains(&format!("[[bin]]\nname = \"{program}\""))
        );
    }
}

#[test]
fn the_defaults_are_those_that_readme_tells() {
    let template = Template::read();
    let variables = template.variables("Mcp");
    let mut compared = 0;
    for line in README.lines().filter(|line| line.starts_with("| `PINGUARD_")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let (name, told) = (cells[0].trim_matches('`'), cells[2].replace(',', ""));
        let Ok(told) = told.parse::<u64>() else { continue };
        let parameter = &template.parameter(variables[name]["Ref"].as_str().unwrap());
        assert_eq!(parameter["Default"].as_u64(), Some(told), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 5);
}

#[test]
fn each_path_leads_to_the_function_that_serves_it() {
    let template = Template::read();
    let mut found = BTreeSet::new();
    for (id, ..) in FUNCTIONS {
        for event in template.resource(id)["Properties"]["Events"].as_object().unwrap().values() {
            if event["Type"] == "HttpApi" {
                // Whatever its method: which of them a path takes, the function says.
                assert_eq!(event["Properties"]["Method"], "ANY", "{id}");
                found.insert((*id, event["Properties"]["Path"].as_str().unwrap().to_owned()));
            }
        }
    }
    let test = format!("{}{{flowId}}/test", pin_test::PATH);
    let served = [
        ("Mcp", "/mcp/{proxy+}"),
        ("Mcp", "/.well-known/{proxy+}"),
        ("PinTest", &test),
        ("Flows", "/api/v1/{proxy+}"),
    ];
    assert_eq!(found, served.map(|(id, path)| (id, path.to_owned())).into());
}

#[test]
fn the_documents_name_what_the_template_has() {
    let template = Template::read();
    let mut named = 0;
    for document in ["deploy", "cost", "scaling"] {
        let text = document::text(&format!("docs/{document}.md"));
        for code in text.split('`').skip(1).step_by(2) {
            let name = code.split('=').next().unwrap();
            let camel = name.starts_with(|first: char| first.is_ascii_uppercase())
                && name.chars().all(char::is_alphanumeric)
                && name.contains(char::is_lowercase);
            if camel {
                assert!(template.has(name), "{document}.md: {name}");
                named += 1;
            }
        }
    }
    assert!(named > 20, "{named}");
    let alarms = template.of_type("AWS::CloudWatch::Alarm").count();
    let cost = document::text("docs/cost.md");
    assert!(cost.contains(&format!("| alarms | {alarms} × 0.10 |")), "{alarms} alarms");
}

#[test]
fn a_call_ends_before_the_function_and_the_function_before_the_http_api() {
    let template = Template::read();
    let function = template.globals()["Timeout"].as_u64().unwrap();
    let call = template.parameter("TimeoutSeconds")["MaxValue"].as_u64().unwrap();
    assert!(call < function - 1 && function < 30, "{call} {function}");
    let hidden = template.resource("AuditQueue")["Properties"]["VisibilityTimeout"].as_u64().unwrap();
    assert!(hidden >= 6 * function);
}

#[test]
fn every_log_that_can_hold_records_feeds_the_audit_and_its_own_does_not() {
    let template = Template::read();
    let events = template.resource("Audit")["Properties"]["Events"].as_object().unwrap();
    let fed: BTreeSet<&str> = events
        .values()
        .filter(|event| event["Type"] == "CloudWatchLogs")
        .map(|event| event["Properties"]["LogGroupName"]["Ref"].as_str().unwrap())
        .collect();
    let others = FUNCTIONS.iter().filter(|(id, ..)| *id != "Audit");
    let logs: BTreeSet<String> = others
        .map(|(id, ..)| {
            let group = &template.resource(id)["Properties"]["LoggingConfig"]["LogGroup"]["Ref"];
            group.as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(fed, logs.iter().map(String::as_str).collect());
    assert!(events.values().any(|event| event["Type"] == "Schedule"), "something drains the outbox");
    let queue = &events["Queue"]["Properties"]["FunctionResponseTypes"];
    assert_eq!(queue, &Value::from(vec!["ReportBatchItemFailures"]));
}
