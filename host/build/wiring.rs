//! Shortens the names by which the linker put the component's parts together: a twentieth of the
//! component, said twice each, where it gives to one part what another has. Nobody sees them. Names
//! of functions, and those of the contract, are others and stay.

use std::error::Error;

use wasm_encoder::{Encode, RawSection, Section};
use wasmparser::{
    BinaryReader, ComponentAlias, ComponentAliasSectionReader, ComponentImportSectionReader,
    ComponentInstance, ComponentInstanceSectionReader, ExportSectionReader, ImportSectionReader,
    Instance, InstanceSectionReader,
};

use super::names::{CORE_MODULE, rewrite};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Sections of a component that say names.
const COMPONENT: u8 = 4;
const INSTANCES: u8 = 5;
const ALIASES: u8 = 6;
const IMPORTS: u8 = 10;
const CORE_INSTANCES: u8 = 2;
/// Sections of a core module that do.
const CORE_IMPORTS: u8 = 2;
const CORE_EXPORTS: u8 = 7;

/// The same component with short names where its parts are put together.
pub fn shorten(component: &[u8]) -> Result<Vec<u8>> {
    let mut wiring = Wiring::default();
    rewrite(component, |id, section, out| {
        let data = match id {
            CORE_MODULE => wiring.module(section)?,
            CORE_INSTANCES => wiring.core_instances(section)?,
            COMPONENT => wiring.part(section)?,
            INSTANCES => wiring.instances(section)?,
            ALIASES => wiring.aliases(section)?,
            _ => section.to_vec(),
        };
        RawSection { id, data: &data }.append_to(out);
        Ok(())
    })
}

/// The long names, by the number in the short one.
#[derive(Default)]
struct Wiring<'a>(Vec<&'a str>);

impl<'a> Wiring<'a> {
    /// What a core module has of the contract: interfaces that it imports, functions that it exports.
    fn module(&mut self, module: &'a [u8]) -> Result<Vec<u8>> {
        rewrite(module, |id, section, out| {
            let mut names = Vec::new();
            if id == CORE_IMPORTS {
                let imports = ImportSectionReader::new(BinaryReader::new(section, 0))?;
                for import in imports.into_imports() {
                    names.push(import?.module);
                }
            } else if id == CORE_EXPORTS {
                for export in ExportSectionReader::new(BinaryReader::new(section, 0))? {
                    names.push(export?.name);
                }
            }
            names.retain(|name| is_of_contract(name));
            RawSection { id, data: &self.renamed(section, &names) }.append_to(out);
            Ok(())
        })
    }

    /// The interfaces that a core module is given.
    fn core_instances(&mut self, section: &'a [u8]) -> Result<Vec<u8>> {
        let mut names = Vec::new();
        for instance in InstanceSectionReader::new(BinaryReader::new(section, 0))? {
            if let Instance::Instantiate { args, .. } = instance? {
                names.extend(args.iter().map(|arg| arg.name));
            }
        }
        names.retain(|name| is_of_contract(name));
        Ok(self.renamed(section, &names))
    }

    /// What a component within the component imports.
    fn part(&mut self, component: &'a [u8]) -> Result<Vec<u8>> {
        rewrite(component, |id, section, out| {
            let mut names = Vec::new();
            if id == IMPORTS {
                for import in ComponentImportSectionReader::new(BinaryReader::new(section, 0))? {
                    names.push(import?.name.name);
                }
            }
            RawSection { id, data: &self.renamed(section, &names) }.append_to(out);
            Ok(())
        })
    }

    /// What such a component is given.
    fn instances(&mut self, section: &'a [u8]) -> Result<Vec<u8>> {
        let mut names = Vec::new();
        for instance in ComponentInstanceSectionReader::new(BinaryReader::new(section, 0))? {
            if let ComponentInstance::Instantiate { args, .. } = instance? {
                names.extend(args.iter().map(|arg| arg.name));
            }
        }
        Ok(self.renamed(section, &names))
    }

    /// What is taken of a core module's exports.
    fn aliases(&mut self, section: &'a [u8]) -> Result<Vec<u8>> {
        let mut names = Vec::new();
        for alias in ComponentAliasSectionReader::new(BinaryReader::new(section, 0))? {
            if let ComponentAlias::CoreInstanceExport { name, .. } = alias? {
                names.push(name);
            }
        }
        names.retain(|name| is_of_contract(name));
        Ok(self.renamed(section, &names))
    }

    /// A section with other names in place of these, which stand in it in this order.
    fn renamed(&mut self, section: &[u8], names: &[&'a str]) -> Vec<u8> {
        let mut renamed = Vec::with_capacity(section.len());
        let mut copied = 0;
        for name in names {
            let at = name.as_ptr().addr() - section.as_ptr().addr();
            let mut length = Vec::new();
            name.len().encode(&mut length);
            renamed.extend(&section[copied..at - length.len()]);
            self.short(name).encode(&mut renamed);
            copied = at + name.len();
        }
        renamed.extend(&section[copied..]);
        renamed
    }

    fn short(&mut self, name: &'a str) -> String {
        let number = self.0.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        });
        format!("n{number}")
    }
}

/// Whether a core module has it of the contract, such as `headsup:awareness/wire@0.1.0#call`, and not
/// of the linker.
fn is_of_contract(name: &str) -> bool {
    name.contains('@')
}
