//! Where a server keeps its things: data, password and log side by side in one folder.

use std::{
    fmt, fs,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};

use super::random_word;
use crate::supervised::{Account, open_to_all, temporary};

/// Where a server lives.
#[derive(Debug, Clone)]
pub enum Home {
    /// In a new folder of the system's temporary folder, removed when the server ends.
    Throwaway,
    /// In this folder, made if need be, for good. For root it moves below the system's temporary folder where the
    /// account that PostgreSQL runs as could not reach it.
    At(PathBuf),
}

impl Home {
    /// The major version of the data that lie here.
    pub fn major(&self) -> Option<u16> {
        self.place().and_then(|place| major_of(&place))
    }

    pub(super) fn data(&self) -> Option<PathBuf> {
        self.place().map(|place| data_of(&place))
    }

    fn place(&self) -> Option<PathBuf> {
        match self {
            Self::Throwaway => None,
            Self::At(path) => std::path::absolute(path).ok().map(|path| within_reach(&path)),
        }
    }
}

/// An opened home.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    throwaway: bool,
}

impl Folder {
    pub(super) fn open(home: &Home, account: Option<Account>) -> Result<Self> {
        match home.place() {
            None => {
                let path = temporary().join(format!("pinguard-{}", random_word()?));
                make(&path)?;
                // Its own account removes it in the end.
                account.map_or(Ok(()), |account| account.own(&path))?;
                Ok(Self { path, throwaway: true })
            }
            Some(path) => {
                // One that moved has a name that others may have taken.
                if path.parent() == Some(&temporary()) {
                    make_or_own(&path)?;
                } else {
                    fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
                }
                Ok(Self { path, throwaway: false })
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn data(&self) -> PathBuf {
        data_of(&self.path)
    }

    /// Where a new data folder stands until it is complete.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.path.join("postgres.unfinished")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("postgres.log")
    }

    pub(super) fn password(&self) -> PathBuf {
        self.path.join("postgres.password")
    }

    pub(super) fn major(&self) -> Option<u16> {
        major_of(&self.path)
    }

    /// What the server says about itself: process, folder, start time, port, …, and on the eighth line its state.
    pub(super) fn process_file(&self) -> String {
        fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default()
    }

    /// What is to be removed in the end.
    pub(super) fn scratch(&self) -> Option<&Path> {
        self.throwaway.then_some(&self.path)
    }

    /// A throwaway server need not tidy up its data.
    pub(super) const fn stop_signal(&self) -> &'static str {
        if self.throwaway { "QUIT" } else { "INT" }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.throwaway {
            // Whoever ran a program here removed it already.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

fn data_of(place: &Path) -> PathBuf {
    place.join("postgres")
}

fn major_of(place: &Path) -> Option<u16> {
    fs::read_to_string(data_of(place).join("PG_VERSION")).ok()?.trim().parse().ok()
}

/// The path itself where the server's account can come to it, else one named after it in the temporary folder.
pub(super) fn within_reach(path: &Path) -> PathBuf {
    if open_to_all(path) {
        return path.to_owned();
    }
    let name: Vec<_> = path.iter().skip(1).map(|part| part.to_string_lossy()).collect();
    temporary().join(format!("pinguard-{}", name.join("-")))
}

fn make(path: &Path) -> Result<()> {
    fs::DirBuilder::new().mode(0o755).create(path).with_context(|| format!("cannot make {}", path.display()))
}

/// Makes a folder of a known name where everyone may write, or takes it only if it is ours.
pub(super) fn make_or_own(path: &Path) -> Result<()> {
    let Ok(metadata) = fs::symlink_metadata(path) else { return make(path) };
    ensure!(
        metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw(),
        "{} is not our own folder: remove it",
        path.display()
    );
    Ok(())
}
