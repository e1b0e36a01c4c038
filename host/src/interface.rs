//! What a component imports and exports, compared with the contract by name and version. Types
//! are compared by wasmtime when the component is linked and instantiated.

use std::collections::BTreeMap;

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::engine::Engine;
use crate::plugin::{self, Plugin, PluginError};

/// The package whose interfaces make up the contract.
const PACKAGE: &str = "headsup:awareness/";

/// The version of the contract that this host has.
const CONTRACT: &str = "0.1.0";

/// What a core may import of the contract.
const IMPORTS: [&str; 6] = ["types", "sources", "storage", "settings", "queue", "log"];

/// The one interface of WASI that a core may import, and the version this host was built with.
const WALL_CLOCK: (&str, &str) = ("wasi:clocks/wall-clock", "0.2.6");

/// What a core has to export.
const EXPORTS: [&str; 8] = [
    "signals",
    "watches",
    "notices",
    "reconciliation",
    "upstreams",
    "maintenance",
    "wire",
    "plugin",
];

/// Names of interfaces, each with the names of its functions.
pub type Interfaces = BTreeMap<String, Vec<String>>;

/// What a component has on its outside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// What it asks for.
    pub imports: Interfaces,
    /// What it offers.
    pub exports: Interfaces,
}

/// A look at a component, whether it may be loaded or not.
pub struct Inspection {
    /// Its size in bytes.
    pub size: usize,
    /// Its imports and exports.
    pub surface: Surface,
    /// The loaded plugin, or why it may not be loaded.
    pub verdict: Result<Plugin, PluginError>,
}

impl Inspection {
    /// Looks at a component; `name` is for messages.
    ///
    /// # Errors
    /// If the bytes are no component, so that there is nothing to look at.
    pub fn of_bytes(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Self, PluginError> {
        let component = plugin::compile(engine, name, bytes)?;
        Ok(Self {
            size: bytes.len(),
            surface: Surface::of(engine, &component),
            verdict: Plugin::from_component(engine, &component),
        })
    }

    /// Looks at the core that headsup was built with.
    ///
    /// # Errors
    /// If the build is broken.
    pub fn of_built_in(engine: &Engine) -> Result<Self, PluginError> {
        Self::of_bytes(engine, plugin::BUILT_IN_NAME, plugin::BUILT_IN)
    }

    /// Looks at a file.
    ///
    /// # Errors
    /// As [`of_bytes`](Self::of_bytes), or if the file cannot be read.
    pub fn of_file(
        engine: &Engine,
        path: impl AsRef<std::path::Path>,
    ) -> Result<Self, PluginError> {
        let path = path.as_ref();
        Self::of_bytes(engine, &path.display().to_string(), &plugin::read(path)?)
    }
}

impl Surface {
    pub(crate) fn of(engine: &Engine, component: &Component) -> Self {
        let ty = component.component_type();
        let engine = engine.wasmtime();
        let describe = |name: &str, item: &ComponentItem| {
            let functions = match item {
                ComponentItem::ComponentInstance(instance) => instance
                    .exports(engine)
                    .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentFunc(_)))
                    .map(|(name, _)| name.to_owned())
                    .collect(),
                _ => Vec::new(),
            };
            (name.to_owned(), functions)
        };
        Self {
            imports: ty.imports(engine).map(|(name, item)| describe(name, &item.ty)).collect(),
            exports: ty.exports(engine).map(|(name, item)| describe(name, &item.ty)).collect(),
        }
    }
}

/// Whether these imports and exports are a core's.
pub(crate) fn check(surface: &Surface) -> Result<(), PluginError> {
    for import in surface.imports.keys() {
        check_import(import)?;
    }
    for export in EXPORTS {
        let name = format!("{PACKAGE}{export}");
        let mut found = surface.exports.keys().filter_map(|item| split(item));
        match found.find(|(interface, _)| *interface == name) {
            Some((_, version)) => compatible(&name, version, CONTRACT)?,
            None => return Err(PluginError::MissingExport { export: name }),
        }
    }
    // An added interface of the contract's package is a minor change; anything else is foreign.
    match surface.exports.keys().find(|item| !item.starts_with(PACKAGE)) {
        Some(export) => Err(PluginError::ForeignExport { export: export.clone() }),
        None => Ok(()),
    }
}

fn check_import(import: &str) -> Result<(), PluginError> {
    let forbidden = || PluginError::ForbiddenImport { import: import.to_owned() };
    let (interface, version) = split(import).ok_or_else(forbidden)?;
    if interface == WALL_CLOCK.0 {
        return compatible(interface, version, WALL_CLOCK.1);
    }
    match interface.strip_prefix(PACKAGE) {
        Some(name) if IMPORTS.contains(&name) => compatible(interface, version, CONTRACT),
        _ => Err(forbidden()),
    }
}

/// `package:name/interface` and its version.
fn split(item: &str) -> Option<(&str, &str)> {
    item.split_once('@')
}

