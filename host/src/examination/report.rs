//! What an examination found, in words.

use std::fmt;

use super::contract::Finding;

/// What a step found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The rule does not hold.
    Broken {
        /// What was done and asked.
        asked: String,
        /// What must be.
        must: String,
        /// What was.
        was: String,
    },
    /// Something could not be examined; what, and why.
    Unexamined(String),
}

impl From<Finding> for What {
    fn from(finding: Finding) -> Self {
        match finding {
            Finding::Broken(breach) => {
                Self::Broken { asked: breach.asked, must: breach.must, was: breach.was }
            }
            Finding::Unexamined(why) => Self::Unexamined(why),
        }
    }
}

/// Something that was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What the rule is about, in one word.
    pub subject: String,
    /// The rule.
    pub rule: String,
    /// In which step of the case, counted from 0.
    pub step: u32,
    /// What it is.
    pub what: What,
}

impl Found {
    /// Whether a rule does not hold.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(self.what, What::Broken { .. })
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, rule, step, what } = self;
        match what {
            What::Broken { asked, must, was } => {
                writeln!(f, "{subject}: {rule}")?;
                write!(f, "  step {step}: {asked}\n  must: {must}\n  was:  {was}")
            }
            What::Unexamined(why) => {
                write!(f, "{subject}: {rule}\n  step {step} was not examined: {why}")
            }
        }
    }
}

/// What an examination found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many cases were played.
    pub cases: usize,
    /// In how many of them nothing was found.
    pub passed: usize,
    /// All that was found.
    pub found: Vec<Found>,
}

impl Report {
    pub(super) fn add(&mut self, found: Vec<Found>) {
        self.cases += 1;
        self.passed += usize::from(found.is_empty());
        self.found.extend(found);
    }

    /// Whether there were cases, and no rule was found broken.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.cases > 0 && !self.found.iter().any(Found::is_broken)
    }

    /// Whether everything could be examined, and holds.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.cases > 0 && self.found.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for found in &self.found {
            writeln!(f, "{found}\n")?;
        }
        write!(f, "{} of {} cases passed", self.passed, self.cases)
    }
}
