//! The account that a server program runs as: our own, and for root another one, since PostgreSQL refuses root.

use std::{
    env, fs,
    os::unix::fs::{MetadataExt as _, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

/// An account other than our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// `None` where we are not root and run programs as ourselves. Else whoever owns `data` already, or the user
    /// `postgres`, or `nobody`.
    ///
    /// # Errors
    /// We are root and there is no such user.
    pub fn for_programs(data: Option<&Path>) -> Result<Option<Self>> {
        if !is_root() {
            return Ok(None);
        }
        if let Some(owner) = data.and_then(Self::owner_of) {
            return Ok(Some(owner));
        }
        let accounts = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        ["postgres", "nobody"]
            .into_iter()
            .find_map(|name| Self::named(name, &accounts))
            .context(
                "postgres does not run as root, and there is no user `postgres` or `nobody` to run it as",
            )
            .map(Some)
    }

    fn owner_of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        (metadata.uid() != 0).then(|| Self { uid: metadata.uid(), gid: metadata.gid() })
    }

    fn named(name: &str, accounts: &str) -> Option<Self> {
        accounts.lines().find_map(|line| {
            let mut fields = line.split(':');
            if fields.next() != Some(name) {
                return None;
            }
            let (uid, gid) = (fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?);
            Some(Self { uid, gid })
        })
    }

    pub(super) const fn uid(self) -> u32 {
        self.uid
    }

    pub(super) const fn gid(self) -> u32 {
        self.gid
    }

    /// Gives a file or folder to this account.
    ///
    /// # Errors
    /// The path is not there, or the file system knows no owners.
    pub fn own(self, path: &Path) -> Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
            .with_context(|| format!("cannot give {} to the account of postgres", path.display()))
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether the account that programs run as may pass through all folders that lead to `path`.
pub(crate) fn open_to_all(path: &Path) -> bool {
    !is_root()
        || path.ancestors().filter(|folder| folder.exists()).all(|folder| {
            fs::metadata(folder).is_ok_and(|metadata| !metadata.is_dir() || metadata.mode() & 0o001 != 0)
        })
}

/// The system's temporary folder, as far as other accounts can reach it.
pub fn temporary() -> PathBuf {
    Some(env::temp_dir()).filter(|folder| open_to_all(folder)).unwrap_or_else(|| PathBuf::from("/tmp"))
}

#[cfg(test)]
mod tests {
    use super::{Account, open_to_all};

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts =
            "root:x:0:0::/root:/bin/sh\nnobody2:x:7:8:::\nnobody:x:65534:65533:nobody:/:/sbin/nologin\n";
        assert_eq!(Account::named("nobody", accounts), Some(Account { uid: 65534, gid: 65533 }));
        assert_eq!(Account::named("postgres", accounts), None);
    }

    #[test]
    fn a_folder_of_the_system_is_open_to_all() {
        assert!(open_to_all(std::path::Path::new("/usr/bin")));
    }
}
