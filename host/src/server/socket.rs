//! The file of a Unix socket: this user's alone, one server's at a time, and gone with it.
//!
//! Beside it lies PATH.lock, held by the server that lives there. So a file that a dead process left
//! is told from one that is in use, also while two servers start at once.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixSocket};

use super::error::BindError;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1_024;

/// How often the lock is tried again because its file went away meanwhile.
const ATTEMPTS: usize = 16;

/// The file; removed when this is dropped, unless another one took its place.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
    /// Dropped last, and with it the lock.
    _lock: Lock,
}

#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

/// Listens on a socket at this path.
///
/// Inside a runtime.
pub(super) fn listen(path: &Path) -> Result<(UnixListener, SocketFile), BindError> {
    let failed = |error| BindError::Socket { path: path.display().to_string(), error };
    let lock = lock(path)?;
    remove_stale(path)?;
    let socket = UnixSocket::new_stream().map_err(failed)?;
    socket.bind(path).map_err(failed)?;
    let bound = fs::symlink_metadata(path).map_err(failed)?;
    let file =
        SocketFile { path: path.to_owned(), identity: (bound.dev(), bound.ino()), _lock: lock };
    // Before it listens: nobody connects while the file may still be open to others.
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    let listener = socket.listen(BACKLOG).map_err(failed)?;
    Ok((listener, file))
}

/// Removes what a dead process left; nothing else.
fn remove_stale(path: &Path) -> Result<(), BindError> {
    let name = || path.display().to_string();
    let failed = |error| BindError::Socket { path: name(), error };
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        there => there.map_err(failed)?,
    };
    if !there.file_type().is_socket() {
        return Err(BindError::NoSocket(name()));
    }
    // Another program's may live without a lock of ours.
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
        Ok(_) => Err(BindError::InUse(name())),
    }
}

fn lock(path: &Path) -> Result<Lock, BindError> {
    let mut name = path.to_owned().into_os_string();
    name.push(".lock");
    let lock = PathBuf::from(name);
    let failed = |error| BindError::Socket { path: lock.display().to_string(), error };
    for _ in 0..ATTEMPTS {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600);
        let file = options.open(&lock).map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(BindError::InUse(path.display().to_string()));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
            Ok(()) if is_at(&file, &lock).map_err(failed)? => {
                return Ok(Lock { path: lock, _file: file });
            }
            // Its last owner removed it between the two: what is locked is no file any more.
            Ok(()) => {}
        }
    }
    Err(BindError::InUse(path.display().to_string()))
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|there| (there.dev(), there.ino()) == self.identity);
        if ours {
            // What cannot be removed is stale for the next.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "mine").unwrap();
        assert!(matches!(remove_stale(&path), Err(BindError::NoSocket(_))));
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    #[test]
    fn of_those_who_want_a_path_one_gets_it_and_its_lock_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let held = lock(&path).unwrap();
        assert!(matches!(lock(&path), Err(BindError::InUse(_))));
        drop(held);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(lock(&path).unwrap());
    }
}
