//! Bytes into messages, without I/O. A row is taken apart as its bytes arrive and never held whole:
//! a value of a gigabyte costs no more than the prefix that is kept.

use std::io;
use std::mem;

use bytes::{Buf, BytesMut};
use postgres_protocol::message::backend::{DATA_ROW_TAG, Header, Message};
use thiserror::Error;

use crate::raw::RawValue;

/// The largest message but a row that is taken: trees in notices reach megabytes.
const MAX_MESSAGE: usize = 64 << 20;
/// Room taken for a value before its bytes arrive, whatever length it claims.
const MAX_RESERVED: usize = 64 << 10;
const HEADER: usize = 5;
/// `NegotiateProtocolVersion`, which `postgres-protocol` does not know. It asks nothing of us.
const NEGOTIATE_TAG: u8 = b'v';

/// Something the server sent.
pub(crate) enum Event {
    /// A row's values, each up to the kept prefix.
    Row(Vec<Option<RawValue>>),
    /// Anything else.
    Message(Message),
}

/// Bytes that are no PostgreSQL protocol.
#[derive(Debug, Error)]
pub(crate) enum FrameError {
    #[error("a message of {0} bytes, more than is taken")]
    TooLong(usize),
    #[error("a row that is not as long as it says")]
    Row,
    #[error("a message that cannot be read")]
    Message(#[source] io::Error),
}

/// What becomes of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Each value is kept up to so many bytes.
    Keep(usize),
    /// They are passed over.
    Discard,
}

/// The state between two arrivals of bytes.
pub(crate) struct Decoder {
    rows: Rows,
    state: State,
}

enum State {
    Between,
    Skipping { left: usize },
    Row(RowState),
}

struct RowState {
    /// Bytes of the message that are still to come.
    left: usize,
    columns_left: usize,
    row: Vec<Option<RawValue>>,
    /// The value that is arriving, and how many bytes it lacks.
    arriving: Option<(RawValue, usize)>,
}

impl Decoder {
    pub(crate) fn new() -> Self {
        Self { rows: Rows::Discard, state: State::Between }
    }

    /// Says what becomes of rows from the next one on.
    pub(crate) fn set_rows(&mut self, rows: Rows) {
        self.rows = rows;
    }

    /// Takes the next event off the buffer, or what there is of it.
    pub(crate) fn next(&mut self, inbox: &mut BytesMut) -> Result<Option<Event>, FrameError> {
        loop {
            match &mut self.state {
                State::Between => match self.begin(inbox)? {
                    Begun::Message(message) => return Ok(Some(Event::Message(message))),
                    Begun::More => {}
                    Begun::Waiting => return Ok(None),
                },
                State::Skipping { left } => {
                    let taken = (*left).min(inbox.len());
                    inbox.advance(taken);
                    *left -= taken;
                    if *left > 0 {
                        return Ok(None);
                    }
                    self.state = State::Between;
                }
                State::Row(row) => {
                    let keep = match self.rows {
                        Rows::Keep(keep) => keep,
                        Rows::Discard => 0,
                    };
                    if !row.advance(inbox, keep)? {
                        return Ok(None);
                    }
                    let values = mem::take(&mut row.row);
                    self.state = State::Between;
                    return Ok(Some(Event::Row(values)));
                }
            }
        }
    }

    fn begin(&mut self, inbox: &mut BytesMut) -> Result<Begun, FrameError> {
        let Some(header) = Header::parse(inbox).map_err(FrameError::Message)? else {
            return Ok(Begun::Waiting);
        };
        // The length counts itself; `Header` refuses less than its 4 bytes.
        let body = usize::try_from(header.len()).unwrap_or(0).saturating_sub(4);
        match header.tag() {
            DATA_ROW_TAG if self.rows != Rows::Discard => {
                let Some(count) = inbox.get(HEADER..HEADER + 2) else { return Ok(Begun::Waiting) };
                let columns_left = count.iter().fold(0, |count, &byte| count << 8 | usize::from(byte));
                let left = body.checked_sub(2).ok_or(FrameError::Row)?;
                inbox.advance(HEADER + 2);
                self.state = State::Row(RowState {
                    left,
                    columns_left,
                    row: Vec::with_capacity(columns_left.min(left / 4)),
                    arriving: None,
                });
                Ok(Begun::More)
            }
            DATA_ROW_TAG | NEGOTIATE_TAG => {
                inbox.advance(HEADER);
                self.state = State::Skipping { left: body };
                Ok(Begun::More)
            }
            _ if body > MAX_MESSAGE => Err(FrameError::TooLong(body)),
            _ if inbox.len() < HEADER + body => Ok(Begun::Waiting),
            _ => Ok(match Message::parse(inbox).map_err(FrameError::Message)? {
                Some(message) => Begun::Message(message),
                None => Begun::Waiting,
            }),
        }
    }
}

