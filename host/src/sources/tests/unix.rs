//! What only Unix has: symbolic links, permissions, pipes.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_link_is_followed_inside_and_refused_where_it_leads_outside() {
    let stage = Stage::new();
    stage.write("allowed/project/a", "inside\n");
    stage.write("outside/secret", "secret\n");
    symlink(stage.path("allowed/project/a"), stage.path("allowed/in")).unwrap();
    symlink(stage.path("outside/secret"), stage.path("allowed/out")).unwrap();
    symlink(stage.path("outside"), stage.path("allowed/folder")).unwrap();
    symlink(stage.path("allowed/project"), stage.path("outside/back")).unwrap();
    assert_eq!(file(stage.read("allowed/in")).bytes, b"inside\n");
    assert_eq!(file(stage.read("outside/back/a")).bytes, b"inside\n");
    for name in ["allowed/out", "allowed/folder/secret", "allowed/folder/none"] {
        let found = stage.read(name);
        assert!(matches!(found, Found::Refused(_) | Found::Unavailable(_)), "{name}: {found:?}");
        assert!(!why(found).contains("secret"), "{name}");
    }
    assert!(matches!(stage.read("allowed/out"), Found::Refused(_)));
}

/// Wherever on the way the link is, and over however many links: a disk may not be mounted where
/// it leads.
#[test]
fn a_link_that_leads_nowhere_is_refused_or_unavailable_and_never_missing() {
    let stage = Stage::new();
    let files = FolderFiles::inside([stage.path("allowed"), stage.path("disk")]);
    fs::create_dir(stage.path("disk")).unwrap();
    let link = |to: &str, name: &str| symlink(stage.path(to), stage.path(name)).unwrap();
    link("allowed/none", "allowed/inside");
    link("disk/project/none", "allowed/other-folder");
    link("disk/project", "allowed/folder");
    link("allowed/inside", "allowed/twice");
    symlink("../disk/none", stage.path("allowed/relative")).unwrap();
    link("outside/none", "allowed/out");
    link("outside/unmounted", "allowed/out-folder");
    link("allowed/out", "allowed/out-twice");
    symlink("../outside/none", stage.path("allowed/out-relative")).unwrap();
    let read = |name: &str| files.read_on(&stage.order(&[name]));
    let inside = [
        "allowed/inside",
        "allowed/other-folder",
        "allowed/folder/a",
        "allowed/folder/deeper/a",
        "allowed/twice",
        "allowed/relative",
    ];
    for name in inside {
        assert_eq!(read(name), unavailable("a symbolic link leads nowhere"), "{name}");
    }
    let outside =
        ["allowed/out", "allowed/out-folder/a", "allowed/out-twice", "allowed/out-relative"];
    for name in outside {
        assert!(matches!(read(name), Found::Refused(_)), "{name}: {:?}", read(name));
    }
    // Nor where the allowed folder itself is away.
    fs::remove_dir(stage.path("disk")).unwrap();
    for name in inside {
        assert!(matches!(read(name), Found::Unavailable(_) | Found::Refused(_)), "{name}");
    }
    assert!(why(read("allowed/other-folder")).contains("disk is not there"));
    link("allowed/loop", "allowed/loop");
    assert!(matches!(read("allowed/loop"), Found::Unavailable(_)));
}

#[test]
fn an_allowed_folder_may_be_a_link_itself() {
    let stage = Stage::new();
    symlink(stage.path("allowed"), stage.path("link")).unwrap();
    stage.write("allowed/a", "x");
    let files = FolderFiles::inside([stage.path("link")]);
    assert_eq!(file(files.read_on(&stage.order(&["link/a"]))).bytes, b"x");
    assert_eq!(file(files.read_on(&stage.order(&["allowed/a"]))).bytes, b"x");
    fs::rename(stage.path("allowed"), stage.path("away")).unwrap();
    assert!(matches!(files.read_on(&stage.order(&["link/a"])), Found::Unavailable(_)));
}

/// Opening one of these would wait for ever, or do something.
#[test]
fn a_pipe_and_a_socket_are_no_files_and_are_never_opened() {
    let stage = Stage::new();
    let pipe = stage.path("allowed/pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(stage.path("allowed/socket")).unwrap();
    assert_eq!(stage.read("allowed/pipe"), Found::Missing);
    assert_eq!(stage.read("allowed/socket"), Found::Missing);
    // Should one take a file's place just then, opening does not wait, and the swap is noticed.
    let opened = system::open(&pipe).unwrap();
    let metadata = opened.metadata().unwrap();
    assert!(!system::same(&metadata, &metadata));
}

#[test]
fn another_file_in_the_place_of_the_one_that_was_looked_at_is_noticed() {
    let stage = Stage::new();
    let path = stage.write("allowed/a", "one");
    let folders = stage.files.folders();
    let located = locate(&path, &folders).ok().unwrap();
    assert!(read_located(&path, &located, WHOLE).unwrap().is_some());
    fs::rename(stage.write("allowed/b", "two"), &path).unwrap();
    assert!(read_located(&path, &located, WHOLE).unwrap().is_none());
    fs::remove_file(&path).unwrap();
    assert!(read_located(&path, &located, WHOLE).unwrap().is_none());
    symlink(stage.write("allowed/b", "two"), &path).unwrap();
    assert!(read_located(&path, &located, WHOLE).unwrap().is_none());
}

#[test]
fn a_folder_that_became_a_link_to_outside_is_noticed() {
    let stage = Stage::new();
    let path = stage.write("allowed/project/a", "one");
    let folders = stage.files.folders();
    let located = locate(&path, &folders).ok().unwrap();
    fs::hard_link(&path, stage.path("outside/a")).unwrap();
    fs::rename(stage.path("allowed/project"), stage.path("allowed/old")).unwrap();
    symlink(stage.path("outside"), stage.path("allowed/project")).unwrap();
    // The very same file, by a way that is not allowed.
    let order = stage.order(&["allowed/project/a"]);
    assert!(read_located(&path, &located, WHOLE).unwrap().is_none());
    assert!(matches!(stage.files.read_on(&order), Found::Refused(_)));
}

/// Nobody but a user without privileges is kept from reading; the system's other failures are
/// told the same way.
#[test]
fn a_file_that_may_not_be_read_is_unavailable_and_not_missing() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let path = stage.write("allowed/a", "secret");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    assert!(why(stage.read("allowed/a")).to_lowercase().contains("permission denied"));
}

#[test]
fn a_name_that_is_too_long_is_no_proof_that_nothing_is_there() {
    let stage = Stage::new();
    let long = "x".repeat(300);
    for name in [format!("allowed/{long}"), format!("allowed/{long}/a")] {
        assert!(matches!(stage.read(&name), Found::Unavailable(_)), "{name}");
    }
    for name in [format!("outside/{long}"), format!("outside/{long}/a"), format!("none/{long}")] {
        assert!(matches!(stage.read(&name), Found::Refused(_)), "{name}");
    }
}
