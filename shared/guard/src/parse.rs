//! PostgreSQL's own grammar, on a stack that holds whatever `text` lets through.

use pg_query::protobuf::{ParseResult, Token};

use crate::text::{Text, Word};
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
    let job = || match pg_query::parse(body, pg_query::ParserOptions::DEFAULT) {
        Ok(parsed) => look(&parsed.protobuf),
        Err(error) => Err(syntax_error(text, &error)),
    };
    if text.tree_depth() <= SHALLOW { job() } else { on_deep_stack(job) }
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
        match pg_query::parse(run, pg_query::ParserOptions::DEFAULT) {
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