enum Begun {
    Message(Message),
    More,
    Waiting,
}

impl RowState {
    /// Takes what has arrived; true once the row is whole.
    fn advance(&mut self, inbox: &mut BytesMut, keep: usize) -> Result<bool, FrameError> {
        loop {
            if let Some((value, lacks)) = &mut self.arriving {
                let taken = (*lacks).min(inbox.len());
                let arrived = inbox.get(..taken).unwrap_or_default();
                let kept = keep.saturating_sub(value.bytes.len()).min(taken);
                value.bytes.extend_from_slice(arrived.get(..kept).unwrap_or_default());
                value.full_chars += count_chars(arrived);
                inbox.advance(taken);
                *lacks -= taken;
                if *lacks > 0 {
                    return Ok(false);
                }
            }
            if let Some((mut value, _)) = self.arriving.take() {
                if value.is_cut() {
                    drop_half_character(&mut value.bytes);
                }
                self.row.push(Some(value));
            }
            if self.columns_left == 0 {
                return if self.left == 0 { Ok(true) } else { Err(FrameError::Row) };
            }
            if inbox.len() < 4 {
                return if self.left < 4 { Err(FrameError::Row) } else { Ok(false) };
            }
            self.left = self.left.checked_sub(4).ok_or(FrameError::Row)?;
            self.columns_left -= 1;
            let length = inbox.get_i32();
            if length == -1 {
                self.row.push(None);
                continue;
            }
            let length = usize::try_from(length).map_err(|_| FrameError::Row)?;
            self.left = self.left.checked_sub(length).ok_or(FrameError::Row)?;
            let value = RawValue {
                bytes: Vec::with_capacity(length.min(keep).min(MAX_RESERVED)),
                full_chars: 0,
                full_bytes: length,
            };
            self.arriving = Some((value, length));
        }
    }
}

/// Characters: all bytes but those that continue one, which begin with the bits 10. Eight bytes at a time,
/// because everything that a value's tail costs is this.
fn count_chars(bytes: &[u8]) -> usize {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = bytes.as_chunks();
    let mut continuing = rest.iter().filter(|&&byte| byte & 0xc0 == 0x80).count();
    for word in words {
        let word = u64::from_ne_bytes(*word);
        continuing += ((word >> 7) & !(word >> 6) & LOW_BITS).count_ones() as usize;
    }
    bytes.len() - continuing
}

