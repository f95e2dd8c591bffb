//! The account that a server runs as: our own, and for root another one, since PostgreSQL refuses root.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, chown},
    path::Path,
};

use anyhow::{Context as _, Result};

use super::folder::Home;

/// An account other than our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// `None` where we are not root. Else whoever owns the data already, or `postgres`, or `nobody`.
    pub(super) fn for_server(home: &Home) -> Result<Option<Self>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        if let Some(owner) = home.data_owner() {
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

    /// The owner of a path that is there, unless that is root.
    pub(super) fn owner_of(path: &Path) -> Option<Self> {
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

    pub(super) const fn uid(&self) -> u32 {
        self.uid
    }

    pub(super) const fn gid(&self) -> u32 {
        self.gid
    }

    /// Gives a file or folder to this account.
    pub(super) fn own(&self, path: &Path) -> Result<()> {
        chown(path, Some(self.uid), Some(self.gid))
            .with_context(|| format!("cannot give {} to the postgres account", path.display()))
    }
}

/// Whether every account may pass through all folders above `path` and read what is there.
pub(super) fn open_to_all(path: &Path) -> bool {
    path.ancestors().filter(|folder| folder.exists()).all(|folder| {
        fs::metadata(folder).is_ok_and(|metadata| !metadata.is_dir() || metadata.mode() & 0o001 != 0)
    })
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
    fn the_temporary_folder_is_open_to_all() {
        assert!(open_to_all(std::path::Path::new("/usr/bin")));
    }
}
