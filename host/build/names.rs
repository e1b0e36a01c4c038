//! Makes the names in the component short and readable. The linker keeps each function's name as the
//! compiler mangled it, with a hash that changes with every compiler: half again as long as
//! what a person would call it. Whoever reads a trap wants `record::append`.

use std::error::Error;

use rustc_demangle::demangle;
use wasm_encoder::{NameMap, NameSection, RawSection, Section};
use wasmparser::{BinaryReader, CustomSectionReader, KnownCustom, Name, NameSectionReader};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Sections with names and other things that nothing runs by; modules and components alike.
const CUSTOM: u8 = 0;
/// Where a component holds a module.
pub const CORE_MODULE: u8 = 1;
/// What goes without saying: our own crate, where the generator of bindings puts the contract's
/// interfaces and how it calls what it makes for each function, the contract's package and version,
/// and where the language keeps the end of a value.
const LONG_WINDED: [(&str, &str); 8] = [
    ("headsup_component::", ""),
    ("contract::exports::headsup::awareness::", "exports::"),
    ("contract::headsup::awareness::", "imports::"),
    ("::_export_", "::"),
    ("_cabi", ""),
    ("headsup:awareness/", ""),
    (concat!("@", env!("CARGO_PKG_VERSION"), "#"), "#"),
    ("core::ptr::drop_in_place", "drop_in_place"),
];
/// How many bytes of magic and version precede the first section.
const PREAMBLE: usize = 8;

/// The same component, with its functions' names as people write them. What the component model
/// itself names (instances, types) goes: it is the linker's own numbering, and no trap shows it.
pub fn make_readable(component: &[u8]) -> Result<Vec<u8>> {
    rewrite(component, |id, section, out| {
        match id {
            CORE_MODULE => RawSection { id, data: &module(section)? }.append_to(out),
            CUSTOM if matches!(known(section)?, KnownCustom::ComponentName(_)) => {}
            _ => RawSection { id, data: section }.append_to(out),
        }
        Ok(())
    })
}

fn module(module: &[u8]) -> Result<Vec<u8>> {
    rewrite(module, |id, section, out| {
        match id {
            CUSTOM => match known(section)? {
                KnownCustom::Name(names) => functions(names)?.append_to(out),
                _ => RawSection { id, data: section }.append_to(out),
            },
            _ => RawSection { id, data: section }.append_to(out),
        }
        Ok(())
    })
}

/// The names of the functions alone; those of globals and data say nothing that a trap would show.
fn functions(names: NameSectionReader<'_>) -> Result<NameSection> {
    let mut readable = NameSection::new();
    for subsection in names {
        if let Name::Function(functions) = subsection? {
            let mut map = NameMap::new();
            for function in functions {
                let function = function?;
                map.append(function.index, &readable_name(function.name));
            }
            readable.functions(&map);
        }
    }
    Ok(readable)
}

fn readable_name(mangled: &str) -> String {
    // The alternate form is the one without the hash.
    let mut name = shorten_types(&format!("{:#}", demangle(mangled)));
    for (long, short) in LONG_WINDED {
        name = name.replace(long, short);
    }
    name
}

/// Types without the modules that they are from: `<Fault as From<Error>>::from`. The path of the
/// function itself, outside all angle brackets, stays whole.
fn shorten_types(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    // Where in `short` the path that is being copied began its last step.
    let mut step = 0;
    let mut depth = 0_u32;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::")
            && depth > 0
            && step < short.len()
        {
            short.truncate(step);
            rest = after;
            continue;
        }
        match c {
            '<' => depth += 1,
            '>' if !short.ends_with('-') => depth = depth.saturating_sub(1),
            _ => {}
        }
        short.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            step = short.len();
        }
        rest = &rest[c.len_utf8()..];
    }
    short
}

fn known(custom: &[u8]) -> Result<KnownCustom<'_>> {
    Ok(CustomSectionReader::new(BinaryReader::new(custom, 0))?.as_known())
}

/// Copies a module or a component; `section` writes what becomes of each of its sections.
pub fn rewrite<'b>(
    binary: &'b [u8],
    mut section: impl FnMut(u8, &'b [u8], &mut Vec<u8>) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut reader = BinaryReader::new(binary, 0);
    let mut out = reader.read_bytes(PREAMBLE)?.to_vec();
    while !reader.eof() {
        let id = reader.read_u8()?;
        let size = reader.read_var_u32()?;
        section(id, reader.read_bytes(size as usize)?, &mut out)?;
    }
    Ok(out)
}
