//! The template as data.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The template with the short forms of CloudFormation's functions written out: `!Ref x` is `{"Ref": "x"}`.
pub(crate) struct Template(Value);

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// A program that `scripts/lib/python.sh` installs beside AWS's own reader of templates.
pub(crate) fn tool(name: &str) -> PathBuf {
    let path = root().join("target/sam/bin").join(name);
    assert!(path.exists(), "no {name} under target/sam: run scripts/test, which installs it");
    path
}

impl Template {
    pub(crate) fn read() -> Self {
        let reads = "import json, sys\nfrom samtranslator.yaml_helper import yaml_parse\n\
                     json.dump(yaml_parse(open(sys.argv[1]).read()), sys.stdout)";
        let output = Command::new(tool("python"))
            .args(["-c", reads])
            .arg(root().join("template.yaml"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self(serde_json::from_slice(&output.stdout).unwrap())
    }

    /// What holds for every function.
    pub(crate) fn globals(&self) -> &Value {
        &self.0["Globals"]["Function"]
    }

    #[track_caller]
    pub(crate) fn parameter(&self, name: &str) -> &Value {
        self.0["Parameters"].get(name).unwrap_or_else(|| panic!("no parameter {name}"))
    }

    /// Whether anything in it has this name: a parameter, a resource, an output.
    pub(crate) fn has(&self, name: &str) -> bool {
        ["Parameters", "Resources", "Outputs"].iter().any(|part| self.0[*part].get(name).is_some())
    }

    #[track_caller]
    pub(crate) fn resource(&self, id: &str) -> &Value {
        self.0["Resources"].get(id).unwrap_or_else(|| panic!("no resource {id}"))
    }

    /// The logical ids of all resources of a type.
    pub(crate) fn of_type(&self, kind: &str) -> impl Iterator<Item = &str> {
        let resources = self.0["Resources"].as_object().unwrap().iter();
        resources.filter(move |(_, resource)| resource["Type"] == kind).map(|(id, _)| id.as_str())
    }

    /// The variables of a function, with what they are set to.
    pub(crate) fn variables(&self, function: &str) -> BTreeMap<String, Value> {
        let shared = &self.globals()["Environment"];
        let own = &self.resource(function)["Properties"]["Environment"];
        let both = [shared, own].into_iter().flat_map(|set| set["Variables"].as_object().unwrap());
        both.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The statements of a function's role: its own and those of the managed policies that it has.
    pub(crate) fn statements(&self, function: &str) -> Vec<&Value> {
        let role = self.resource(function)["Properties"]["Role"]["Fn::GetAtt"][0].as_str().unwrap();
        let role = &self.resource(role)["Properties"];
        let managed = role["ManagedPolicyArns"].as_array().unwrap().iter();
        let managed = managed.map(|policy| &self.resource(policy["Ref"].as_str().unwrap())["Properties"]);
        managed
            .chain(role["Policies"].as_array().unwrap())
            .flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().unwrap())
            .map(|statement| statement.get("Fn::If").map_or(statement, |chosen| &chosen[1]))
            .collect()
    }
}
