//! What a saved statement must be, whatever its parameters: one SELECT or WITH, no semicolon, a literal LIMIT, no
//! parameter in any LIMIT or OFFSET. Whether it reads only what it may is the guard's to say.

use pg_query::protobuf::Token;

use crate::problem::Problem;
use crate::scan::{Scan, Word};

/// The LIMIT that is offered where none stands.
const OFFERED_LIMIT: u32 = 100;

/// Numbers from here stand for parameters in a text whose grammar is looked at, and are found again in its error.
const BARE_NUMBERS: u32 = 2_000_000_000;

/// The statement with what the rules ask for and a machine can do: semicolons at the end removed, `LIMIT 100` added
/// where no LIMIT stands at the top level. Text that cannot be read comes back as it is.
pub fn tidy(sql: &str) -> String {
    let Ok(scan) = Scan::read(sql) else { return sql.to_owned() };
    let kept = scan.words().iter().rposition(|word| word.kind != Token::Ascii59).map_or(0, |last| last + 1);
    let semicolons = scan.words().get(kept..).unwrap_or_default();
    let mut tidy = String::with_capacity(sql.len());
    let mut copied = 0;
    for semicolon in semicolons {
        tidy.push_str(sql.get(copied..semicolon.start).unwrap_or_default());
        copied = semicolon.end;
    }
    tidy.push_str(sql.get(copied..).unwrap_or_default());
    let limited = format!("{}\nLIMIT {OFFERED_LIMIT}", tidy.trim_end());
    // In a text with an open bracket the new LIMIT would not stand at the top.
    let helps = || Scan::read(&limited).is_ok_and(|scan| top_limit(scan.words()).literal().is_ok());
    let missing = kept > 0 && matches!(top_limit(scan.words()), Limit::Missing);
    if missing && helps() { limited } else { tidy }
}

/// The literal of the top-level LIMIT; every rule that the statement breaks goes to `problems`.
pub(crate) fn check(scan: &Scan<'_>, problems: &mut Vec<Problem>) -> Option<u64> {
    let limit = top_limit(scan.words()).literal();
    let broken = [first_word(scan), semicolon(scan), limit.as_ref().err().cloned()].into_iter().flatten();
    problems.extend(broken.chain(parameters_in_limits(scan)).map(|message| Problem::new("sql", message)));
    limit.ok()
}

/// Whether PostgreSQL's grammar takes the compiled text, and takes it for what was saved: the parenthesis that stands
/// for a parameter must not merge with the word before it (`date (…)` is a call), so the text must be right with a bare
/// number there too, which merges with nothing.
pub(crate) fn check_grammar(scan: &Scan<'_>, names: &[&str], compiled: &str) -> Option<Problem> {
    // pg_query makes a slice of a null pointer where there is no statement at all.
    if scan.words().iter().all(|word| word.kind == Token::Ascii59) {
        return None;
    }
    let stand_ins: Vec<(&str, String)> =
        names.iter().copied().zip((BARE_NUMBERS..).map(|n| n.to_string())).collect();
    let bare = scan.replace(|mark| {
        let stand_in = stand_ins.iter().find(|(name, _)| *name == mark.name);
        stand_in.map_or_else(String::new, |(_, number)| format!(" {number} "))
    });
    let message = grammar_error(&bare).or_else(|| grammar_error(compiled))?;
    let message = stand_ins.iter().fold(message, |message, (name, number)| {
        message.replace(&format!("\"{number}\""), &format!("`:{name}`"))
    });
    Some(Problem::new("sql", format!("{message}; a parameter `:name` stands for one value, nothing else")))
}

/// Looking whether statements are utilities parses them, and builds no tree that a deep text could overflow.
fn grammar_error(sql: &str) -> Option<String> {
    let message = match pg_query::is_utility_stmt(sql) {
        Ok(_) => return None,
        Err(pg_query::Error::IsUtility(message)) => message,
        Err(error) => error.to_string(),
    };
    Some(message.replace(['\n', '\r'], " "))
}

fn first_word(scan: &Scan<'_>) -> Option<String> {
    let first = scan.words().iter().find(|word| word.kind != Token::Ascii40);
    match first.map(|word| word.kind) {
        Some(Token::Select | Token::With) => None,
        _ => Some("a pin is one statement that begins with SELECT or WITH".to_owned()),
    }
}

fn semicolon(scan: &Scan<'_>) -> Option<String> {
    let is_semicolon = |word: &&Word<'_>| word.kind == Token::Ascii59;
    let first = scan.words().iter().find(is_semicolon)?;
    let at = scan.character(first.start);
    let trailing =
        scan.words().iter().skip_while(|word| word.start < first.start).all(|word| is_semicolon(&word));
    Some(if trailing {
        format!("a semicolon stands at character {at}; remove it")
    } else {
        format!("a semicolon at character {at} ends the statement; a pin is one statement")
    })
}

