//! Errors and notices as the server sends them.

use std::fmt;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorFields;

/// Everything the server says about an error or a notice. `Display` is the message alone.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerError {
    /// Five characters, as `42703`.
    pub sqlstate: String,
    /// `ERROR`, `FATAL`, `NOTICE` and so on, never translated.
    pub severity: String,
    /// One line for people.
    pub message: String,
    // May hold values of rows that the caller must not see.
    detail: Option<String>,
    /// The server's advice.
    pub hint: Option<String>,
    /// Where in the text that was sent; in errors of [`crate::read`] where in the caller's. In characters from 1.
    pub position: Option<usize>,
    /// Where in `internal_query`, in characters from 1.
    pub internal_position: Option<usize>,
    /// A statement that the server ran by itself, for example in a function.
    pub internal_query: Option<String>,
    /// What the server was doing, line by line.
    pub where_: Option<String>,
    /// The schema that the error is about.
    pub schema: Option<String>,
    /// The table that the error is about.
    pub table: Option<String>,
    /// The column that the error is about.
    pub column: Option<String>,
    /// The data type that the error is about.
    pub data_type: Option<String>,
    /// The constraint that the error is about.
    pub constraint: Option<String>,
    /// The server's source file.
    pub file: Option<String>,
    /// The function in that file.
    pub routine: Option<String>,
}

/// A remark of the server; the same fields as an error.
pub type Notice = ServerError;

impl ServerError {
    /// Reads the fields. Unknown ones are skipped, and bytes that are no UTF-8 are replaced.
    pub(crate) fn parse(mut fields: ErrorFields<'_>) -> Self {
        let mut error = Self::default();
        // A field list that breaks off leaves what came before it.
        while let Ok(Some(field)) = fields.next() {
            let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                b'C' => error.sqlstate = text,
                // `S` is translated; `V` is not.
                b'S' if error.severity.is_empty() => error.severity = text,
                b'V' => error.severity = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                b'P' => error.position = text.parse().ok(),
                b'p' => error.internal_position = text.parse().ok(),
                b'q' => error.internal_query = Some(text),
                b'W' => error.where_ = Some(text),
                b's' => error.schema = Some(text),
                b't' => error.table = Some(text),
                b'c' => error.column = Some(text),
                b'd' => error.data_type = Some(text),
                b'n' => error.constraint = Some(text),
                b'F' => error.file = Some(text),
                b'R' => error.routine = Some(text),
                _ => {}
            }
        }
        error
    }

    /// The server's detail. It may hold values of rows, so it is for judging and never for a caller.
    pub fn private_detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// Whether the server ends the connection with this.
    pub fn is_fatal(&self) -> bool {
        matches!(self.severity.as_str(), "FATAL" | "PANIC")
    }

    /// Bytes held, roughly.
    pub(crate) fn weight(&self) -> usize {
        let optional = [&self.detail, &self.hint, &self.internal_query, &self.where_];
        256 + self.message.len() + optional.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerError")
            .field("sqlstate", &self.sqlstate)
            .field("severity", &self.severity)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl std::error::Error for ServerError {}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use postgres_protocol::message::backend::Message;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_fields_panic(fields: Vec<u8>) {
            parse(&fields);
        }
    }

    fn parse(fields: &[u8]) -> ServerError {
        let mut frame = BytesMut::from(&b"E"[..]);
        frame.extend_from_slice(&u32::try_from(fields.len() + 4).unwrap().to_be_bytes());
        frame.extend_from_slice(fields);
        let Some(Message::ErrorResponse(body)) = Message::parse(&mut frame).unwrap() else {
            panic!("no error")
        };
        ServerError::parse(body.fields())
    }

    #[test]
    fn fields_find_their_places_and_the_detail_stays_private() {
        let error = parse(b"SFEHLER\0VERROR\0C42703\0Mno such column\0DKey (a)=(geheim)\0P17\0Zunknown\0\0");
        assert_eq!(
            (error.severity.as_str(), error.sqlstate.as_str(), error.position),
            ("ERROR", "42703", Some(17))
        );
        assert_eq!(error.private_detail(), Some("Key (a)=(geheim)"));
        assert!(!format!("{error} {error:?}").contains("geheim"));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(parse(b"M\xff!\0\0").message, "\u{fffd}!");
    }
}
