//! JSON, as little of it as a guest needs: a general library would be a third of the component.

mod read;
#[cfg(test)]
pub(crate) mod tests;
mod write;

pub use read::{Malformed, Members, Value, read};
pub use write::{Writer, object, text, value};