/// Versions are compatible when their majors are equal, and while those are 0, their minors.
fn compatible(interface: &str, version: &str, offered: &str) -> Result<(), PluginError> {
    let series = |version: &str| {
        let mut numbers = version.split(['.', '-', '+']).map(str::parse::<u64>);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next()?.ok()?;
        Some((major, if major == 0 { minor } else { 0 }))
    };
    // A pre-release promises nothing.
    if !version.contains('-') && series(version).is_some() && series(version) == series(offered) {
        return Ok(());
    }
    Err(PluginError::Incompatible {
        item: format!("{interface}@{version}"),
        offered: format!("{interface}@{offered}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface() -> Surface {
        let names = |list: &[String]| list.iter().map(|name| (name.clone(), Vec::new())).collect();
        let ours = |name: &str| format!("{PACKAGE}{name}@{CONTRACT}");
        let mut imports: Vec<_> = IMPORTS.iter().map(|name| ours(name)).collect();
        imports.push("wasi:clocks/wall-clock@0.2.0".into());
        let exports: Vec<_> = EXPORTS.iter().map(|name| ours(name)).collect();
        Surface { imports: names(&imports), exports: names(&exports) }
    }

    #[test]
    fn the_contract_with_any_0_2_wall_clock_is_accepted() {
        check(&surface()).unwrap();
        let mut newer = surface();
        newer.imports.insert("wasi:clocks/wall-clock@0.2.11".into(), vec![]);
        check(&newer).unwrap();
    }

    /// The names that the world `core` imports or exports, in its order.
    fn of_the_world(word: &str) -> Vec<String> {
        let text = include_str!("../../wit/world.wit");
        let names =
            text.lines().filter_map(|line| line.trim().strip_prefix(word)?.strip_suffix(';'));
        names.filter(|name| !name.contains(':')).map(ToOwned::to_owned).collect()
    }

    #[test]
    fn what_a_core_exports_and_may_import_is_what_the_world_says() {
        assert_eq!(EXPORTS.as_slice(), of_the_world("export "));
        // Those two have types alone, and come with the others.
        let imports = [vec!["types".to_owned(), "sources".to_owned()], of_the_world("import ")];
        assert_eq!(IMPORTS.as_slice(), imports.concat());
    }

    #[test]
    fn the_hosts_in_other_languages_have_the_same_lists() {
        for text in [
            include_str!("../../bindings/python/src/headsup/component/interface.py"),
            include_str!("../../bindings/node/src/core/interface.ts"),
        ] {
            let text = text.replace('\'', "\"");
            for (name, list) in [("EXPORTS", &EXPORTS[..]), ("IMPORTS", &IMPORTS[..])] {
                let (_, rest) = text.split_once(&format!("{name} = ")).expect(name);
                let end = rest.find([')', ']', '}']).expect("the end of the list");
                let quoted: Vec<&str> = rest[..end].split('"').skip(1).step_by(2).collect();
                assert_eq!(quoted, list, "{name}");
            }
        }
    }

    #[test]
    fn any_other_capability_is_refused() {
        for import in [
            "wasi:clocks/monotonic-clock@0.2.6",
            "wasi:filesystem/types@0.2.6",
            "wasi:filesystem/preopens@0.2.0",
            "wasi:sockets/tcp@0.2.6",
            "wasi:sockets/udp@0.2.6",
            "wasi:sockets/network@0.2.6",
            "wasi:sockets/instance-network@0.2.0",
            "wasi:sockets/ip-name-lookup@0.2.6",
            "wasi:http/outgoing-handler@0.2.6",
            "wasi:http/types@0.2.6",
            "wasi:io/streams@0.2.6",
            "wasi:random/random@0.2.6",
            "wasi:cli/environment@0.2.6",
            "headsup:awareness/secrets@0.1.0",
            "plain-function",
        ] {
            let mut surface = surface();
            surface.imports.insert(import.into(), vec![]);
            let error = check(&surface).unwrap_err();
            assert!(matches!(error, PluginError::ForbiddenImport { .. }), "{import}: {error}");
        }
    }

    #[test]
    fn another_minor_of_0_is_incompatible_and_a_patch_is_not() {
        for (version, fits) in [
            ("0.1.7", true),
            ("0.2.0", false),
            ("1.1.0", false),
            ("0.1.0-rc1", false),
            ("x", false),
        ] {
            let mut surface = surface();
            surface.imports.insert(format!("{PACKAGE}storage@{version}"), vec![]);
            assert_eq!(check(&surface).is_ok(), fits, "{version}");
        }
    }

    #[test]
    fn an_interface_that_is_not_exported_is_named() {
        let mut surface = surface();
        surface.exports.remove("headsup:awareness/wire@0.1.0");
        let error = check(&surface).unwrap_err();
        assert!(error.to_string().contains("headsup:awareness/wire"), "{error}");
    }

    #[test]
    fn a_foreign_export_is_refused_and_an_added_interface_is_not() {
        let mut added = surface();
        added.exports.insert("headsup:awareness/upstreams@0.1.1".into(), vec![]);
        check(&added).unwrap();
        added.exports.insert("wasi:cli/run@0.2.6".into(), vec![]);
        assert!(matches!(check(&added), Err(PluginError::ForeignExport { .. })));
    }
}