/// What a top-level LIMIT says.
enum Limit {
    Missing,
    Literal(u64),
    NotLiteral,
    WithTies,
}

impl Limit {
    fn literal(self) -> Result<u64, String> {
        match self {
            Self::Literal(rows) => Ok(rows),
            Self::Missing => Err(format!("no LIMIT stands at the top level; add `LIMIT {OFFERED_LIMIT}`")),
            Self::NotLiteral => Err(format!(
                "the top-level LIMIT is no literal whole number; write one, as in `LIMIT {OFFERED_LIMIT}`"
            )),
            Self::WithTies => {
                Err("WITH TIES returns more rows than its count; rank in a subquery and write LIMIT"
                    .to_owned())
            }
        }
    }
}

fn top_limit(words: &[Word<'_>]) -> Limit {
    let mut depth = 0_usize;
    for (index, word) in words.iter().enumerate() {
        match word.kind {
            Token::Ascii40 | Token::Ascii91 => depth += 1,
            Token::Ascii41 | Token::Ascii93 => depth = depth.saturating_sub(1),
            Token::Limit | Token::Fetch if depth == 0 && is_clause(words, index) => {
                let rest = words.get(index + 1..).unwrap_or_default();
                return if word.kind == Token::Limit { limit_count(rest) } else { fetch_count(rest) };
            }
            _ => {}
        }
    }
    Limit::Missing
}

fn limit_count(rest: &[Word<'_>]) -> Limit {
    let ends =
        rest.get(1).is_none_or(|word| matches!(word.kind, Token::Offset | Token::For | Token::Ascii59));
    match rest.first().and_then(whole_number) {
        Some(rows) if ends => Limit::Literal(rows),
        _ => Limit::NotLiteral,
    }
}

/// `FETCH FIRST [n] ROWS ONLY`, the standard's way to write it.
fn fetch_count(rest: &[Word<'_>]) -> Limit {
    let kinds: Vec<Token> = rest.iter().take(5).map(|word| word.kind).collect();
    let (count, end) = match kinds.as_slice() {
        [_, Token::Row | Token::Rows, end @ ..] => (Some(1), end),
        [_, _, Token::Row | Token::Rows, end @ ..] => (rest.get(1).and_then(whole_number), end),
        _ => return Limit::NotLiteral,
    };
    match (count, end) {
        (_, [Token::With, ..]) => Limit::WithTies,
        (Some(rows), [Token::Only, ..]) => Limit::Literal(rows),
        _ => Limit::NotLiteral,
    }
}

fn whole_number(word: &Word<'_>) -> Option<u64> {
    // A number past 32 bits is an FCONST to the lexer.
    let number = matches!(word.kind, Token::Iconst | Token::Fconst);
    word.text.parse().ok().filter(|rows| number && i64::try_from(*rows).is_ok())
}

/// Parameters between a LIMIT, OFFSET or FETCH and the bracket that closes around it: nothing but counts and row locks
/// can stand there.
fn parameters_in_limits(scan: &Scan<'_>) -> Vec<String> {
    let mut messages = Vec::new();
    let mut marks = scan.marks().iter().peekable();
    let mut open: Vec<Option<&str>> = vec![None];
    for (index, word) in scan.words().iter().enumerate() {
        if let Some(mark) = marks.next_if(|mark| mark.start == word.start)
            && let Some(clause) = open.last().copied().flatten()
        {
            let (name, at) = (mark.name, scan.character(mark.start));
            let message = format!(
                "`:{name}` at character {at} stands in {clause}; write a literal number there, or filter by a rank in WHERE"
            );
            messages.push(message);
        }
        let inherited = open.last().copied().flatten();
        match word.kind {
            Token::Ascii40 | Token::Ascii91 => open.push(inherited),
            Token::Ascii41 | Token::Ascii93 if open.len() > 1 => {
                open.pop();
            }
            Token::Limit | Token::Offset | Token::Fetch if is_clause(scan.words(), index) => {
                let clause = match word.kind {
                    Token::Limit => "LIMIT",
                    Token::Offset => "OFFSET",
                    _ => "FETCH FIRST",
                };
                open.pop();
                open.push(Some(clause));
            }
            _ => {}
        }
    }
    messages
}

/// LIMIT, OFFSET and FETCH are reserved: unquoted they are names only after AS, a dot or a parameter's colon.
fn is_clause(words: &[Word<'_>], index: usize) -> bool {
    let Some(before) = index.checked_sub(1).and_then(|before| words.get(before)) else { return true };
    let glued = words.get(index).is_some_and(|word| word.start == before.end);
    !(matches!(before.kind, Token::As | Token::Ascii46) || before.kind == Token::Ascii58 && glued)
}
