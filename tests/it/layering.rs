//! Which package may use which, and that the pure ones are pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Every package of the workspace and those of the workspace that it may use. Edges point down: functions, then analyst
/// and state, then pg and pins, then guard. A new edge is a change of the design.
const ALLOWED: &[(&str, &[&str])] = &[
    ("guard", &[]),
    ("pins", &[]),
    ("pg", &["guard"]),
    ("analyst", &["guard", "pg", "pins"]),
    ("state", &["pg", "pins"]),
    ("oauth", &[]),
    ("service", &["analyst", "oauth", "pg", "pins", "state"]),
    ("lambda", &[]),
    ("mcp", &["analyst", "lambda", "oauth", "pg", "pins", "service", "state"]),
    ("pin-test", &["analyst", "lambda", "pins", "service", "state"]),
    ("flows", &["analyst", "lambda", "pg", "service", "state"]),
    ("audit", &["lambda", "service", "state"]),
    ("local", &["flows", "mcp", "pg", "pin-test", "pins", "service", "state"]),
    ("tests", &["audit", "flows", "lambda", "local", "mcp", "pin-test", "state"]),
    ("bench", &["guard", "local", "mcp", "pg", "pins", "state"]),
];

/// What the pure packages must not name: input, output, clocks, randomness, environment, waiting.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::io",
    "std::thread::sleep",
    "SystemTime",
    "Instant",
    "tokio",
    "getrandom",
    "async ",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The workspace's packages and their dependencies on each other, outside tests.
fn edges() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let members: BTreeSet<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let uses = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let ours =
            dependencies.filter(|dependency| dependency["kind"] != "dev" && !dependency["path"].is_null());
        ours.map(|dependency| text(&dependency["name"])).collect()
    };
    let edges: BTreeMap<_, _> =
        packages.iter().map(|package| (text(&package["name"]), uses(package))).collect();
    for used in edges.values().flatten() {
        assert!(members.contains(used), "`{used}` lies outside the workspace");
    }
    edges
}

#[test]
fn packages_use_only_what_lies_below_them() {
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        ALLOWED.iter().map(|&(package, uses)| (package, uses.iter().copied().collect())).collect();
    let found = edges();
    let listed: BTreeSet<&str> = allowed.keys().copied().collect();
    let present: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(listed, present, "the table names every package, and none that is gone");
    for (package, uses) in &found {
        for used in uses {
            assert!(allowed[package.as_str()].contains(used.as_str()), "`{package}` must not use `{used}`");
        }
    }
}

#[test]
fn guard_and_pins_do_no_input_or_output_and_read_no_clock() {
    for package in ["guard", "pins"] {
        let sources = sources(&root().join("shared").join(package).join("src"));
        assert!(!sources.is_empty(), "no sources of `{package}`");
        for path in sources {
            let text = fs::read_to_string(&path).unwrap();
            let found = impurities(&text);
            assert!(found.is_empty(), "{} names {found:?}", path.display());
        }
    }
}

#[test]
fn an_impure_line_is_noticed() {
    assert_eq!(impurities("use std::{\n    collections::HashMap,\n    fs,\n};\n"), ["std::fs"]);
    assert_eq!(impurities("use std::{env as e, thread};\n"), ["std::env"]);
    assert_eq!(impurities("let now = std::time::Instant::now();\n"), ["Instant"]);
    assert_eq!(impurities("//! std::fs is not used here\nuse std::fmt;\n"), [""; 0]);
    assert_eq!(impurities("use std::fmt;\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"), [""; 0]);
}

/// What of [`IMPURE`] a source names, its comments and its tests left out.
fn impurities(source: &str) -> Vec<&'static str> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let imports = std_imports(&code);
    let named = |word: &str| code.contains(word) || imports.contains(word);
    IMPURE.iter().copied().filter(|word| named(word)).collect()
}

/// `std::a` for each first-level name of `use std::{a::…, b as c, …};`.
fn std_imports(code: &str) -> BTreeSet<String> {
    let mut imports = BTreeSet::new();
    for group in code.split("use std::{").skip(1) {
        let (mut depth, mut name) = (0, String::new());
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    imports.insert(first_name(&name));
                    name.clear();
                    continue;
                }
                _ => {}
            }
            name.push(c);
        }
        imports.insert(first_name(&name));
    }
    imports
}

fn first_name(path: &str) -> String {
    let end = |c: char| !c.is_alphanumeric() && c != '_';
    format!("std::{}", path.trim().split(end).next().unwrap_or_default())
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
