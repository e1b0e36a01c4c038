//! The file system that SQLite sees in these tests: the system's own, with each operation on a
//! file of a [`Disk`] passing through that. Shared memory and locks are the system's, and neither
//! fails: they are no disk.
// SQLite's file systems are tables of C functions; there is no safe way to write one. Throughout:
// SQLite gives valid pointers, each file to one thread at a time; the file of the system's own file
// system lies in the same allocation behind ours.
#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr;
use std::sync::Once;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use crate::disk::{Act, Disk};

/// A file: what SQLite knows of it, what it is to us, and behind it the system's own.
#[repr(C)]
struct File {
    base: sqlite3_file,
    /// Absent for a file of no disk.
    tracked: Option<Box<Tracked>>,
}

/// A file of a disk.
struct Tracked {
    disk: Disk,
    path: PathBuf,
    /// Whether the next sync of it syncs its folder as well: SQLite's first of a journal or a log
    /// that it made does.
    names_at_sync: Cell<bool>,
}

const OURS: usize = size_of::<File>().next_multiple_of(16);

/// Makes it the file system of this process.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the system's file system is registered for good, and so is ours: both leak.
        unsafe {
            let system = ffi::sqlite3_vfs_find(ptr::null());
            let ours = Box::leak(Box::new(*system));
            ours.iVersion = 2;
            ours.szOsFile += c_int::try_from(OURS).expect("a small size");
            ours.zName = c"faults".as_ptr();
            ours.pAppData = system.cast();
            ours.pNext = ptr::null_mut();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            ours.xAccess = Some(access);
            ours.xFullPathname = Some(full_pathname);
            assert_eq!(ffi::sqlite3_vfs_register(ours, 1), ffi::SQLITE_OK);
        }
    });
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The system's own file behind ours.
unsafe fn inner(file: *mut sqlite3_file) -> *mut sqlite3_file {
    unsafe { file.cast::<u8>().add(OURS).cast() }
}

/// Calls a method of the system's own file.
macro_rules! pass {
    ($file:expr, $method:ident $(, $argument:expr)*) => {
        {
            let inner = inner($file);
            // The system's own files have all of them.
            match (*(*inner).pMethods).$method {
                Some(method) => method(inner $(, $argument)*),
                None => ffi::SQLITE_MISUSE.into_answer(),
            }
        }
    };
}

/// So that a method without an answer passes as well.
trait Answer<T> {
    fn into_answer(self) -> T;
}
impl Answer<c_int> for c_int {
    fn into_answer(self) -> c_int {
        self
    }
}
impl Answer<()> for c_int {
    fn into_answer(self) {}
}

/// The file of a disk, if it is one.
unsafe fn tracked<'a>(file: *mut sqlite3_file) -> Option<&'a Tracked> {
    unsafe { (*file.cast::<File>()).tracked.as_deref() }
}

/// An operation on a file of a disk, and what the disk remembers of it once it is done.
unsafe fn on_disk(
    file: *mut sqlite3_file,
    act: Act,
    operation: impl FnOnce() -> c_int,
    done: impl FnOnce(&Tracked),
) -> c_int {
    let Some(tracked) = (unsafe { tracked(file) }) else { return operation() };
    if let Err(code) = tracked.disk.act(act) {
        return code;
    }
    let code = operation();
    if code == ffi::SQLITE_OK {
        done(tracked);
    }
    code
}

unsafe fn system(vfs: *mut sqlite3_vfs) -> *mut sqlite3_vfs {
    unsafe { (*vfs).pAppData.cast() }
}

