//! The caller's text before any grammar sees it: what it may hold, and how deep it may go.

use pg_query::protobuf::{ScanToken, Token};

use crate::admitted::Part;
use crate::verdict::{Code, Finding, Refusal};

/// The longest text that is looked at, in bytes. The longest of 2,717 real statements has 16 KiB.
pub const MAX_TEXT_BYTES: usize = 256 * 1024;

/// How deep the tree of a text can be, by [`depth`]. Real statements stay under 400; PostgreSQL itself gives up at
/// about 7,000 with its default stack.
const MAX_DEPTH: usize = 4_000;

/// Joins in one text. Each repeats the columns of all before it in the tree that PostgreSQL prints: 600 joins of a table of
/// ten columns print 300 MB. Real statements stay under 40.
const MAX_JOINS: usize = 150;

/// A text that the parser may see, cut to the part between leading and trailing semicolons.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    whole: &'a str,
    start: usize,
    end: usize,
    tokens: Vec<ScanToken>,
    depth: usize,
}

impl<'a> Text<'a> {
    pub(crate) fn read(whole: &'a str) -> Result<Self, Refusal> {
        if whole.len() > MAX_TEXT_BYTES {
            let message = format!("the statement has {} bytes, more than {MAX_TEXT_BYTES}", whole.len());
            let help = "send a shorter statement; bind long values as parameters";
            return Err(Refusal::one(Finding::new(Code::TextTooLong, message, help)));
        }
        if let Some(at) = whole.find('\0') {
            let finding =
                Finding::new(Code::NulCharacter, "the statement holds a NUL character", "leave it out");
            return Err(Refusal::one(finding.at(Some(chars_before(whole, at) + 1))));
        }
        // The scanner's binding reads through a null pointer where there is no token at all.
        if is_blank(whole) {
            return Err(no_statement());
        }
        let tokens = pg_query::scan_tokens(whole).map_err(|error| scan_error(&error.to_string()))?;
        let mut text = Self { whole, start: 0, end: whole.len(), tokens, depth: 0 };
        text.look_for_invisible_characters()?;
        text.depth = depth_of(&text.tokens);
        if text.depth > MAX_DEPTH {
            let message = "the statement nests or chains too deep";
            let help = "write long chains of operators as a list: `IN (…)`, `VALUES (…)`, an array or a join";
            return Err(Refusal::one(Finding::new(Code::TooDeep, message, help)));
        }
        if text.tokens.iter().filter(|token| token.token() == Token::Join).count() > MAX_JOINS {
            let message = format!("the statement has more than {MAX_JOINS} joins");
            let help = "join fewer tables in one statement";
            return Err(Refusal::one(Finding::new(Code::TooDeep, message, help)));
        }
        text.cut_semicolons();
        if text.start >= text.end {
            return Err(no_statement());
        }
        Ok(text)
    }

    /// What runs of it: without the semicolons around it, with its comments.
    pub(crate) fn body(&self) -> Part<'a> {
        self.part(self.start)
    }

    /// From this byte of the whole text to the end of the body.
    pub(crate) fn part(&self, start: usize) -> Part<'a> {
        let sql = self.whole.get(start..self.end).unwrap_or_default();
        Part { sql, skipped_chars: chars_before(self.whole, start) }
    }

    /// The body up to a byte of the whole text.
    pub(crate) fn up_to(&self, end: usize) -> &'a str {
        self.whole.get(self.start..end).unwrap_or_default()
    }

    /// An upper bound of the depth of the text's parse tree.
    pub(crate) fn tree_depth(&self) -> usize {
        self.depth
    }

    /// Tokens of the body that are not comments.
    pub(crate) fn words(&self) -> impl Iterator<Item = Word<'a>> {
        self.tokens.iter().filter_map(|token| {
            let (start, end) = (usize::try_from(token.start).ok()?, usize::try_from(token.end).ok()?);
            let text = self.whole.get(start..end)?;
            let inside = start >= self.start && end <= self.end;
            (inside && !is_comment(token)).then_some(Word { text, kind: token.token(), start, end })
        })
    }

    /// The character, from 1, at a byte of the body, as the parser counts them.
    pub(crate) fn position(&self, body_byte: i32) -> Option<usize> {
        let byte = self.start.checked_add(usize::try_from(body_byte).ok()?)?;
        Some(chars_before(self.whole, byte) + 1)
    }

    fn look_for_invisible_characters(&self) -> Result<(), Refusal> {
        for word in self.words().filter(|word| word.kind == Token::Ident && !word.text.starts_with('"')) {
            if let Some((at, found)) = word.text.char_indices().find(|(_, c)| shows_nothing(*c)) {
                let message = format!(
                    "a character that shows nothing, U+{:04X}, stands in the statement",
                    u32::from(found)
                );
                let help = "leave it out, or put the name in double quotes if it belongs to it";
                let position = chars_before(self.whole, word.start + at) + 1;
                let finding = Finding::new(Code::InvisibleCharacter, message, help).at(Some(position));
                return Err(Refusal::one(finding));
            }
        }
        Ok(())
    }

    fn cut_semicolons(&mut self) {
        let passable = |token: &&ScanToken| is_semicolon(token) || is_comment(token);
        let leading = self.tokens.iter().take_while(passable).filter(|token| is_semicolon(token)).last();
        let trailing =
            self.tokens.iter().rev().take_while(passable).filter(|token| is_semicolon(token)).last();
        let start = leading.and_then(|token| usize::try_from(token.end).ok());
        let end = trailing.and_then(|token| usize::try_from(token.start).ok());
        let nothing = self.tokens.iter().all(|token| passable(&token));
        self.start = start.unwrap_or(0);
        self.end = if nothing { self.start } else { end.unwrap_or(self.whole.len()) };
    }
}

