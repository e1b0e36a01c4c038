//! Where a value stands in a request, for errors that name it.

use alloc::string::String;

use crate::text::{element, joined};

/// A place in a request: `signals[3].actor.id`. It is text only once an error needs it.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    above: Option<&'a Self>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    /// The whole of `params` or of a tool's arguments.
    Whole(&'static str),
    Member(&'a str),
    Element(usize),
}

impl<'a> Place<'a> {
    /// The object that holds all fields. Its name is shown only where it is itself at fault.
    pub const fn whole(name: &'static str) -> Self {
        Self { above: None, step: Step::Whole(name) }
    }

    /// A member of the object here.
    pub const fn member(&'a self, name: &'a str) -> Self {
        Self { above: Some(self), step: Step::Member(name) }
    }

    /// An element of the list here, from 0.
    pub const fn element(&'a self, at: usize) -> Self {
        Self { above: Some(self), step: Step::Element(at) }
    }

    /// The path as the caller would write it.
    pub fn path(&self) -> String {
        let above = self.above.filter(|above| !matches!(above.step, Step::Whole(_)));
        let path = above.map(Self::path).unwrap_or_default();
        match self.step {
            Step::Element(at) => element(&path, at),
            Step::Member(name) if above.is_some() => joined(&[&path, ".", name]),
            Step::Whole(name) | Step::Member(name) => joined(&[name]),
        }
    }
}
