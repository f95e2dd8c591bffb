//! The reader: a label, then exactly one value. A label is known by where it stands and never by how it looks, for a name
//! that begins with a colon is printed like one.

use super::spec::{self, NodeSpec, Nodes};
use super::{FieldRecord, ListId, NodeId, NodeRecord, Tree, Value};
use crate::facts::Major;

/// The longest text that is read: the tree of a join of 40 tables has 1.1 MB.
const MAX_BYTES: usize = 32 << 20;

/// Why a text is not a tree that may be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReadError {
    /// Too long.
    #[error("the tree has {0} bytes")]
    TooLong(usize),
    /// A node that may not stand in a tree of this major.
    #[error("node {{{0}")]
    UnknownNode(String),
    /// A field that this major does not print.
    #[error("field :{field} of {node}")]
    UnknownField {
        /// The node's struct.
        node: &'static str,
        /// The label.
        field: String,
    },
    /// Anything else.
    #[error("the text of the tree, at byte {0}")]
    Malformed(usize),
}

/// Reads one tree; nothing but blanks may follow it.
pub(crate) fn read(text: &str, major: Major) -> Result<Tree<'_>, ReadError> {
    if text.len() > MAX_BYTES {
        return Err(ReadError::TooLong(text.len()));
    }
    // A field takes about twenty bytes of the text. What lies beyond a small statement finds its room by and by.
    let expected = (text.len() / 20).min(4_000);
    let mut reader = Reader {
        lexer: Lexer { text, at: 0 },
        nodes: spec::nodes(major).ok_or_else(|| ReadError::UnknownNode(String::new()))?,
        tree: Tree {
            nodes: Vec::with_capacity(expected / 4),
            fields: Vec::with_capacity(expected),
            items: Vec::with_capacity(expected / 4),
        },
        open: Vec::new(),
        fields: Vec::new(),
        items: Vec::new(),
    };
    reader.run()?;
    Ok(reader.tree)
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    nodes: &'static Nodes,
    tree: Tree<'t>,
    open: Vec<Frame>,
    /// Fields and items of what is open; each frame knows where its own begin.
    fields: Vec<FieldRecord<'t>>,
    items: Vec<Value<'t>>,
}

/// Something that has begun and not ended.
enum Frame {
    Node { spec: &'static NodeSpec, fields: usize, next: usize },
    List { items: usize },
}

impl<'t> Reader<'t> {
    fn run(&mut self) -> Result<(), ReadError> {
        loop {
            let value = match self.lexer.next()? {
                Lexeme::OpenNode => {
                    self.begin_node()?;
                    continue;
                }
                Lexeme::OpenList => {
                    self.begin_list();
                    continue;
                }
                Lexeme::CloseNode => self.end_node()?,
                Lexeme::CloseList => self.end_list()?,
                Lexeme::Word(word) => self.word(word)?,
                Lexeme::End => return Err(self.malformed()),
            };
            match self.open.last() {
                Some(Frame::Node { .. }) => self.take_field(value)?,
                Some(Frame::List { .. }) => self.items.push(value),
                None => return self.ended(value),
            }
        }
    }

    fn begin_node(&mut self) -> Result<(), ReadError> {
        let Lexeme::Word(tag) = self.lexer.next()? else { return Err(self.malformed()) };
        let spec = self.nodes.get(tag).ok_or_else(|| ReadError::UnknownNode(shown(tag)))?;
        self.open.push(Frame::Node { spec, fields: self.fields.len(), next: 0 });
        self.label()
    }

    /// Reads the next label, or leaves the node's end to be read. The field waits for its value.
    fn label(&mut self) -> Result<(), ReadError> {
        let Some(Frame::Node { spec, next, .. }) = self.open.last_mut() else { return Err(self.malformed()) };
        if self.lexer.peek() == Some(b'}') {
            return Ok(());
        }
        let field = match spec.at(*next) {
            // Nearly always it is the one that is printed next, which is seen without looking for its end.
            Some(field) if self.lexer.skip_label(field.name) => {
                *next += 1;
                field
            }
            _ => {
                let Lexeme::Word(word) = self.lexer.next()? else { return Err(self.malformed()) };
                let name = word.strip_prefix(':').ok_or(ReadError::Malformed(self.lexer.at))?;
                let (place, field) = spec
                    .field(name)
                    .ok_or_else(|| ReadError::UnknownField { node: spec.kind.name(), field: shown(name) })?;
                *next = place + 1;
                field
            }
        };
        self.fields.push(FieldRecord { name: field.name, role: field.role, value: Value::Null });
        // A node's end in the place of a value would leave the label without one.
        if self.lexer.peek() == Some(b'}') { Err(self.malformed()) } else { Ok(()) }
    }

    fn take_field(&mut self, value: Value<'t>) -> Result<(), ReadError> {
        let Some(field) = self.fields.last_mut() else { return Err(self.malformed()) };
        field.value = value;
        self.label()
    }

