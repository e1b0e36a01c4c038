//! `headsup plugin new NAME`: the crate of `bindings/plugin-template`, under another name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::cli::failure::Failure;
use crate::cli::output::{Output, STRONG, styled};

pub const HELP: &str = "\
Writes a crate that builds a core of your own: the built-in one with one rule
changed, for you to change another. It reuses the logic, so that it holds for
typed calls and JSON alike; `Rules` in component/src/rules.rs has the rules.
The folder must not exist yet. --db, --plugin and --manual-clock change nothing
here.

Exit status:
  0  the crate was written
  1  it was not, and why is said
  2  wrong usage, such as a name that no crate can have

Environment:
  HEADSUP_CONFIG, HEADSUP_LOG
         the options --config and --log, where they are not given

Example:
  headsup plugin new quiet-plans";

/// The files of the template: where they stand in the crate, and their text.
const FILES: [(&str, &str); 5] = [
    ("Cargo.toml", include_str!("../../../../bindings/plugin-template/Cargo.toml")),
    ("Cargo.lock", include_str!("../../../../bindings/plugin-template/Cargo.lock")),
    ("README.md", include_str!("../../../../bindings/plugin-template/README.md")),
    (".gitignore", include_str!("../../../../bindings/plugin-template/.gitignore")),
    ("src/lib.rs", include_str!("../../../../bindings/plugin-template/src/lib.rs")),
];
/// What the template is called in them, as a crate and as a file of it.
const TEMPLATE: [&str; 2] = ["plugin-template", "plugin_template"];
/// How the template names the logic's folder.
const CORE: &str = "\"../../component\"";
/// That folder where headsup was built.
const BUILT_FROM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../component");

/// The longest name, in bytes: a core's is shown in tables.
const LONGEST: usize = 64;
/// Names that Rust, Cargo or this crate's own dependency have already.
const TAKEN: [&str; 60] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "build",
    "const",
    "continue",
    "core",
    "crate",
    "deps",
    "do",
    "dyn",
    "else",
    "enum",
    "examples",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "headsup-component",
    "if",
    "impl",
    "in",
    "incremental",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
];

/// Which crate, and where.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What the crate and its core are called, such as quiet-plans
    #[arg(value_parser = crate_name)]
    name: String,
    /// The folder to write it to; its name in the current one if not given
    #[arg(long, value_name = "FOLDER")]
    path: Option<PathBuf>,
    /// The folder `component` of a checkout of headsup; of the one that this headsup was built from if not
    /// given
    #[arg(long, value_name = "PATH")]
    core: Option<PathBuf>,
}

/// Writes the crate, and says what to do with it.
pub fn run(arguments: &Arguments, output: &mut Output) -> Result<(), Failure> {
    let Arguments { name, path, core } = arguments;
    let core = logic(core.as_deref())?;
    let folder = path.clone().unwrap_or_else(|| PathBuf::from(name));
    write(name, &folder, &core)?;
    let file = format!("target/wasm32-wasip2/release/{}.wasm", name.replace('-', "_"));
    let component = shown(&folder.join(file))?;
    let manifest = shown(&folder.join("Cargo.toml"))?;
    output.line(format!("{} is written: src/lib.rs has its rules. Next:", styled(STRONG, name)))?;
    for command in [
        format!("cargo build --release --target wasm32-wasip2 --manifest-path {manifest}"),
        format!("headsup plugin check {component}"),
        format!("headsup serve --stdio --plugin {component}"),
    ] {
        output.line(format!("  {command}"))?;
    }
    Ok(())
}

/// Whether a crate and a core can be called so: kebab-case, and not something else's name.
fn crate_name(given: &str) -> Result<String, String> {
    let starts = |part: &str| part.starts_with(|c: char| c.is_ascii_lowercase());
    let ends = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let kebab = starts(given) && given.split('-').all(|part| !part.is_empty() && ends(part));
    if !kebab || given.len() > LONGEST {
        return Err(format!(
            "a name is at most {LONGEST} of a-z, 0-9 and single dashes, starting with a letter"
        ));
    }
    if TAKEN.contains(&given) {
        return Err("Rust or Cargo need this name themselves; give another".to_owned());
    }
    Ok(given.to_owned())
}

/// The folder of the logic, in full.
fn logic(given: Option<&Path>) -> Result<String, Failure> {
    let folder = given.unwrap_or(Path::new(BUILT_FROM));
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    if !manifest.lines().any(|line| line == "name = \"headsup-component\"") {
        let (shown, hint) = (folder.display(), "the folder `component` of a checkout of headsup");
        return Err(match given {
            Some(_) => anyhow::anyhow!("--core: {shown} is not {hint}"),
            None => anyhow::anyhow!(
                "the checkout that this headsup was built from is not at {shown} any more: give {hint} with \
                 --core PATH"
            ),
        }
        .into());
    }
    let folder = folder.canonicalize().with_context(|| folder.display().to_string())?;
    let folder = folder.to_str().context("--core: the path is not Unicode, as Cargo needs it")?;
    Ok(folder.to_owned())
}

fn write(name: &str, folder: &Path, core: &str) -> Result<(), Failure> {
    let unwritten = || format!("{} cannot be written", folder.display());
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent).with_context(unwritten)?;
    }
    // Fails where there is anything of this name already, so that nothing is ever overwritten.
    fs::create_dir(folder).with_context(unwritten)?;
    fs::create_dir(folder.join("src")).with_context(unwritten)?;
    // What JSON escapes TOML escapes alike.
    let core = serde_json::Value::from(core).to_string();
    let [as_crate, as_file] = TEMPLATE;
    for (file, text) in FILES {
        let text = text
            .replace(as_crate, name)
            .replace(as_file, &name.replace('-', "_"))
            .replace(CORE, &core);
        fs::write(folder.join(file), text).with_context(unwritten)?;
    }
    Ok(())
}

/// A path as a shell takes it.
fn shown(path: &Path) -> Result<String, Failure> {
    let path = path.to_str().context("--path is not Unicode, as Cargo needs it")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:\\".contains(c);
    if path.chars().all(plain) {
        return Ok(path.to_owned());
    }
    Ok(format!("'{}'", path.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_a_crate_can_have() {
        for name in ["a", "quiet-plans", "core2", "x-1-y"] {
            assert_eq!(crate_name(name).as_deref(), Ok(name));
        }
        let long = "a".repeat(LONGEST + 1);
        for name in
            ["", "-", "-a", "a-", "a--b", "A", "1a", "a_b", "a b", "../a", "é", "core", &long]
        {
            assert!(crate_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn names_that_are_taken_are_listed_in_order() {
        assert!(TAKEN.is_sorted());
    }

    #[test]
    fn the_template_names_itself_and_the_logic_where_it_is_replaced() {
        let [(_, manifest), (_, lock), (_, readme), ..] = FILES;
        assert!(manifest.contains(CORE));
        for text in [manifest, lock, readme] {
            assert!(text.contains(TEMPLATE[0]));
        }
    }

    #[test]
    fn a_path_is_quoted_where_a_shell_would_take_it_apart() {
        assert_eq!(shown(Path::new("my/core")).ok().as_deref(), Some("my/core"));
        assert_eq!(shown(Path::new("my core's")).ok().as_deref(), Some(r"'my core'\''s'"));
    }
}