/// Removes the beginning of a character whose rest was cut off.
fn drop_half_character(bytes: &mut Vec<u8>) {
    let start = bytes.iter().rposition(|&byte| byte & 0xc0 != 0x80);
    if let Some(start) = start
        && let Some(tail) = bytes.get(start..)
        && std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
    {
        bytes.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type RawRow = Vec<Option<RawValue>>;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[tag], &length[..], body].concat()
    }

    fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
        let mut body = u16::try_from(values.len()).unwrap().to_be_bytes().to_vec();
        for value in values {
            match value {
                None => body.extend_from_slice(&(-1i32).to_be_bytes()),
                Some(bytes) => {
                    body.extend_from_slice(&u32::try_from(bytes.len()).unwrap().to_be_bytes());
                    body.extend_from_slice(bytes);
                }
            }
        }
        message(b'D', &body)
    }

    /// Feeds the bytes in pieces; gives the rows and the number of other messages.
    fn feed(bytes: &[u8], piece: usize, rows: Rows) -> Result<(Vec<RawRow>, usize), FrameError> {
        let mut decoder = Decoder::new();
        decoder.set_rows(rows);
        let mut inbox = BytesMut::new();
        let (mut seen, mut others) = (Vec::new(), 0);
        for piece in bytes.chunks(piece) {
            inbox.extend_from_slice(piece);
            while let Some(event) = decoder.next(&mut inbox)? {
                match event {
                    Event::Row(row) => seen.push(row),
                    Event::Message(_) => others += 1,
                }
            }
        }
        Ok((seen, others))
    }

    fn value(bytes: &str, full_chars: usize, full_bytes: usize) -> RawValue {
        RawValue { bytes: bytes.into(), full_chars, full_bytes }
    }

    #[test]
    fn pieces_of_any_size_give_the_same_rows() {
        let mut bytes = message(b'1', b"");
        bytes.extend(row(&[Some(b"abc"), None, Some(b"")]));
        bytes.extend(message(b'v', &[0; 8]));
        bytes.extend(row(&[]));
        bytes.extend(row(&[Some("äöü€".as_bytes())]));
        bytes.extend(message(b'Z', b"I"));
        for piece in 1..=bytes.len() {
            let (rows, others) = feed(&bytes, piece, Rows::Keep(4)).unwrap();
            assert_eq!(
                rows,
                [
                    vec![Some(value("abc", 3, 3)), None, Some(value("", 0, 0))],
                    vec![],
                    vec![Some(value("äö", 4, 9))],
                ]
            );
            assert_eq!(others, 2);
            let (rows, others) = feed(&bytes, piece, Rows::Discard).unwrap();
            assert_eq!((rows.len(), others), (0, 2));
        }
    }

    #[test]
    fn a_kept_prefix_ends_at_a_character() {
        let bytes = row(&[Some("€€".as_bytes())]);
        for (keep, kept) in [(0, ""), (1, ""), (2, ""), (3, "€"), (4, "€"), (5, "€"), (6, "€€"), (9, "€€")]
        {
            let (rows, _) = feed(&bytes, 3, Rows::Keep(keep)).unwrap();
            assert_eq!(rows, [vec![Some(value(kept, 2, 6))]], "{keep}");
        }
    }

    #[test]
    fn a_row_that_lies_about_its_length_is_refused() {
        for body in [
            &[0][..],
            &[0, 0, 9],
            &[0, 1, 0, 0, 0],
            &[0, 1, 0, 0, 0, 5, 1],
            &[0, 1, 0xff, 0xff, 0xff, 0xfe],
            &[0xff, 0xff, 0, 0, 0, 0],
        ] {
            let mut bytes = message(b'D', body);
            bytes.extend(message(b'Z', b"I"));
            assert!(feed(&bytes, 64, Rows::Keep(9)).is_err(), "{body:?}");
            assert!(feed(&bytes, 1, Rows::Keep(9)).is_err(), "{body:?}");
        }
    }

    #[test]
    fn a_message_of_absurd_length_is_refused_before_it_arrives() {
        assert!(matches!(feed(b"E\x7f\xff\xff\xff", 5, Rows::Discard), Err(FrameError::TooLong(_))));
        assert!(matches!(feed(b"E\0\0\0\x03", 5, Rows::Discard), Err(FrameError::Message(_))));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>, tags in "[DETtZCRSKNAGHdv123Ins]{0,4}", piece in 1usize..9) {
            let _ = feed(&bytes, piece, Rows::Keep(3));
            let framed: Vec<u8> = tags.bytes().flat_map(|tag| message(tag, &bytes)).collect();
            let _ = feed(&framed, piece, Rows::Keep(3));
            let _ = feed(&framed, piece, Rows::Discard);
        }

        #[test]
        fn kept_and_full_lengths_are_those_of_the_text(texts in prop::collection::vec(".{0,20}", 0..5), keep in 0usize..20, piece in 1usize..40) {
            let values: Vec<_> = texts.iter().map(|text| Some(text.as_bytes())).collect();
            let (rows, _) = feed(&row(&values), piece, Rows::Keep(keep)).unwrap();
            for (value, text) in rows[0].iter().zip(&texts) {
                let value = value.as_ref().unwrap();
                prop_assert_eq!((value.full_chars, value.full_bytes), (text.chars().count(), text.len()));
                let kept = std::str::from_utf8(&value.bytes).unwrap();
                prop_assert!(text.starts_with(kept) && kept.len() <= keep);
                prop_assert!(kept.len() + 4 > keep.min(text.len()));
            }
        }
    }
}
