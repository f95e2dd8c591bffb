//! The local step: exactly one statement, and of a kind that reads.

use pg_query::NodeEnum;
use pg_query::protobuf::ParseResult;

use crate::admitted::Candidate;
use crate::rules::{Rules, Selection};
use crate::text::Text;
use crate::verdict::{Code, Finding, Refusal};
use crate::{explain, parse, show, sieve};

/// A statement that the local step lets through.
pub(crate) fn candidate(sql: &str, rules: &Rules) -> Result<Candidate, Refusal> {
    let text = Text::read(sql)?;
    parse::with_tree(&text, |tree| judge_tree(tree, &text, rules))
}

fn judge_tree(tree: &ParseResult, text: &Text<'_>, rules: &Rules) -> Result<Candidate, Refusal> {
    let root = only_statement(tree, text, rules)?;
    match root {
        NodeEnum::SelectStmt(_) => {
            let sifted = sieve::sift(root, text, &rules.selection);
            refuse_any(sifted.findings)?;
            let candidate = Candidate::rows(text.body(), sifted.parameters, rules.row_limit);
            Ok(candidate.naming(sifted.called, sifted.bare).opening_with(sifted.opening))
        }
        NodeEnum::ExplainStmt(statement) => {
            not_with_selection(rules, "EXPLAIN")?;
            explain::judge(statement, text, rules.row_limit)
        }
        NodeEnum::VariableShowStmt(statement) => {
            not_with_selection(rules, "SHOW")?;
            show::judge(&statement.name).map(Candidate::show)
        }
        _ => Err(Refusal::one(not_a_read(text, rules))),
    }
}

fn only_statement<'a>(
    tree: &'a ParseResult,
    text: &Text<'_>,
    rules: &Rules,
) -> Result<&'a NodeEnum, Refusal> {
    let mut roots = tree.stmts.iter();
    let first = roots.next().and_then(|raw| raw.stmt.as_ref()).and_then(|node| node.node.as_ref());
    if let Some(second) = roots.next() {
        let message = format!("the text holds {} statements", tree.stmts.len());
        let help = "send one statement a call; join reads with WITH, UNION ALL or a join";
        let finding = Finding::new(Code::SeveralStatements, message, help);
        return Err(Refusal::one(finding.at(text.position(second.stmt_location))));
    }
    first.ok_or_else(|| Refusal::one(not_a_read_as("the text", rules)))
}

fn refuse_any(findings: Vec<Finding>) -> Result<(), Refusal> {
    Refusal::all(findings).map_or(Ok(()), Err)
}

fn not_a_read(text: &Text<'_>, rules: &Rules) -> Finding {
    let verb = text.words().next().map_or_else(String::new, |word| word.text.to_uppercase());
    not_a_read_as(&format!("`{verb}`"), rules)
}

fn not_a_read_as(what: &str, rules: &Rules) -> Finding {
    let help = match rules.selection {
        Selection::Everything => {
            "only SELECT, WITH, VALUES, TABLE, EXPLAIN of one of these, and SHOW run here; nothing can be written"
        }
        Selection::Only(_) => {
            "only SELECT, WITH, VALUES and TABLE run here, over the selected tables and views"
        }
    };
    Finding::new(Code::NotARead, format!("{what} is not a statement that only reads"), help)
}

fn not_with_selection(rules: &Rules, verb: &str) -> Result<(), Refusal> {
    match rules.selection {
        Selection::Everything => Ok(()),
        Selection::Only(_) => {
            let message = format!("`{verb}` would show more than the selected tables and views");
            let help =
                "this node runs only SELECT, WITH, VALUES and TABLE over the selected tables and views";
            Err(Refusal::one(Finding::new(Code::NotWithSelection, message, help)))
        }
    }
}
