//! PostgreSQL's own grammar, on a stack that holds whatever `text` lets through.

use pg_query::ParserOptions;
use pg_query::protobuf::{ParseResult, Token};
use serde_json::Value;

use crate::text::{self, Text, Word};
use crate::verdict::{Code, Finding, Refusal};

/// Trees up to this depth fit the two megabytes that any thread has.
const SHALLOW: usize = 60;

/// Stack for the deepest text that `text` lets through: eight times what the deepest needs unoptimised. Reserved, not
/// used: pages are touched as a tree needs them. The parser's own C code ends at 2 MiB of it with an error.
const DEEP_STACK_BYTES: usize = 128 * 1024 * 1024;

/// Parses a text and looks at its tree; the tree is dropped on the stack that built it.
pub(crate) fn with_tree<T: Send>(
    text: &Text<'_>,
    look: impl FnOnce(&ParseResult) -> Result<T, Refusal> + Send,
) -> Result<T, Refusal> {
    let body = text.body().sql;
    let job = || match pg_query::parse(body, ParserOptions::DEFAULT) {
        Ok(parsed) => look(&parsed.protobuf),
        Err(error) => Err(syntax_error(text, &error)),
    };
    if text.tree_depth() <= SHALLOW { job() } else { on_deep_stack(job) }
}

/// The longest body of a function that is looked at, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Parses a function's body and looks at its tree; none where it cannot be parsed, or nests too deep.
pub(crate) fn body<T: Send>(
    source: &str,
    mode: ParserOptions,
    look: impl FnOnce(&Value) -> T + Send,
) -> Option<T> {
    if source.len() > MAX_BODY_BYTES {
        return None;
    }
    let depth = text::depth(source)?;
    let job = || {
        let parsed = pg_query::parse(source, mode).ok()?;
        serde_json::to_value(&parsed.protobuf.stmts).ok().map(|tree| look(&tree))
    };
    if depth <= SHALLOW { job() } else { on_deep_stack(|| job().ok_or_else(too_deep)).ok() }
}

/// Parses a PL/pgSQL function. Its blocks nest as its text likes, and nothing tells beforehand how deep.
pub(crate) fn plpgsql(declaration: &str) -> Option<Value> {
    if declaration.len() > MAX_BODY_BYTES {
        return None;
    }
    on_deep_stack(|| pg_query::parse_plpgsql(declaration).map_err(|_| too_deep())).ok()
}

fn on_deep_stack<T: Send>(job: impl FnOnce() -> Result<T, Refusal> + Send) -> Result<T, Refusal> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES).spawn_scoped(scope, job);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) | Err(_) => Err(too_deep()),
        }
    })
}

fn too_deep() -> Refusal {
    let message = "the statement could not be parsed within the memory of this function";
    Refusal::one(Finding::new(Code::TooDeep, message, "send a simpler statement"))
}

fn syntax_error(text: &Text<'_>, error: &pg_query::Error) -> Refusal {
    let pg_query::Error::Parse(message) = error else {
        return too_deep();
    };
    if message.contains("stack depth") {
        return too_deep();
    }
    let words: Vec<Word<'_>> = text.words().collect();
    let offending = if message.ends_with("at end of input") { None } else { offending_word(text, &words) };
    let help = syntax_help(&words, offending);
    let position =
        offending.and_then(|index| words.get(index)).map(|word| text.part(word.start).skipped_chars + 1);
    Refusal::one(Finding::new(Code::SyntaxError, message, help).at(position))
}

/// The parser gives no position, but it stops at the first word that cannot follow: the shortest run of words that
/// fails otherwise than at its end.
fn offending_word(text: &Text<'_>, words: &[Word<'_>]) -> Option<usize> {
    let fails = |count: usize| {
        let run = text.up_to(words.get(count)?.end);
        match pg_query::parse(run, ParserOptions::DEFAULT) {
            Err(pg_query::Error::Parse(message)) => Some(!message.ends_with("at end of input")),
            _ => Some(false),
        }
    };
    let (mut low, mut high) = (0, words.len().checked_sub(1)?);
    while low < high {
        let middle = low.midpoint(high);
        if fails(middle)? { high = middle } else { low = middle + 1 }
    }
    fails(low)?.then_some(low)
}

/// The slips that agents make most.
fn syntax_help(words: &[Word<'_>], offending: Option<usize>) -> &'static str {
    let kinds: Vec<Token> = words.iter().map(|word| word.kind).collect();
    let at = offending.and_then(|index| kinds.get(index)).copied();
    let before = offending.and_then(|index| kinds.get(..index)).unwrap_or(&kinds);
    match at {
        Some(Token::Union | Token::Intersect | Token::Except)
            if before.iter().any(|kind| matches!(kind, Token::Order | Token::Limit)) =>
        {
            "a branch of UNION, INTERSECT or EXCEPT with its own ORDER BY or LIMIT stands in parentheses"
        }
        None => "the text ends before the statement does; if it was cut off, send one shorter statement",
        _ => "check the word at the position given; the grammar is PostgreSQL 18's",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parses(source: &str) -> bool {
        body(source, ParserOptions::DEFAULT, |_| ()).is_some()
    }

    #[test]
    fn a_deep_body_is_parsed_and_a_much_deeper_one_is_not() {
        assert!(parses(&format!("SELECT {}1", "i+".repeat(400))));
        assert!(!parses(&format!("SELECT {}1", "i+".repeat(20_000))));
        assert!(parses(&format!("SELECT {}1{}", "(".repeat(900), ")".repeat(900))));
        assert!(!parses(&format!("SELECT {}1{}", "(".repeat(30_000), ")".repeat(30_000))));
    }

    #[test]
    fn a_body_without_words_or_too_long_is_not_parsed() {
        assert!(!parses(" \n\t"));
        assert!(!parses("SELECT '"));
        assert!(parses("SELECT 1; SELECT 2"));
        assert!(!parses(&format!("SELECT {}1", "1,".repeat(MAX_BODY_BYTES / 2))));
    }

    #[test]
    fn nested_blocks_end_without_an_overflow() {
        let nested = |count| format!("{}{}", "BEGIN ".repeat(count), "END; ".repeat(count));
        let declaration =
            |count| format!("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $${}$$", nested(count));
        assert!(plpgsql(&declaration(10)).is_some());
        assert!(plpgsql(&declaration(5_500)).is_none());
    }
}
