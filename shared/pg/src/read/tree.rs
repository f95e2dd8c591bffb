//! The tree among the server's remarks: exactly one, and one that can only come from PostgreSQL itself.

use crate::read_error::ReadError;
use crate::server_error::Notice;

/// The message that a tree comes with, and where in PostgreSQL's source it is sent.
const MESSAGE: &str = "parse tree:";
const FILE: &str = "print.c";
const ROUTINE: &str = "elog_node_display";

/// A line in the middle of a word has at least so many bytes: PostgreSQL breaks lines at 78 bytes of its own encoding, which may
/// take more for a character than ours.
const LONG: usize = 64;
/// And at least so many backslashes, for names have 63 bytes.
const ESCAPES: usize = 8;

/// The tree, if exactly one came that can only be the statement's own. A text that user code raises can look like a tree, but
/// not come from PostgreSQL's printing routine without a context.
///
/// Gives what else was remarked, too.
pub(super) fn the_one(notices: Vec<Notice>) -> Result<(String, Vec<Notice>), ReadError> {
    let (trees, others): (Vec<Notice>, Vec<Notice>) =
        notices.into_iter().partition(|notice| notice.message.starts_with(MESSAGE));
    match trees.as_slice() {
        [tree] if is_genuine(tree) => {
            let text =
                tree.private_detail().filter(|text| !breaks_words(text)).ok_or(ReadError::NotOneTree)?;
            Ok((text.to_owned(), others))
        }
        _ => Err(ReadError::NotOneTree),
    }
}

/// Whether a word was broken over two lines: one longer than a line is broken anywhere, also between a backslash and the bracket
/// that it stands before. Only names full of such signs are so long.
fn breaks_words(text: &str) -> bool {
    let mut lines = text.split('\n');
    lines.next_back();
    lines.any(|line| {
        let whole = line.rfind(' ').is_none_or(|at| at == 0);
        whole && line.len() >= LONG && line.matches('\\').count() >= ESCAPES
    })
}

/// Whether a statement was resolved anew. What runs while it is planned prints trees of its own, each with a context.
pub(super) fn is_among(notices: &[Notice]) -> bool {
    notices.iter().any(is_genuine)
}

fn is_genuine(notice: &Notice) -> bool {
    notice.severity == "LOG"
        && notice.message == MESSAGE
        && notice.file.as_deref().is_some_and(|file| file == FILE || file.ends_with("/print.c"))
        && notice.routine.as_deref() == Some(ROUTINE)
        && notice.where_.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_broken_over_two_lines_is_seen() {
        let word = "\\(".repeat(39);
        assert!(breaks_words(&format!("{{ALIAS :aliasname\n{word}\nx :colnames <>}}")));
        let in_another_encoding = format!("(\"{}{}", "\\(".repeat(13), "\u{4e00}".repeat(12));
        assert!(breaks_words(&format!("{{ALIAS :aliasname x :colnames\n{in_another_encoding}\nx\")}}")));
        assert!(breaks_words(&format!("{{ALIAS :aliasname\né{word}\nx :colnames <>}}")));
        assert!(!breaks_words(&format!("{{ALIAS :aliasname\n{word}")));
        assert!(!breaks_words(&format!("{{ALIAS\n:aliasname {word}\n:colnames <>}}")));
    }

    #[test]
    fn a_long_name_that_fills_a_line_is_not_broken() {
        let name = "x".repeat(63);
        assert!(!breaks_words(&format!("{{ALIAS :aliasname x :colnames\n(\"{name}\"\n\"{name}\")}}")));
    }
}
