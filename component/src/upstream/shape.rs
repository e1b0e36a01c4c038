//! What a row is taken for: the language in which a source's table of shapes is written. Judging a row
//! is reading its table from top to bottom.

use super::row::{Facts, Field, Flag};

/// A shape that rows have.
pub struct Shape {
    /// What it is called, in kebab-case.
    pub name: &'static str,
    /// Whether a person typed such a row, so that it counts as a turn.
    pub human: bool,
    /// Why that is so, for operators: one sentence.
    pub reason: &'static str,
    /// What holds of such a row; all of it.
    pub when: &'static [Test],
}

/// A question about a row.
pub enum Test {
    /// The member is this word.
    Is(Field, &'static str),
    /// The member is not this word, or not there.
    IsNot(Field, &'static str),
    /// The member is there, and none of these words.
    OtherThan(Field, &'static [&'static str]),
    /// The member is a word, whichever.
    IsWord(Field),
    /// The member is a word that begins so.
    Begins(Field, &'static str),
    /// This holds.
    Has(Flag),
    /// This does not hold.
    Lacks(Flag),
    /// What a person typed begins in one of these ways.
    Opens(&'static [&'static str]),
    /// It is one of these commands.
    Command(&'static [&'static str]),
}

impl Shape {
    /// A shape of rows that a person typed.
    #[must_use]
    pub const fn human(name: &'static str, reason: &'static str, when: &'static [Test]) -> Self {
        Self { name, human: true, reason, when }
    }

    /// A shape of rows that nobody typed, or that are no turn.
    #[must_use]
    pub const fn other(name: &'static str, reason: &'static str, when: &'static [Test]) -> Self {
        Self { name, human: false, reason, when }
    }
}

/// A line that is not one JSON object. It has no facts, and so stands in no table.
pub const NOT_A_ROW: Shape = Shape::other("not-a-row", "the line is not one JSON object", &[]);

/// The shape of a row: the first that it matches, or else the last.
#[must_use]
pub fn of(shapes: &'static [Shape], facts: &Facts) -> &'static Shape {
    let mut last = &NOT_A_ROW;
    for shape in shapes {
        last = shape;
        if shape.when.iter().all(|test| test.holds(facts)) {
            break;
        }
    }
    last
}

impl Test {
    fn holds(&self, facts: &Facts) -> bool {
        match *self {
            Self::Is(field, word) => facts.is(field, word),
            Self::IsNot(field, word) => !facts.is(field, word),
            Self::OtherThan(field, words) => {
                facts.is_there(field) && !words.iter().any(|word| facts.is(field, word))
            }
            Self::IsWord(field) => facts.is_word(field),
            Self::Begins(field, start) => facts.begins(field, start),
            Self::Has(flag) => facts.has(flag),
            Self::Lacks(flag) => !facts.has(flag),
            Self::Opens(starts) => starts.iter().any(|start| facts.opens_with(start)),
            Self::Command(names) => names.iter().any(|name| facts.is_command(name)),
        }
    }
}
