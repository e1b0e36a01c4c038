//! Builds the component and puts it where `plugin.rs` embeds it, so that plain `cargo build`,
//! `cargo test`, `cargo clippy` and `cargo install --path host` work.

#[path = "build/names.rs"]
mod names;
#[path = "build/wiring.rs"]
mod wiring;

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const TARGET: &str = "wasm32-wasip2";
const PROFILE: &str = "guest";

fn main() {
    if let Err(error) = build() {
        for line in error.to_string().lines() {
            println!("cargo::error={line}");
        }
        std::process::exit(1);
    }
}

fn build() -> Result<(), Box<dyn Error>> {
    let host = PathBuf::from(var("CARGO_MANIFEST_DIR")?);
    let root = host.parent().ok_or("the host has no workspace around it")?;
    let out = PathBuf::from(var("OUT_DIR")?);
    for input in ["component/src", "component/Cargo.toml", "wit", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={}", root.join(input).display());
    }
    for input in ["build.rs", "build/names.rs", "build/wiring.rs"] {
        println!("cargo::rerun-if-changed={input}");
    }
    check_target()?;

    let target_dir = target_dir(&out);
    let status = cargo(root, &target_dir)?.status()?;
    if !status.success() {
        return Err(format!("the component does not build for {TARGET}: see above").into());
    }
    embed_vectors(&root.join("tests/vectors"), &out.join("vectors.rs"))?;
    let built = target_dir.join(TARGET).join(PROFILE).join("headsup_component.wasm");
    let core = wiring::shorten(&names::make_readable(&fs::read(built)?)?)?;
    // The same for hosts in other languages, in a place that does not change.
    replace(&target_dir.join("headsup.wasm"), &core)?;
    replace(&out.join("core.wasm"), &core)
}

/// The nested cargo gets nothing of what the outer one was asked for: its flags are for another
/// machine, and its wrapper (clippy, rustdoc) would not make a component.
fn cargo(root: &Path, target_dir: &Path) -> Result<Command, Box<dyn Error>> {
    let mut cargo = Command::new(var("CARGO")?);
    cargo
        .current_dir(root)
        .args(["build", "--package", "headsup-component", "--lib", "--locked"])
        .args(["--target", TARGET, "--profile", PROFILE, "--target-dir"])
        .arg(target_dir);
    for (name, _) in env::vars_os() {
        let inherited = name.to_string_lossy();
        let foreign = ["CARGO_PROFILE_", "CARGO_BUILD_", "CARGO_TARGET_", "CARGO_FEATURE_"];
        if foreign.iter().any(|prefix| inherited.starts_with(prefix)) {
            cargo.env_remove(&name);
        }
    }
    for name in ["RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"] {
        cargo.env_remove(name);
    }
    let mut flags = vec![
        // A component runs where it was linked to run: no function has to work out addresses.
        "-Crelocation-model=static".to_owned(),
        // Addresses and function indices as short as they can be, not padded for a later linking.
        "-Clink-arg=--compress-relocations".to_owned(),
        // A little above the compiler's own 50 for small code: it lets allocations of a known size
        // fold into less than the call that they are otherwise. 1 KB and 2 % of a record's
        // instructions less; above 65 the component grows fast.
        "-Cllvm-args=-inline-threshold=60".to_owned(),
    ];
    // Nobody's folders belong into a published binary.
    flags.push(format!("--remap-path-prefix={}=/headsup", root.display()));
    if let Some(home) = cargo_home() {
        flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    Ok(cargo)
}

/// Says what to do about a missing target, in place of pages of errors about a missing `core`.
fn check_target() -> Result<(), Box<dyn Error>> {
    let output = Command::new(var("RUSTC")?)
        .args(["--print", "target-libdir", "--target", TARGET])
        .output()?;
    let libraries = String::from_utf8(output.stdout)?;
    if output.status.success() && Path::new(libraries.trim()).is_dir() {
        return Ok(());
    }
    Err(format!(
        "the Rust target {TARGET} is not installed, and the component is built for it.\n\
         Install it with: rustup target add {TARGET}"
    )
    .into())
}

/// One folder for all profiles of this workspace, beside theirs: the component is the same in each.
/// Not theirs itself, which the outer cargo has locked.
fn target_dir(out: &Path) -> PathBuf {
    let build = out.ancestors().find(|folder| folder.ends_with("build"));
    let target = build.and_then(Path::parent).and_then(Path::parent);
    target.unwrap_or(out).join(PROFILE)
}

fn cargo_home() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

/// Writes the conformance vectors as a constant: name and text of each file, by name.
fn embed_vectors(folder: &Path, constant: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(format!("there are no conformance vectors in {}", folder.display()).into());
    }
    files.sort();
    let mut text = String::from("/// The files of vectors: name and text, by name.\n");
    text.push_str("pub const VECTORS: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        // Debug form: a literal, whatever the path holds.
        writeln!(text, "    ({name:?}, include_str!({:?})),", file.to_string_lossy())?;
    }
    text.push_str("];\n");
    replace(constant, text.as_bytes())
}

/// Leaves an equal file alone, so that nothing is compiled again because of its date.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    if fs::read(path).is_ok_and(|before| before == bytes) {
        return Ok(());
    }
    Ok(fs::write(path, bytes)?)
}

fn var(name: &str) -> Result<OsString, Box<dyn Error>> {
    env::var_os(name).ok_or_else(|| format!("cargo does not say {name}").into())
}