unsafe fn path_of(name: *const c_char) -> Option<PathBuf> {
    let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })?;
    Some(PathBuf::from(name.to_str().ok()?))
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    unsafe {
        // SQLite calls no method of a file without any.
        (*file).pMethods = ptr::null();
        let named_later = flags & (ffi::SQLITE_OPEN_WAL | ffi::SQLITE_OPEN_MAIN_JOURNAL) != 0;
        let tracked = path_of(name).and_then(|path| {
            let disk = Disk::holding(&path)?;
            let new = !path.exists();
            Some((Tracked { disk, path, names_at_sync: Cell::new(new && named_later) }, new))
        });
        if let Some((Tracked { disk, .. }, _)) = &tracked
            && let Err(code) = disk.act(Act::Open)
        {
            return code;
        }
        let system = system(vfs);
        let Some(open) = (*system).xOpen else { return ffi::SQLITE_MISUSE };
        let code = open(system, name, inner(file), flags, out_flags);
        if code == ffi::SQLITE_OK {
            let tracked = tracked.map(|(tracked, new)| {
                tracked.disk.opened(&tracked.path, new);
                Box::new(tracked)
            });
            ptr::write(&raw mut (*file.cast::<File>()).tracked, tracked);
            (*file).pMethods = &raw const METHODS;
        }
        code
    }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = pass!(file, xClose);
    unsafe { ptr::drop_in_place(&raw mut (*file.cast::<File>()).tracked) };
    code
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    unsafe { on_disk(file, Act::Read, || pass!(file, xRead, buffer, length, at), |_| {}) }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    buffer: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    unsafe {
        let bytes = std::slice::from_raw_parts(buffer.cast(), usize::try_from(length).unwrap_or(0));
        let start = usize::try_from(at).unwrap_or(0);
        let operation = || pass!(file, xWrite, buffer, length, at);
        on_disk(file, Act::Write, operation, |it| it.disk.written(&it.path, start, bytes))
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let length = usize::try_from(size).unwrap_or(0);
    let operation = || pass!(file, xTruncate, size);
    unsafe { on_disk(file, Act::Truncate, operation, |it| it.disk.truncated(&it.path, length)) }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _: c_int) -> c_int {
    // What is durable is ours to say; the real disk need not be bothered.
    let done = |it: &Tracked| {
        it.disk.synced(&it.path);
        if it.names_at_sync.take() {
            it.disk.folder_synced();
        }
    };
    unsafe { on_disk(file, Act::Sync, || ffi::SQLITE_OK, done) }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    unsafe {
        let tracked = path_of(name).and_then(|path| Some((Disk::holding(&path)?, path)));
        if let Some((disk, _)) = &tracked
            && let Err(code) = disk.act(Act::Delete)
        {
            return code;
        }
        let system = system(vfs);
        let code = (*system).xDelete.map_or(ffi::SQLITE_MISUSE, |it| it(system, name, sync));
        if code == ffi::SQLITE_OK
            && let Some((disk, path)) = &tracked
        {
            disk.deleted(path);
            if sync != 0 {
                disk.folder_synced();
            }
        }
        code
    }
}

unsafe extern "C" fn access(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    unsafe {
        let system = system(vfs);
        (*system).xAccess.map_or(ffi::SQLITE_MISUSE, |it| it(system, name, flags, out))
    }
}

unsafe extern "C" fn full_pathname(
    vfs: *mut sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    unsafe {
        let system = system(vfs);
        (*system).xFullPathname.map_or(ffi::SQLITE_MISUSE, |it| it(system, name, room, out))
    }
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    pass!(file, xFileSize, size)
}
unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xLock, level)
}
unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    pass!(file, xUnlock, level)
}
unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    pass!(file, xCheckReservedLock, out)
}
unsafe extern "C" fn file_control(file: *mut sqlite3_file, op: c_int, out: *mut c_void) -> c_int {
    pass!(file, xFileControl, op, out)
}
unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    pass!(file, xSectorSize)
}
unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    pass!(file, xDeviceCharacteristics)
}
unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    pass!(file, xShmMap, page, size, extend, out)
}
unsafe extern "C" fn shm_lock(
    file: *mut sqlite3_file,
    offset: c_int,
    n: c_int,
    flags: c_int,
) -> c_int {
    pass!(file, xShmLock, offset, n, flags)
}
unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    pass!(file, xShmBarrier);
}
unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    pass!(file, xShmUnmap, delete)
}
