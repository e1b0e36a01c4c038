//! The header says what the code says.

use std::path::{Path, PathBuf};

#[test]
fn the_header_is_what_the_code_says() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = crate_folder.join("include/headsup.h");
    let made = made(crate_folder);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&header, made).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&header).unwrap();
    assert!(
        kept == made,
        "the ABI changed: raise HEADSUP_ABI if a program that was built before would break, then \
         write {} anew with UPDATE=1, and say so in the changelog",
        header.display()
    );
}

fn made(crate_folder: &Path) -> String {
    let config = cbindgen::Config::from_file(crate_folder.join("cbindgen.toml")).unwrap();
    let source = |file: &str| -> PathBuf { crate_folder.join("src").join(file) };
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(source("status.rs"))
        .with_src(source("listener.rs"))
        .with_src(source("abi.rs"))
        .generate()
        .unwrap();
    let mut made = Vec::new();
    bindings.write(&mut made);
    String::from_utf8(made).unwrap()
}
