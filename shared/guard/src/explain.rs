//! `EXPLAIN` of a read: its statement is judged on its own, its options are written anew from a list.

use pg_query::NodeEnum;
use pg_query::protobuf::{DefElem, ExplainStmt, Token};

use crate::admitted::{Candidate, Part};
use crate::rules::{RowLimit, Selection};
use crate::sieve;
use crate::text::Text;
use crate::verdict::{Code, Finding, Refusal};

/// Options that take a truth value. None of them writes or runs anything but the statement itself.
const SWITCHES: &[&str] = &[
    "analyze",
    "buffers",
    "costs",
    "generic_plan",
    "memory",
    "settings",
    "summary",
    "timing",
    "verbose",
    "wal",
];

/// Options that take a word, and the words.
const CHOICES: &[(&str, &[&str])] =
    &[("format", &["text", "xml", "json", "yaml"]), ("serialize", &["none", "off", "text", "binary"])];

const HELP: &str = "the options that run here are ANALYZE, BUFFERS, COSTS, FORMAT, GENERIC_PLAN, MEMORY, SERIALIZE, \
                    SETTINGS, SUMMARY, TIMING, VERBOSE and WAL";

pub(crate) fn judge(statement: &ExplainStmt, text: &Text<'_>, limit: RowLimit) -> Result<Candidate, Refusal> {
    let target = statement.query.as_ref().and_then(|node| node.node.as_ref());
    let Some(select @ NodeEnum::SelectStmt(_)) = target else {
        let message = "`EXPLAIN` stands before a statement that does not only read";
        let help = "EXPLAIN takes a SELECT, WITH, VALUES or TABLE statement here";
        return Err(Refusal::one(Finding::new(Code::ExplainTarget, message, help)));
    };
    let sieve::Sifted { mut findings, parameters, opening, .. } =
        sieve::sift(select, text, &Selection::Everything);
    let mut options = Vec::new();
    for option in statement.options.iter().filter_map(|node| node.node.as_ref()) {
        match option {
            NodeEnum::DefElem(option) => match written_anew(option) {
                Some(option) => options.push(option),
                None => findings.push(unknown_option(option, text)),
            },
            _ => findings.push(Finding::new(Code::ExplainOption, "an option of EXPLAIN is not known", HELP)),
        }
    }
    let inner = inner_part(text, options.is_empty());
    // A generic plan is one for any values: the statement has parameters and takes none.
    let generic = options.iter().any(|option| option == "generic_plan on");
    let parameters = if generic { 0 } else { parameters };
    match (Refusal::all(findings), inner) {
        (None, Some(inner)) => {
            let candidate = Candidate::explain(&options, inner, parameters, limit);
            Ok(candidate.opening_with(opening))
        }
        (Some(refusal), _) => Err(refusal),
        (None, None) => {
            let message = "the statement that EXPLAIN stands before was not found";
            Err(Refusal::one(Finding::new(Code::ExplainTarget, message, "write EXPLAIN (options) statement")))
        }
    }
}

fn unknown_option(option: &DefElem, text: &Text<'_>) -> Finding {
    let message = format!("the option `{}` of EXPLAIN is not known, or its value is not", option.defname);
    Finding::new(Code::ExplainOption, message, HELP).at(text.position(option.location))
}

fn written_anew(option: &DefElem) -> Option<String> {
    let name = option.defname.as_str();
    let value = match option.arg.as_ref().map(|node| node.node.as_ref()) {
        None => String::new(),
        Some(Some(NodeEnum::String(word))) => word.sval.to_ascii_lowercase(),
        Some(Some(NodeEnum::Integer(number))) => number.ival.to_string(),
        Some(Some(NodeEnum::Boolean(truth))) => truth.boolval.to_string(),
        Some(_) => return None,
    };
    if let Some(name) = SWITCHES.iter().find(|known| **known == name) {
        let on = match value.as_str() {
            "" | "true" | "on" | "1" => "on",
            "false" | "off" | "0" => "off",
            _ => return None,
        };
        return Some(format!("{name} {on}"));
    }
    let (name, words) = CHOICES.iter().find(|(known, _)| *known == name)?;
    if value.is_empty() && *name == "serialize" {
        return Some((*name).to_owned());
    }
    let word = words.iter().find(|word| **word == value)?;
    Some(format!("{name} {word}"))
}

/// The text behind `EXPLAIN`, its options or its old words ANALYZE and VERBOSE.
fn inner_part<'a>(text: &Text<'a>, no_options: bool) -> Option<Part<'a>> {
    let mut words = text.words().skip_while(|word| word.kind != Token::Explain).skip(1).peekable();
    if !no_options {
        if words.peek()?.kind == Token::Ascii40 {
            let mut open = 0_usize;
            for word in words.by_ref() {
                match word.kind {
                    Token::Ascii40 => open += 1,
                    Token::Ascii41 => open = open.checked_sub(1)?,
                    _ => {}
                }
                if open == 0 {
                    break;
                }
            }
        } else {
            while words
                .next_if(|word| matches!(word.kind, Token::Analyze | Token::Analyse | Token::Verbose))
                .is_some()
            {}
        }
    }
    Some(text.part(words.next()?.start))
}