    fn end_node(&mut self) -> Result<Value<'t>, ReadError> {
        let Some(Frame::Node { spec, fields, next: _ }) = self.open.pop() else {
            return Err(self.malformed());
        };
        let start = self.tree.fields.len();
        self.tree.fields.extend(self.fields.drain(fields..));
        self.tree.nodes.push(NodeRecord { kind: spec.kind, fields: start..self.tree.fields.len() });
        Ok(Value::Node(NodeId(self.tree.nodes.len() - 1)))
    }

    fn begin_list(&mut self) {
        // The letter says what the numbers are; the fields' roles say so too.
        self.lexer.skip_list_letter();
        self.open.push(Frame::List { items: self.items.len() });
    }

    fn end_list(&mut self) -> Result<Value<'t>, ReadError> {
        let Some(Frame::List { items }) = self.open.pop() else { return Err(self.malformed()) };
        let start = self.tree.items.len();
        self.tree.items.extend(self.items.drain(items..));
        Ok(Value::List(ListId { start, end: self.tree.items.len() }))
    }

    fn word(&mut self, word: &'t str) -> Result<Value<'t>, ReadError> {
        // The one value of two parts: a constant's length, then its bytes in brackets.
        if self.waiting_for("constvalue") && word != "<>" {
            return self.lexer.bytes().map(Value::Bytes).ok_or_else(|| self.malformed());
        }
        Ok(if word == "<>" { Value::Null } else { Value::Token(word) })
    }

    fn waiting_for(&self, name: &str) -> bool {
        matches!(self.open.last(), Some(Frame::Node { .. }))
            && self.fields.last().is_some_and(|field| field.name == name)
    }

    /// A tree is a node, or a list of nodes as in a view's rule.
    fn ended(&mut self, value: Value<'t>) -> Result<(), ReadError> {
        match (value, self.lexer.next()?) {
            (Value::Node(_) | Value::List(_), Lexeme::End) => Ok(()),
            _ => Err(self.malformed()),
        }
    }

    fn malformed(&self) -> ReadError {
        ReadError::Malformed(self.lexer.at)
    }
}

enum Lexeme<'t> {
    OpenNode,
    CloseNode,
    OpenList,
    CloseList,
    Word(&'t str),
    End,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<Lexeme<'t>, ReadError> {
        let Some(byte) = self.peek() else { return Ok(Lexeme::End) };
        let lexeme = match byte {
            b'{' => Lexeme::OpenNode,
            b'}' => Lexeme::CloseNode,
            b'(' => Lexeme::OpenList,
            b')' => Lexeme::CloseList,
            _ => return self.word().map(Lexeme::Word).ok_or(ReadError::Malformed(self.at)),
        };
        self.at += 1;
        Ok(lexeme)
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
        self.at += blanks;
        rest.get(blanks).copied()
    }

    /// A word: everything up to a blank or bracket. A backslash takes the next character with it. Quotes mean nothing here, for
    /// those inside a name are printed as they are: PostgreSQL's own reader does not look at them either.
    fn word(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            at += end_of_word(rest).unwrap_or(rest.len());
            match bytes.get(at) {
                Some(b'\\') => at += 2,
                Some(_) | None => break,
            }
        }
        let word = self.text.get(self.at..at);
        self.at = at;
        word
    }

    /// Goes past a label if it comes next and a blank ends it.
    fn skip_label(&mut self, name: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).and_then(|rest| rest.strip_prefix(b":"));
        let after = rest.and_then(|rest| rest.strip_prefix(name.as_bytes())).and_then(<[u8]>::first);
        let comes = after.is_some_and(|byte| is_blank(*byte));
        if comes {
            self.at += 1 + name.len();
        }
        comes
    }

    fn skip_list_letter(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if let [b'i' | b'o' | b'b' | b'x', after, ..] = rest
            && (is_blank(*after) || *after == b')')
        {
            self.at += 1;
        }
    }

    /// `[ 1 0 -12 ]`, without the brackets.
    fn bytes(&mut self) -> Option<&'t str> {
        if self.peek() != Some(b'[') {
            return None;
        }
        let rest = self.text.get(self.at + 1..)?;
        let (inside, _) = rest.split_once(']')?;
        let plain = |byte: u8| byte.is_ascii_digit() || byte == b'-' || is_blank(byte);
        if !inside.bytes().all(plain) {
            return None;
        }
        self.at += 1 + inside.len() + 1;
        Some(inside)
    }
}

/// Most bytes of a tree pass through here, so each is looked up rather than compared.
fn end_of_word(bytes: &[u8]) -> Option<usize> {
    const ENDS: [bool; 256] = {
        let mut ends = [false; 256];
        let mut byte = 0;
        while byte < ends.len() {
            #[expect(
                clippy::indexing_slicing,
                clippy::cast_possible_truncation,
                reason = "a constant below 256"
            )]
            {
                ends[byte] = is_blank(byte as u8) || matches!(byte as u8, b'(' | b')' | b'{' | b'}' | b'\\');
            }
            byte += 1;
        }
        ends
    };
    bytes.iter().position(|byte| ENDS.get(usize::from(*byte)) == Some(&true))
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t')
}

/// A word that may be anything, short enough to be shown.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}
