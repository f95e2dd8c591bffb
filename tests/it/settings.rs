//! The settings that README lists are those that the code reads.

use std::collections::BTreeSet;

#[test]
fn readme_lists_the_settings_that_the_code_reads() {
    let sources = [
        include_str!("../../functions/audit/src/settings.rs"),
        include_str!("../../functions/flows/src/settings.rs"),
        include_str!("../../functions/mcp/src/settings.rs"),
    ];
    let code: BTreeSet<String> = sources.into_iter().flat_map(words).collect();
    let table = include_str!("../../README.md").lines().filter(|line| line.starts_with("| `PINGUARD_"));
    let listed: BTreeSet<String> = table.map(|line| line.split('`').nth(1).unwrap().to_owned()).collect();
    assert_eq!(listed, code);
}

/// Every name of a setting in a source.
fn words(source: &str) -> BTreeSet<String> {
    source
        .split(|character: char| !(character.is_ascii_uppercase() || character == '_'))
        .filter(|word| word.starts_with("PINGUARD_") && *word != "PINGUARD_")
        .map(str::to_owned)
        .collect()
}
