//! The folders that sources may be read from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use directories::BaseDirs;

use super::{is_absence, refused, unavailable};
use crate::contract::Found;

/// Reads files of this machine that lie inside allowed folders.
///
/// The folders are looked up at each read, so that one may come later. A path outside all of them,
/// or a symbolic link that leads outside, is refused. A file counts as missing only if the folder is
/// there: an unmounted disk takes no session's source away.
pub struct FolderFiles {
    folders: Box<dyn Fn() -> Vec<PathBuf> + Send + Sync>,
}

impl FolderFiles {
    /// Files inside these folders, which need not be there yet.
    pub fn inside(folders: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let folders: Vec<PathBuf> = folders.into_iter().map(Into::into).collect();
        Self { folders: Box::new(move || folders.clone()) }
    }

    /// Files inside [`user_folders`], looked up at each read.
    #[must_use]
    pub fn of_user() -> Self {
        Self { folders: Box::new(user_folders) }
    }

    pub(super) fn folders(&self) -> Folders {
        Folders { given: (self.folders)() }
    }
}

impl std::fmt::Debug for FolderFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolderFiles").field("folders", &(self.folders)()).finish()
    }
}

/// Where the tools of this user keep their sessions: `$CLAUDE_CONFIG_DIR`, or `.claude` in the home
/// folder; `$CODEX_HOME`, or `.codex` there.
#[must_use]
pub fn user_folders() -> Vec<PathBuf> {
    let home = BaseDirs::new();
    [("CLAUDE_CONFIG_DIR", ".claude"), ("CODEX_HOME", ".codex")]
        .into_iter()
        .filter_map(|(variable, name)| {
            let given = std::env::var_os(variable).filter(|folder| !folder.is_empty());
            given.map(PathBuf::from).or_else(|| Some(home.as_ref()?.home_dir().join(name)))
        })
        .collect()
}

/// The allowed folders of one read.
pub(super) struct Folders {
    given: Vec<PathBuf>,
}

impl Folders {
    /// Refuses a path without symbolic links that lies in none of them.
    ///
    /// Those that the path was written with are looked up first: another one, on a disk that hangs,
    /// is then no concern of it.
    pub(super) fn admit(&self, real: &Path, place: &Path) -> Result<(), Found> {
        let mut trouble = None;
        let (near, far): (Vec<_>, Vec<_>) =
            self.given.iter().partition(|folder| place.starts_with(folder));
        for folder in near.into_iter().chain(far) {
            match root(folder) {
                Ok(root) if real.starts_with(&root) => return Ok(()),
                Ok(_) => {}
                Err(error) if is_absence(&error) => {}
                Err(error) => trouble = Some(format!("the folder {}: {error}", folder.display())),
            }
        }
        match trouble {
            Some(trouble) => Err(unavailable(&trouble)),
            None => Err(self.outside()),
        }
    }

    /// What it means that nothing of a name is there, where `reached` is the deepest folder on the
    /// way that is.
    pub(super) fn absent(&self, place: &Path, reached: &Path) -> Found {
        match self.admit(reached, place) {
            // Something else in the place of an allowed folder is as if that was not there.
            Ok(())
                if !reached.is_dir() && self.given.iter().any(|folder| is_at(folder, reached)) =>
            {
                unavailable(&format!("{} is no folder", reached.display()))
            }
            Ok(()) => Found::Missing,
            Err(found @ Found::Refused(_)) => self.away(place).unwrap_or(found),
            Err(found) => found,
        }
    }

    /// What it means that an allowed folder which the place is in, as it is written, is not there.
    pub(super) fn away(&self, place: &Path) -> Option<Found> {
        let mut above = self.given.iter().filter(|folder| place.starts_with(folder));
        let folder = above.find(|folder| root(folder).is_err())?;
        Some(unavailable(&format!("the folder {} is not there", folder.display())))
    }

    fn outside(&self) -> Found {
        let mut words =
            String::from("it lies, or a symbolic link leads, outside the folders that are allowed");
        for (at, folder) in self.given.iter().enumerate() {
            words.push_str(if at == 0 { ": " } else { ", " });
            words.push_str(&folder.display().to_string());
        }
        refused(&words)
    }
}

/// Whether the folder is this very path, which has no symbolic links.
fn is_at(folder: &Path, real: &Path) -> bool {
    root(folder).is_ok_and(|root| root == real)
}

/// An allowed folder without symbolic links.
fn root(folder: &Path) -> io::Result<PathBuf> {
    // A relative path would depend on where the process was started.
    if folder.is_absolute() {
        fs::canonicalize(folder)
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}
