//! The PostgreSQL programs of one version, and where to find them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail, ensure};

use super::folder::{make_or_own, within_reach};
use crate::supervised::open_to_all;

/// The majors that pinguard is tested on.
const OLDEST: u16 = 14;

/// A folder that holds `postgres` and `initdb`, and their major version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binaries {
    bin: PathBuf,
    major: u16,
}

impl Binaries {
    /// Those in a given folder.
    ///
    /// # Errors
    /// `postgres` or `initdb` is not there or does not run, or the version is older than 14.
    pub fn at(bin: &Path) -> Result<Self> {
        let bin = fs::canonicalize(bin).with_context(|| format!("there is no folder {}", bin.display()))?;
        let postgres = bin.join("postgres");
        ensure!(
            postgres.is_file() && bin.join("initdb").is_file(),
            "no postgres and initdb in {}",
            bin.display()
        );
        let output = Command::new(&postgres)
            .arg("--version")
            .output()
            .with_context(|| format!("cannot run {}", postgres.display()))?;
        let version = String::from_utf8_lossy(&output.stdout);
        let major = major_in(&version)
            .with_context(|| format!("{} --version says `{}`", postgres.display(), version.trim()))?;
        ensure!(major >= OLDEST, "{} is PostgreSQL {major}; at least {OLDEST} is needed", postgres.display());
        Ok(Self { bin, major })
    }

    /// The best on this machine: first from `PATH`, then the newest of the system, then the newest that the
    /// scripts unpacked. With a `major`, only that one.
    ///
    /// # Errors
    /// There is none; the message says what to do.
    pub fn find(major: Option<u16>) -> Result<Self> {
        let fitting = |binaries: &Self| major.is_none_or(|major| binaries.major == major);
        let system = newest_in(Path::new("/usr/lib/postgresql"));
        let unpacked = unpacked().map(|folder| newest_in(&folder)).unwrap_or_default();
        let candidates = on_path().into_iter().chain(system).chain(unpacked);
        candidates.filter_map(|bin| Self::at(&bin).ok()).find(fitting).with_context(|| {
            let wanted = major.map_or_else(|| "PostgreSQL".to_owned(), |major| format!("PostgreSQL {major}"));
            format!("{wanted} is not on this machine: put it on PATH, or run scripts/run, which unpacks one")
        })
    }

    /// Those that the scripts unpacked for a major version.
    ///
    /// # Errors
    /// They are not there yet.
    pub fn unpacked(major: u16) -> Result<Self> {
        match unpacked() {
            Some(folder) if folder.join(major.to_string()).is_dir() => {
                Self::at(&folder.join(major.to_string()).join("bin"))
            }
            _ => bail!("no PostgreSQL {major} under target/postgres: run scripts/test, which unpacks it"),
        }
    }

    /// 14, 15, …
    pub const fn major(&self) -> u16 {
        self.major
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// These, or a copy where the account that is to run them cannot come to them.
    pub(super) fn reachable(&self) -> Result<Self> {
        if open_to_all(&self.bin) {
            return Ok(self.clone());
        }
        let original = self.bin.parent().context("the PostgreSQL programs lie in no folder")?;
        let copy = within_reach(original);
        make_or_own(&copy)?;
        let status = Command::new("cp")
            .args(["-a", "-u"])
            .arg(original.join("."))
            .arg(&copy)
            .status()
            .context("cannot run cp")?;
        ensure!(status.success(), "cannot copy {} to {}", original.display(), copy.display());
        Self::at(&copy.join("bin"))
    }
}

/// From `postgres (PostgreSQL) 15.18 (Debian …)`.
fn major_in(version: &str) -> Option<u16> {
    let number = version.strip_prefix("postgres (PostgreSQL) ")?;
    number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "PATH is where programs lie, no setting of ours")]
fn on_path() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .filter_map(|folder| fs::canonicalize(folder.join("postgres")).ok()?.parent().map(Path::to_owned))
        .collect()
}

/// The `bin` folders of `<folder>/<major>/bin`, newest first.
fn newest_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut majors: Vec<u16> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    majors.sort_unstable_by(|a, b| b.cmp(a));
    majors.into_iter().map(|major| folder.join(major.to_string()).join("bin")).collect()
}

/// Where the scripts unpack binaries: `postgres` in the target folder that this program was built into.
fn unpacked() -> Option<PathBuf> {
    target_folder().map(|target| target.join("postgres"))
}

/// The target folder of cargo that this program lies in. Cargo leaves its notes on the compiler in each, and a tag only in one
/// that was not there before.
pub fn target_folder() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    program.ancestors().find(|folder| folder.join(".rustc_info.json").is_file()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Binaries, major_in};

    #[test]
    fn the_major_version_is_read_from_what_postgres_says() {
        assert_eq!(major_in("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n"), Some(15));
        assert_eq!(major_in("postgres (PostgreSQL) 18beta1\n"), Some(18));
        assert_eq!(major_in("redis 7\n"), None);
    }

    #[test]
    fn a_folder_without_postgres_is_named() {
        let error = Binaries::at(std::path::Path::new("/etc")).expect_err("no programs in /etc");
        assert_eq!(error.to_string(), "no postgres and initdb in /etc");
    }
}
