//! Files as they are met in life: on a real file system, in a folder that is allowed.

#[cfg(unix)]
mod unix;

use std::fs;
use std::path::PathBuf;

use super::window::FURTHEST;
use super::*;

/// The beginning of a file.
const WHOLE: Extent = Extent::On { start: 0, at_most: 1 << 20 };

/// An allowed folder, and everything outside of it.
struct Stage {
    /// Holds both.
    base: tempfile::TempDir,
    files: FolderFiles,
}

impl Stage {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        for folder in ["allowed/project", "outside"] {
            fs::create_dir_all(base.path().join(folder)).unwrap();
        }
        let files = FolderFiles::inside([base.path().join("allowed")]);
        Self { base, files }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Reads all of a file, up to 1 MiB.
    fn read(&self, name: &str) -> Found {
        self.files.read_on(&self.order(&[name]))
    }

    fn order(&self, names: &[&str]) -> FileRead {
        let place = |name: &&str| self.path(name).to_str().unwrap().to_owned();
        let places = names.iter().map(place).collect();
        FileRead { places, start: 0, at_most: 1 << 20, stamp: None }
    }
}

fn file(found: Found) -> FileFound {
    match found {
        Found::File(file) => file,
        other => panic!("{other:?}"),
    }
}

fn why(found: Found) -> String {
    match found {
        Found::Unavailable(why) | Found::Refused(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_is_read_with_what_tells_it_from_others() {
    let stage = Stage::new();
    stage.write("allowed/project/a.jsonl", "one\ntwo\n");
    let order = FileRead { start: 4, ..stage.order(&["allowed/project/a.jsonl"]) };
    let found = file(stage.files.read_on(&order));
    assert_eq!((found.size, found.start), (8, 4));
    assert_eq!((found.head.as_slice(), found.bytes.as_slice()), (&b""[..], &b"two\n"[..]));
    assert!(found.modified_at > 1_600_000_000_000);
    assert!(!found.identity.is_empty() && found.identity.len() <= 128);
    assert!(rested(&stage, &order).stamp.unwrap().len() <= 256);
}

/// What is found of a file once it has a stamp.
fn rested(stage: &Stage, order: &FileRead) -> FileFound {
    loop {
        let found = file(stage.files.read_on(&FileRead { stamp: None, ..order.clone() }));
        if found.stamp.is_some() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_file_that_was_written_to_just_before_has_no_stamp() {
    let stage = Stage::new();
    let path = stage.write("allowed/a", "one\n");
    let metadata = fs::metadata(path).unwrap();
    let written = metadata.modified().unwrap();
    let after = |ms| written + std::time::Duration::from_millis(ms);
    assert_eq!(system::steady_stamp(&metadata, after(10)), None);
    assert!(system::steady_stamp(&metadata, after(2_100)).is_some());
}

#[test]
fn a_file_with_the_stamp_of_the_plan_is_unchanged_and_any_change_changes_the_stamp() {
    let stage = Stage::new();
    let path = stage.write("allowed/a", "one\n");
    let mut order = stage.order(&["allowed/a"]);
    let first = rested(&stage, &order);
    order.stamp.clone_from(&first.stamp);
    assert_eq!(stage.files.read_on(&order), Found::Unchanged);
    let mut appended = fs::OpenOptions::new().append(true).open(&path).unwrap();
    io::Write::write_all(&mut appended, b"two\n").unwrap();
    let grown = file(stage.files.read_on(&order));
    assert_eq!((grown.size, &grown.identity), (8, &first.identity));
    order.stamp = rested(&stage, &order).stamp;
    // A file of the same size and times took its place.
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let other = stage.write("allowed/other", "ONE\nTWO\n");
    fs::File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
    fs::rename(other, &path).unwrap();
    let replaced = file(stage.files.read_on(&order));
    assert_ne!(replaced.identity, first.identity);
    assert_eq!(replaced.bytes, b"ONE\nTWO\n");
}

#[test]
fn the_first_place_is_read_where_a_file_is() {
    let stage = Stage::new();
    stage.write("allowed/archived", "moved\n");
    let both = stage.order(&["allowed/here", "allowed/archived"]);
    assert_eq!(file(stage.files.read_on(&both)).bytes, b"moved\n");
    stage.write("allowed/here", "new\n");
    assert_eq!(file(stage.files.read_on(&both)).bytes, b"new\n");
    assert_eq!(
        stage.files.read_on(&stage.order(&["allowed/no", "allowed/neither"])),
        Found::Missing
    );
    assert_eq!(stage.files.read_on(&stage.order(&[])), Found::Missing);
}

#[test]
fn what_is_missing_is_missing_also_with_the_folder_it_was_in() {
    let stage = Stage::new();
    assert_eq!(stage.read("allowed/project/none"), Found::Missing);
    assert_eq!(stage.read("allowed/gone/deeper/none"), Found::Missing);
    stage.write("allowed/file", "");
    assert_eq!(stage.read("allowed/file/none"), Found::Missing);
    // What is there but is no regular file.
    assert_eq!(stage.read("allowed/project"), Found::Missing);
}

#[test]
fn a_missing_allowed_folder_takes_no_source_away_and_may_come_later() {
    let stage = Stage::new();
    let files = FolderFiles::inside([stage.path("allowed"), stage.path("later")]);
    let order = stage.order(&["later/project/a"]);
    assert!(why(files.read_on(&order)).contains("later is not there"));
    fs::create_dir_all(stage.path("later/project")).unwrap();
    assert_eq!(files.read_on(&order), Found::Missing);
    stage.write("later/project/a", "x");
    assert_eq!(file(files.read_on(&order)).bytes, b"x");
    fs::remove_dir_all(stage.path("later")).unwrap();
    // A file in the folder's place is no folder either.
    stage.write("later", "");
    assert!(matches!(files.read_on(&order), Found::Unavailable(_)));
}

#[test]
fn nothing_outside_of_the_allowed_folders_is_read() {
    let stage = Stage::new();
    stage.write("outside/secret", "secret\n");
    // A name that only begins like an allowed folder's is another one.
    fs::create_dir(stage.path("allowed-not")).unwrap();
    stage.write("allowed-not/secret", "secret\n");
    for name in [
        "outside/secret",
        "outside/none",
        "allowed/../outside/secret",
        "allowed-not/secret",
        "allowed/../none",
    ] {
        let found = stage.read(name);
        assert!(matches!(found, Found::Refused(_)), "{name}: {found:?}");
        let why = why(found);
        assert!(why.contains("outside the folders") && !why.contains("secret"), "{name}: {why}");
    }
    let relative = FileRead { places: vec!["allowed/a".into()], ..stage.order(&[]) };
    assert_eq!(stage.files.read_on(&relative), Found::Refused("the path is not absolute".into()));
    let nothing_allowed = FolderFiles::inside([""; 0]);
    let found = nothing_allowed.read_on(&stage.order(&["outside/secret"]));
    assert!(matches!(found, Found::Refused(_)));
}

#[test]
fn a_reason_is_one_line_within_its_bound() {
    let why = reason(&format!("a\nb{}", "é".repeat(200)));
    assert!(why.len() <= REASON_BYTES && why.starts_with("a bé"), "{why}");
}

#[test]
fn a_file_that_is_shorter_than_asked_gives_what_is_there() {
    let stage = Stage::new();
    let path = stage.write("allowed/a", "0123456789");
    let mut order = stage.order(&["allowed/a"]);
    order.start = 8;
    let found = file(stage.files.read_on(&order));
    assert_eq!(found.bytes, b"89");
    order.start = 11;
    let found = file(stage.files.read_on(&order));
    assert_eq!((found.start, found.bytes.len(), found.size), (11, 0, 10));
    // Cut between looking and reading.
    let open = system::open(&path).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4).unwrap();
    assert_eq!(window::read(&open, 2, 100, 10).unwrap(), b"23");
    // Grown between looking and reading: the rest is the next check's.
    fs::write(&path, "0123456789abcdef").unwrap();
    assert_eq!(window::read(&open, 2, 100, 10).unwrap(), b"23456789");
}

/// From where a file of this text is read that asks for so many bytes before its end.
fn start_before_end(text: &[u8], bytes: u64) -> u64 {
    let stage = Stage::new();
    let open = fs::File::open(stage.write("allowed/a", text)).unwrap();
    window::before_end(&open, bytes, text.len() as u64).unwrap()
}

#[test]
fn reading_before_the_end_goes_back_until_there_is_a_line_feed() {
    assert_eq!(start_before_end(b"0\n2345\n78", 3), 6);
    assert_eq!(start_before_end(b"0\n23456789", 3), 0);
    assert_eq!(start_before_end(b"0123456\n89abcdef", 3), 4);
    assert_eq!(start_before_end(b"\n123456789", 3), 0);
    assert_eq!(start_before_end(b"0123456789", 1), 0);
    assert_eq!(start_before_end(b"", 5), 0);
    assert_eq!(start_before_end(b"12\n", 50), 0);
    let mut long = vec![b'x'; 300_000];
    long[100_000] = b'\n';
    assert_eq!(start_before_end(&long, 70_000), 300_000 - 280_000);
}

#[test]
fn a_line_of_more_than_64_mib_is_looked_for_no_further() {
    let stage = Stage::new();
    let path = stage.write("allowed/a", "x\n");
    // Sparse: the file system makes up the zeros.
    let size = FURTHEST + 10;
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(size).unwrap();
    let found = file(stage.files.read_ends(path.to_str().unwrap()));
    assert_eq!((found.start, found.bytes.len() as u64), (10, FURTHEST));
    assert_eq!(found.head.len(), 1 << 20);
}

#[test]
fn both_ends_of_a_file_are_read_for_an_adoption() {
    let stage = Stage::new();
    let path = stage.write("allowed/a", "one\ntwo\nthr");
    let found = file(stage.files.read_ends(path.to_str().unwrap()));
    assert_eq!(
        (found.start, &found.head, &found.bytes),
        (0, &found.bytes, &b"one\ntwo\nthr".to_vec())
    );
    let mut long = vec![b'x'; 3 << 20];
    long[5] = b'\n';
    long[(2 << 20) - 1] = b'\n';
    stage.write("allowed/a", &long);
    let found = file(stage.files.read_ends(path.to_str().unwrap()));
    // Not in the last MiB, but in the last two.
    assert_eq!((found.start, found.bytes.len()), (1 << 20, 2 << 20));
    assert_eq!(found.head, long[..1 << 20]);
    let outside = stage.files.read_ends(stage.path("outside/none").to_str().unwrap());
    assert!(matches!(outside, Found::Refused(_)));
}
