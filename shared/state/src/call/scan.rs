//! A careful scanner of SQL text, for taking literals out of it. It must also do on text that is no valid SQL, so where
//! two readings are possible it takes the one under which more is a literal.

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Blanks or a comment.
    Gap,
    /// A name without quotes, or a keyword.
    Word(&'a str),
    /// A name in double quotes or backticks, with them.
    Quoted(&'a str),
    /// `$1`.
    Parameter(&'a str),
    /// A string or a number.
    Literal,
    /// Something that can hold a password or a key: a URL, a key of this server.
    Secret,
    /// Any other character.
    Sign(char),
    /// All that follows: it cannot be told where a literal ends.
    Rest,
}

/// Walks over a text.
pub(super) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Skips a word that may hold any sign, as passwords do.
    pub(super) fn skip_word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| c.is_whitespace() || c == ';' || c == ',' || c == ')');
        self.take(end.unwrap_or(self.rest.len()))
    }

    /// Splits off so many bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !holds(c));
        self.take(end.unwrap_or(self.rest.len()))
    }

    fn comment(&mut self) -> Token<'a> {
        if self.rest.starts_with("--") {
            self.take_while(|c| c != '\n' && c != '\r');
            return Token::Gap;
        }
        let mut depth = 0_usize;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.take(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.take(2);
                if depth == 0 {
                    break;
                }
            } else {
                self.step();
            }
        }
        Token::Gap
    }

    fn step(&mut self) {
        let width = self.rest.chars().next().map_or(0, char::len_utf8);
        self.take(width);
    }

    /// A quoted piece whose quote doubles to stand for itself. A backslash before a quote ends it or not, depending on
    /// whose SQL it is: in PostgreSQL's own plain strings it does, in its `E''` and elsewhere it does not.
    fn quoted(&mut self, quote: char, backslash: Backslash) -> Option<&'a str> {
        let whole = self.rest;
        self.step();
        loop {
            let plain = self.take_while(|c| c != quote && c != '\\');
            let slashes = self.take_while(|c| c == '\\').len();
            if !self.rest.starts_with(quote) {
                if plain.is_empty() && slashes == 0 {
                    return None;
                }
                continue;
            }
            self.step();
            match (slashes % 2 == 1, backslash) {
                (true, Backslash::Escapes) => continue,
                (true, Backslash::MayEscape) => return None,
                (false, _) => {}
            }
            if !self.rest.starts_with(quote) {
                return whole.get(..whole.len() - self.rest.len());
            }
            self.step();
        }
    }

    fn literal(&mut self, quote: char, backslash: Backslash) -> Token<'a> {
        self.quoted(quote, backslash).map_or(Token::Rest, |_| Token::Literal)
    }

    fn dollar(&mut self) -> Token<'a> {
        let after = self.rest.get(1..).unwrap_or_default();
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        if digits > 0 {
            return Token::Parameter(self.take(1 + digits));
        }
        let tag = after.find(|c: char| !is_word(c) || c == '$').unwrap_or(after.len());
        if !after.get(tag..).unwrap_or_default().starts_with('$') {
            self.take(1);
            return Token::Sign('$');
        }
        let tag = self.take(tag + 2);
        match self.rest.find(tag) {
            Some(end) => {
                self.take(end + tag.len());
                Token::Literal
            }
            None => Token::Rest,
        }
    }

    fn number(&mut self) -> Token<'a> {
        let mut last = ' ';
        let end = self.rest.find(|c: char| {
            let exponent = matches!(last, 'e' | 'E') && (c == '+' || c == '-');
            last = c;
            !(is_word(c) || c == '.' || exponent)
        });
        self.take(end.unwrap_or(self.rest.len()));
        Token::Literal
    }

    fn word(&mut self) -> Token<'a> {
        let word = self.take_while(is_word);
        let prefix = word.chars().next().filter(|_| word.len() == 1).map(|c| c.to_ascii_lowercase());
        match (prefix, self.rest.as_bytes()) {
            (Some('e'), [b'\'', ..]) => self.literal('\'', Backslash::Escapes),
            (Some('b' | 'x' | 'n'), [b'\'', ..]) => self.literal('\'', Backslash::MayEscape),
            (Some('u'), [b'&', b'\'', ..]) => {
                self.take(1);
                self.literal('\'', Backslash::MayEscape)
            }
            (_, [b':', b'/', b'/', ..]) => {
                self.take_while(|c| !c.is_whitespace());
                Token::Secret
            }
            _ if word.starts_with("pgk_") => {
                self.take_while(|c| is_word(c) || c == '-');
                Token::Secret
            }
            _ => Token::Word(word),
        }
    }
}

/// What a backslash before a quote does.
#[derive(Clone, Copy)]
enum Backslash {
    Escapes,
    MayEscape,
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let mut ahead = self.rest.chars();
        let (first, second) = (ahead.next()?, ahead.next().unwrap_or(' '));
        Some(match first {
            _ if first.is_whitespace() => {
                self.take_while(char::is_whitespace);
                Token::Gap
            }
            '-' if second == '-' => self.comment(),
            '/' if second == '*' => self.comment(),
            '\'' => self.literal('\'', Backslash::MayEscape),
            '"' | '`' => self.quoted(first, Backslash::MayEscape).map_or(Token::Rest, Token::Quoted),
            // What word processors and chats make of quotes. Which one closes is anybody's guess.
            _ if is_curly_quote(first) => {
                self.step();
                match self.rest.find(is_curly_quote) {
                    Some(end) => {
                        self.take(end);
                        self.step();
                        Token::Literal
                    }
                    None => Token::Rest,
                }
            }
            '$' => self.dollar(),
            '.' if second.is_numeric() => self.number(),
            _ if first.is_numeric() => self.number(),
            _ if is_word(first) => self.word(),
            _ => {
                self.step();
                Token::Sign(first)
            }
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || (!c.is_ascii() && !c.is_whitespace() && !is_curly_quote(c))
}

fn is_curly_quote(c: char) -> bool {
    matches!(c, '\u{2018}'..='\u{201f}' | '«' | '»' | '‹' | '›')
}
