//! Finding a file without opening it: opening a pipe or a device may wait for ever.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::folders::Folders;
use super::{is_absence, refused, unavailable};
use crate::contract::Found;

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
    if is_absence(error) { absent(place, folders) } else { unavailable(&error.to_string()) }
}

/// A file is definitively missing if what is missing on the way to it is inside an allowed folder: the
/// project it belonged to may be gone. If the allowed folder itself is, a disk may not be mounted.
fn absent(place: &Path, folders: &Folders) -> Found {
    let mut first_missing = place;
    for ancestor in place.ancestors().skip(1) {
        match fs::canonicalize(ancestor) {
            Ok(reached) => {
                let dangles = first_missing != place && is_link(first_missing);
                return if dangles {
                    // The same as with a folder that is not mounted.
                    unavailable("a symbolic link on the way leads nowhere")
                } else {
                    folders.absent(place, &reached)
                };
            }
            Err(error) if is_absence(&error) => first_missing = ancestor,
            Err(error) => return unavailable(&error.to_string()),
        }
    }
    unavailable("not even the root of the file system is there")
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}
