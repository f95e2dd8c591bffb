//! The settings that README lists are those that the code reads.

use std::{cell::RefCell, collections::BTreeSet};

pub(crate) const README: &str = include_str!("../../README.md");

/// A function that is deployed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Function {
    Mcp,
    PinTest,
    Flows,
    Audit,
}

impl Function {
    const ALL: [Self; 4] = [Self::Mcp, Self::PinTest, Self::Flows, Self::Audit];

    /// Every setting that the function asks for, whatever the others are.
    pub(crate) fn settings(self) -> BTreeSet<String> {
        let asked = RefCell::new(BTreeSet::new());
        for value in [None, Some("1"), Some("oauth")] {
            let get = |name: &str| {
                asked.borrow_mut().insert(name.to_owned());
                value.map(str::to_owned)
            };
            // What it makes of them does not matter here.
            match self {
                Self::Mcp => drop(mcp::Deployment::read(get)),
                Self::PinTest => drop(pin_test::Deployment::read(get)),
                Self::Flows => drop(flows::Deployment::read(get)),
                Self::Audit => drop(audit::Settings::read(get)),
            }
        }
        asked.into_inner()
    }
}

#[test]
fn readme_lists_the_settings_that_the_code_reads() {
    let read: BTreeSet<String> = Function::ALL.into_iter().flat_map(Function::settings).collect();
    let table = README.lines().filter(|line| line.starts_with("| `PINGUARD_"));
    let listed: BTreeSet<String> = table.map(|line| line.split('`').nth(1).unwrap().to_owned()).collect();
    assert_eq!(listed, read);
}