/// How deep the tree of a text is at most; none where it is deeper than any parser should follow, or has no words.
pub(crate) fn depth(text: &str) -> Option<usize> {
    if text.contains('\0') || is_blank(text) {
        return None;
    }
    Some(depth_of(&pg_query::scan_tokens(text).ok()?)).filter(|depth| *depth <= MAX_DEPTH)
}

/// The tree cannot be deeper than the tokens since the last separator, summed over what is open, plus the joins and set
/// operations, which chain across separators.
fn depth_of(tokens: &[ScanToken]) -> usize {
    let (mut deepest, mut chained) = (0, 0);
    let mut levels: Vec<(Opened, usize)> = Vec::new();
    let (mut outer, mut level) = (0_usize, 0_usize);
    let mut before = Token::Nul;
    for token in tokens {
        let closes = match (token.token(), levels.last()) {
            (Token::SqlComment | Token::CComment, _) => continue,
            (Token::Ascii41 | Token::Ascii93, _) => true,
            // A column may be called `end`: behind a dot, or where no CASE waits for its end.
            (Token::EndP, Some((Opened::Case, _))) => before != Token::Ascii46,
            _ => false,
        };
        before = token.token();
        match before {
            _ if closes => {
                level = levels.pop().map_or(level, |(_, level)| level);
                outer -= level.min(outer);
            }
            Token::Ascii40 | Token::Ascii91 | Token::Case => {
                let opened = if before == Token::Case { Opened::Case } else { Opened::Bracket };
                levels.push((opened, level + 1));
                outer += level + 1;
                level = 0;
            }
            // A comma, AND and OR make lists, not chains; so does a semicolon.
            Token::Ascii44 | Token::Ascii59 | Token::And | Token::Or => level = 0,
            Token::Join | Token::Union | Token::Intersect | Token::Except => {
                chained += 1;
                level += 1;
            }
            _ => level += 1,
        }
        deepest = deepest.max(outer + level + chained);
    }
    deepest
}

/// What is open in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opened {
    /// `(` or `[`, up to `)` or `]`.
    Bracket,
    /// `CASE`, up to `END`.
    Case,
}

/// One token of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: Token,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C))
}

fn is_semicolon(token: &ScanToken) -> bool {
    token.token() == Token::Ascii59
}

fn is_comment(token: &ScanToken) -> bool {
    matches!(token.token(), Token::SqlComment | Token::CComment)
}

fn chars_before(text: &str, byte: usize) -> usize {
    text.get(..byte).map_or(0, |before| before.chars().count())
}

fn no_statement() -> Refusal {
    let help = "send one SELECT, WITH, VALUES or TABLE statement in `sql`";
    Refusal::one(Finding::new(Code::EmptyStatement, "the text holds no statement", help))
}

fn scan_error(message: &str) -> Refusal {
    let message = message.strip_prefix("Error scanning: ").unwrap_or(message);
    let help = "close every quote, comment and dollar quote; send one complete statement";
    Refusal::one(Finding::new(Code::SyntaxError, message, help))
}

/// Unicode's default-ignorable and format characters, its blanks, and the C1 controls: PostgreSQL takes them as
/// letters of a name, people do not see them.
fn shows_nothing(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{A0}' | '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{1680}'
        | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{2000}'..='\u{200F}' | '\u{2028}'..='\u{202F}'
        | '\u{205F}'..='\u{206F}' | '\u{3000}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}
