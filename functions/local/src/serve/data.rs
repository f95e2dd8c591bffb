//! The data folder: the embedded server's files, the secrets that pinguard reads, and the key that the console shows.

use std::{
    fs::{self, File},
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, anyhow};
use state::{ApiKey, AuditKey, KeyToken};

use crate::embedded::{Home, random_word, target_folder};

/// The secret of the control database. Credentials of flow documents have no dot in their ids, so none names it.
pub(crate) const CONTROL_SECRET: &str = "pinguard.control";
/// The secret with the key of the audit. It stays: the rows of earlier runs are signed with it.
pub(crate) const AUDIT_SECRET: &str = "pinguard.audit";
/// The secret with the key of stamps. It stays: the pins of earlier runs are stamped with it.
pub(crate) const STAMP_SECRET: &str = "pinguard.stamp";
/// The secret of the default credential.
pub(crate) const DATABASE_SECRET: &str = "pinguard.database";

/// A key with its text, which is stored nowhere but here.
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) token: KeyToken,
}

/// The folder that outlives a run.
#[derive(Debug)]
pub(crate) struct DataFolder(PathBuf);

impl DataFolder {
    /// The given folder; else `pinguard` in the target folder that this program was built into, else
    /// `./pinguard-data`.
    pub(crate) fn open(given: Option<PathBuf>) -> Result<Self> {
        let folder = Self::path_of(given)?;
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let data = Self(folder);
        if !data.secrets().is_dir() {
            fs::DirBuilder::new()
                .mode(0o700)
                .create(data.secrets())
                .with_context(|| format!("cannot make the folder {}", data.secrets().display()))?;
        }
        Ok(data)
    }

    /// Where the folder is, whether or not it is there.
    pub(crate) fn path_of(given: Option<PathBuf>) -> Result<PathBuf> {
        let chosen = given.unwrap_or_else(|| {
            target_folder().map_or_else(|| "pinguard-data".into(), |target| target.join("pinguard"))
        });
        std::path::absolute(&chosen)
            .with_context(|| format!("`{}` cannot be a data folder", chosen.display()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn home(&self) -> Home {
        Home::At(self.0.clone())
    }

    /// The folder with one file a secret.
    pub(crate) fn secrets(&self) -> PathBuf {
        self.0.join("secrets")
    }

    pub(crate) fn write_secret(&self, id: &str, value: &str) -> Result<()> {
        write_private(&self.secrets().join(id), value)
    }

    /// Removes the secrets of a run that is over.
    pub(crate) fn forget_secrets(&self) -> Result<()> {
        for id in [CONTROL_SECRET, DATABASE_SECRET] {
            let path = self.secrets().join(id);
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// The key of an earlier run, or a new one. Where the file holds something else, it is replaced.
    pub(crate) fn key(&self) -> Result<Key> {
        let path = self.0.join("key");
        let kept = fs::read_to_string(&path).ok();
        if let Some(text) = kept
            && let Ok(token) = text.trim().parse()
        {
            return Ok(Key { text: text.trim().to_owned(), token });
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).context("the operating system gave no random bytes")?;
        let text = ApiKey::from_random(bytes).text().to_owned();
        write_private(&path, &text)?;
        let token = text.parse().context("a new key is not of its own shape")?;
        Ok(Key { text, token })
    }

    /// The key of the audit's rows: that of earlier runs, or a new one.
    pub(crate) fn audit_key(&self) -> Result<AuditKey> {
        let path = self.lasting_secret(AUDIT_SECRET)?;
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        AuditKey::new(text.as_bytes()).map_err(|problem| anyhow!("{}: {problem}", path.display()))
    }

    /// Sees to it that there is a key of stamps.
    pub(crate) fn stamp_key(&self) -> Result<()> {
        self.lasting_secret(STAMP_SECRET).map(drop)
    }

    /// The file of a secret that is made once and stays.
    fn lasting_secret(&self, id: &str) -> Result<PathBuf> {
        let path = self.secrets().join(id);
        if !path.is_file() {
            write_private(&path, &(random_word()? + &random_word()?))?;
        }
        Ok(path)
    }

    /// Whether an earlier run began with this.
    pub(crate) fn began_with(&self, beginning: &str) -> bool {
        fs::read_to_string(self.beginning()).is_ok_and(|earlier| earlier == beginning)
    }

    /// From now on an earlier run did.
    pub(crate) fn begin_with(&self, beginning: &str) -> Result<()> {
        let path = self.beginning();
        fs::write(&path, beginning).with_context(|| format!("cannot write {}", path.display()))
    }

    fn beginning(&self) -> PathBuf {
        self.0.join("beginning.json")
    }
}

/// Writes a file that only its owner reads.
fn write_private(path: &Path, text: &str) -> Result<()> {
    File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::DataFolder;
    use crate::embedded::random_word;

    #[test]
    fn the_key_is_kept_and_for_its_owner_alone() {
        let folder = std::env::temp_dir().join(format!("pinguard-{}", random_word().unwrap()));
        let data = DataFolder::open(Some(folder.clone())).unwrap();
        let first = data.key().unwrap().text;
        assert_eq!(data.key().unwrap().text, first);
        let mode = |name: &str| fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("key"), mode("secrets")), (0o600, 0o700));
        fs::write(folder.join("key"), "nonsense").unwrap();
        assert_ne!(data.key().unwrap().text, first);
        fs::remove_dir_all(folder).unwrap();
    }
}
