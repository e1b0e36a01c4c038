//! A read of a source, and whether it may be begun beside others.

use std::path::{Path, PathBuf};
use std::slice;

use super::ABREAST;
use crate::contract::{FileRead, Found};
use crate::sources::SourceFiles;

/// While so many reads of one folder have not ended, a round puts others in it off; once these hang,
/// it gives the others up: what holds the folder hangs. No less than [`ABREAST`], for the sake of a
/// folder that holds everything and is well.
const IN_A_FOLDER: usize = ABREAST;

/// What a thread does for a source.
#[derive(Clone, Debug)]
pub(super) enum Read {
    /// For a check.
    On(FileRead),
    /// For an adoption, of the file at this path.
    Ends(String),
}

/// A read beyond its deadline that has not ended.
pub(super) struct Hanging {
    pub(super) places: Vec<String>,
    folder: PathBuf,
}

/// Whether a read may be begun.
pub(super) enum Prospect {
    Now,
    /// Once others in its folder ended.
    Later,
    /// For this reason.
    Never(&'static str),
}

impl Read {
    pub(super) fn run(&self, files: &dyn SourceFiles) -> Found {
        match self {
            Self::On(read) => files.read_on(read),
            Self::Ends(path) => files.read_ends(path),
        }
    }

    pub(super) fn places(&self) -> &[String] {
        match self {
            Self::On(read) => &read.places,
            Self::Ends(path) => slice::from_ref(path),
        }
    }

    fn folder(&self) -> &Path {
        let place = self.places().first();
        place.and_then(|place| Path::new(place).parent()).unwrap_or(Path::new(""))
    }

    /// Whether it may be begun beside reads that hang and those of its round that run.
    pub(super) fn prospect<'a>(
        &self,
        hanging: impl Iterator<Item = &'a Hanging>,
        running: impl Iterator<Item = &'a Self>,
    ) -> Prospect {
        // Compared as it is written: cheaper, and there may be many.
        let folder = self.folder().as_os_str();
        let mut neighbours = 0;
        for other in hanging {
            if other.places == self.places() {
                return Prospect::Never("an earlier read of it still hangs");
            }
            neighbours += usize::from(other.folder.as_os_str() == folder);
        }
        if neighbours >= IN_A_FOLDER {
            return Prospect::Never("reads of other files in its folder hang");
        }
        neighbours += running.filter(|other| other.folder().as_os_str() == folder).count();
        if neighbours >= IN_A_FOLDER { Prospect::Later } else { Prospect::Now }
    }
}

impl Hanging {
    pub(super) fn of(read: &Read) -> Self {
        Self { places: read.places().to_vec(), folder: read.folder().to_owned() }
    }
}
