//! Finding a file without opening it: opening a pipe or a device may wait for ever.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::folders::Folders;
use super::{is_absence, refused, unavailable};
use crate::contract::Found;

/// Most symbolic links that are followed to find out where one leads that leads nowhere.
const LINKS: u32 = 40;

/// A regular file inside an allowed folder.
pub(super) struct Located {
    /// Its path without symbolic links.
    pub(super) real: PathBuf,
    /// Of the file itself.
    pub(super) metadata: Metadata,
}

/// Finds the regular file at this place, or says what there is instead.
pub(super) fn locate(place: &Path, folders: &Folders) -> Result<Located, Found> {
    if !place.is_absolute() {
        return Err(refused("the path is not absolute"));
    }
    let real = match fs::canonicalize(place) {
        Ok(real) => real,
        Err(error) => return Err(unreached(place, folders, &error)),
    };
    folders.admit(&real, place)?;
    match fs::symlink_metadata(&real) {
        Ok(metadata) if metadata.is_file() => Ok(Located { real, metadata }),
        // A link took its place since.
        Ok(metadata) if metadata.is_symlink() => Err(unavailable("it was just replaced")),
        Ok(_) => Err(Found::Missing),
        Err(error) => Err(unreached(place, folders, &error)),
    }
}

/// What it means that looking for the file failed.
fn unreached(place: &Path, folders: &Folders, error: &io::Error) -> Found {
    if is_absence(error) {
        return absent(place, folders);
    }
    // A name that is too long proves nothing about what is there, but where it would be.
    match error.kind() {
        io::ErrorKind::InvalidFilename => match absent(place, folders) {
            Found::Refused(why) => Found::Refused(why),
            _ => unavailable(&error.to_string()),
        },
        _ => unavailable(&error.to_string()),
    }
}

/// A file is definitively missing if what is missing on the way to it is inside an allowed folder: the
/// project it belonged to may be gone. If the allowed folder itself is, a disk may not be mounted; and
/// the same if the way ends in a symbolic link, because where that leads a disk may not be either.
fn absent(place: &Path, folders: &Folders) -> Found {
    let mut way = place.to_owned();
    for hop in 0..LINKS {
        let (reached, beyond) = match reach(&way) {
            Ok(reached) => reached,
            Err(error) => return unavailable(&error.to_string()),
        };
        let mut names = beyond.components();
        let Some(first) = names.next() else {
            return unavailable("it was just replaced");
        };
        if let Ok(target) = fs::read_link(reached.join(first)) {
            // An allowed folder may be a link itself, or lie behind one.
            if let Some(away) = folders.away(&way) {
                return away;
            }
            way = reached.join(target).join(names.as_path());
            continue;
        }
        return match folders.absent(&way, &reached) {
            Found::Missing if hop > 0 => unavailable("a symbolic link leads nowhere"),
            found => found,
        };
    }
    unavailable("too many symbolic links")
}

/// The deepest place on a way that there is, without symbolic links, and what is left of the way.
fn reach(way: &Path) -> io::Result<(PathBuf, &Path)> {
    for ancestor in way.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(reached) => return Ok((reached, way.strip_prefix(ancestor).unwrap_or(way))),
            Err(error) if is_absence(&error) || error.kind() == io::ErrorKind::InvalidFilename => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}
