//! Secrets in a folder, one file each.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{MAX_BYTES, Secret, SecretError, SecretStage, SecretText};

const ACCEPTED: &str = "1 to 200 characters of A-Z, a-z, 0-9 and `_+=.@-`, not starting with a dot";
const MAX_ID_CHARS: usize = 200;

/// Reads the file named by an id. An id holds no slash and no leading dot, so it names nothing outside the folder.
pub(super) async fn read(folder: &Path, id: &str, stage: SecretStage) -> Result<Secret, SecretError> {
    if !is_id(id) {
        return Err(SecretError::BadId { id: id.to_owned(), accepted: ACCEPTED });
    }
    let bytes = bytes(folder.join(id)).await.map_err(|error| explain(id, error))?;
    if stage == SecretStage::Pending {
        return Err(SecretError::NoSuchStage { id: id.to_owned() });
    }
    if bytes.len() > MAX_BYTES {
        let source = format!("the file is larger than {MAX_BYTES} bytes").into();
        return Err(SecretError::Unreadable { id: id.to_owned(), source });
    }
    let text = String::from_utf8(bytes).map_err(|_| SecretError::Binary { id: id.to_owned() })?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(SecretError::Empty { id: id.to_owned() });
    }
    Ok(Secret { version: version(text), text: SecretText(text.to_owned()) })
}

fn is_id(id: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_+=.@-".contains(&byte);
    (1..=MAX_ID_CHARS).contains(&id.len()) && !id.starts_with('.') && id.bytes().all(letter)
}

/// One byte more than a secret may have, to know a larger file without reading it whole. In one piece on another thread:
/// each step of tokio's own file goes there and back.
async fn bytes(path: PathBuf) -> io::Result<Vec<u8>> {
    let read = move || {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?
}

fn explain(id: &str, error: io::Error) -> SecretError {
    let id = id.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => SecretError::Missing { id },
        io::ErrorKind::PermissionDenied => SecretError::Denied { id, source: Some(error.into()) },
        _ => SecretError::Unreadable { id, source: error.into() },
    }
}

/// A hash under a key of this process: it tells two values apart and cannot be used to guess one from a log.
fn version(text: &str) -> String {
    static KEY: OnceLock<RandomState> = OnceLock::new();
    format!("{:016x}", KEY.get_or_init(RandomState::new).hash_one(text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::secrets::SecretStore;

    /// A folder of its own, gone at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("pinguard-secrets-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, id: &str, bytes: &[u8]) {
            fs::write(self.0.join(id), bytes).unwrap();
        }

        async fn read(&self, id: &str) -> Result<Secret, SecretError> {
            SecretStore::Files(self.0.clone()).read(id, SecretStage::Current).await
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[tokio::test]
    async fn a_secret_is_the_file_without_the_newline_at_its_end() {
        let folder = Folder::new("newline");
        for (bytes, text) in
            [("a b", "a b"), ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), (" a ", " a "), ("ä", "ä")]
        {
            folder.write("s", bytes.as_bytes());
            assert_eq!(&*folder.read("s").await.unwrap().text, text, "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn the_version_changes_with_the_value_alone() {
        let folder = Folder::new("version");
        folder.write("s", b"one");
        let first = folder.read("s").await.unwrap();
        folder.write("s", b"one\n");
        assert_eq!(folder.read("s").await.unwrap(), first);
        folder.write("s", b"two");
        assert_ne!(folder.read("s").await.unwrap().version, first.version);
    }

    #[tokio::test]
    async fn no_id_leads_out_of_the_folder() {
        let folder = Folder::new("outside");
        let long = "x".repeat(201);
        for id in ["", "..", "../s", "/etc/passwd", "a/b", ".hidden", "a\\b", "a\0", "ä", "a b", &long] {
            let error = folder.read(id).await.unwrap_err();
            assert_eq!(error.code(), "secret_bad_id", "{id:?}");
        }
        let message = folder.read("../s").await.unwrap_err().to_string();
        assert_eq!(
            message,
            "`../s` is no secret id here: 1 to 200 characters of A-Z, a-z, 0-9 and `_+=.@-`, not starting with a dot"
        );
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_file_is_told_apart() {
        let folder = Folder::new("causes");
        folder.write("empty", b"\n");
        folder.write("binary", &[0xff, 0xfe]);
        folder.write("full", &vec![b'x'; MAX_BYTES]);
        folder.write("large", &vec![b'x'; MAX_BYTES + 1]);
        fs::create_dir(folder.0.join("folder")).unwrap();
        let cases = [
            ("missing", "secret_missing"),
            ("empty", "secret_empty"),
            ("binary", "secret_binary"),
            ("large", "secret_unreadable"),
            ("folder", "secret_unreadable"),
        ];
        for (id, code) in cases {
            assert_eq!(folder.read(id).await.unwrap_err().code(), code, "{id}");
        }
        assert_eq!(folder.read("full").await.unwrap().text.len(), MAX_BYTES);
        let store = SecretStore::Files(folder.0.clone());
        assert_eq!(
            store.read("full", SecretStage::Pending).await.unwrap_err().code(),
            "secret_no_such_stage"
        );
        assert_eq!(store.read("missing", SecretStage::Pending).await.unwrap_err().code(), "secret_missing");
    }

    #[tokio::test]
    async fn debug_shows_no_value() {
        let folder = Folder::new("debug");
        folder.write("s", b"postgres://u:hunter2@h/d");
        let secret = folder.read("s").await.unwrap();
        let shown = format!("{secret:?}");
        assert!(
            shown.starts_with("Secret { text: ********, version: ") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
}
