//! A round of checks of adopted sessions: plan, read while no transaction is open, feed. What is read
//! and what it means is the core's business.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::contract::{
    self, Check, Finding, Found, Level, Plan, Reader, Selection, Session, StorageFailure,
    StorageFault, Tally,
};
use crate::inner::Inner;
use crate::sources::{Crew, SourceFiles};
use crate::storage::Store;
use crate::writer::Done;
use crate::{Error, Failure};

/// Most sources in trouble that are remembered; beyond, they are logged once more.
const TROUBLES: usize = 10_000;

/// What reads sources, and what is known of them.
pub(crate) struct Checks {
    crew: Crew,
    /// Sessions whose source could not be read when it was last tried.
    troubled: Mutex<HashSet<Session>>,
}

/// A round that runs. It holds nothing of the store while anybody reads, so that closing the store
/// need not wait for a source.
struct Round<'a> {
    checks: &'a Checks,
    inner: &'a Weak<Inner>,
    tally: Tally,
    /// Those whose source was replaced: their new files are read in this round.
    again: Vec<Session>,
    /// How many findings the core or the store did not take in, and the first of them in words.
    lost: Option<(u32, String)>,
}

impl Checks {
    /// Reads by these means, each source for so long at most.
    pub(crate) fn new(files: Box<dyn SourceFiles>, deadline: Duration) -> Self {
        Self { crew: Crew::new(files, deadline), troubled: Mutex::default() }
    }

    /// Reads both ends of a file that is to be adopted.
    pub(crate) fn read_ends(&self, path: String) -> Found {
        self.crew.read_ends(path)
    }

    /// Ends what runs, without waiting for sources that hang.
    pub(crate) fn stop(&self) {
        self.crew.stop();
    }

    /// Checks these links, and counts: every link that was planned as checked; those that were not
    /// there, for the first or the last time, as missing; those that could not be read, or whose
    /// finding could not be written, as failed. A link that changed meanwhile is checked and no more.
    pub(crate) fn run(&self, inner: &Weak<Inner>, selection: Selection) -> Result<Tally, Failure> {
        let plans = plan(inner, selection)?;
        let tally = Tally { checked: count(plans.len()), activity: 0, missing: 0, failed: 0 };
        let mut round = Round { checks: self, inner, tally, again: Vec::new(), lost: None };
        round.read_and_feed(plans);
        let mut plans = Vec::new();
        for session in std::mem::take(&mut round.again) {
            match plan(inner, Selection::One(session.clone())) {
                Ok(planned) => plans.extend(planned),
                Err(failure) => round.lose(&session, &failure.into()),
            }
        }
        round.read_and_feed(plans);
        round.report();
        Ok(round.tally)
    }

    /// Remembers whether a source can be read. Returns whether that is news.
    fn note(&self, session: &Session, troubled: bool) -> bool {
        let mut known = self.troubled.lock().unwrap_or_else(PoisonError::into_inner);
        if !troubled {
            return known.remove(session);
        }
        if known.len() >= TROUBLES {
            known.clear();
        }
        known.insert(session.clone())
    }
}

impl Round<'_> {
    fn read_and_feed(&mut self, plans: Vec<Plan>) {
        let (mut links, mut reads) = (Vec::with_capacity(plans.len()), Vec::new());
        for Plan { session, revision, file, .. } in plans {
            match file {
                Some(read) => {
                    links.push((session, revision));
                    reads.push(read);
                }
                // Not for a reader of files: nothing that our core plans.
                None => self.tally.failed += 1,
            }
        }
        let checks = self.checks;
        checks.crew.read_on(reads, |number, found| {
            let (session, revision) = &links[number];
            self.take_in(session, *revision, found)
        });
    }

    /// Feeds what was found. Returns whether the store is still open.
    fn take_in(&mut self, session: &Session, revision: u64, found: Found) -> bool {
        let Some(inner) = self.inner.upgrade() else {
            return false;
        };
        let trouble = match &found {
            Found::Unavailable(why) | Found::Refused(why) => Some(why),
            _ => None,
        };
        if self.checks.note(session, trouble.is_some()) {
            let key = &session.key;
            let (level, line) = match trouble {
                Some(why) => (Level::Warn, format!("the source of {key} cannot be read: {why}")),
                None => (Level::Info, format!("the source of {key} can be read again")),
            };
            inner.courier.log(level, &line);
        }
        if found == Found::Unchanged {
            return true;
        }
        match inner.feed(session.clone(), revision, found) {
            Ok(check) => self.count(session, check.finding),
            Err(error) => self.lose(session, &error),
        }
        true
    }

    fn count(&mut self, session: &Session, finding: Finding) {
        match finding {
            Finding::Quiet | Finding::Superseded => {}
            Finding::Activity => self.tally.activity += 1,
            Finding::Missed | Finding::Missing => self.tally.missing += 1,
            Finding::Unavailable => self.tally.failed += 1,
            Finding::Again => self.again.push(session.clone()),
        }
    }

    fn lose(&mut self, session: &Session, error: &Error) {
        self.tally.failed += 1;
        let first = || format!("{} ({}): {error}", session.key, error.reason());
        self.lost.get_or_insert_with(|| (0, first())).0 += 1;
    }

    /// One line, however many findings were lost: most often all for the same reason.
    fn report(&self) {
        if let (Some((lost, first)), Some(inner)) = (&self.lost, self.inner.upgrade()) {
            let line =
                format!("{lost} checks of adopted sessions were lost, first that of {first}");
            inner.courier.log(Level::Warn, &line);
        }
    }
}

/// What to read; nothing if the store was closed.
fn plan(inner: &Weak<Inner>, selection: Selection) -> Result<Vec<Plan>, Failure> {
    let Some(inner) = inner.upgrade() else {
        return Ok(Vec::new());
    };
    let done = inner.plan_checks(selection, Reader::File);
    inner.courier.deliver(done.effects);
    match done.answer? {
        Ok(plans) => Ok(plans),
        Err(contract::Error::Storage(failure)) => Err(Failure::Storage(failure)),
        Err(contract::Error::Invalid(refusal)) => {
            Err(Failure::Trap(format!("it does not plan checks: {}", refusal.message)))
        }
    }
}

impl Inner {
    /// What to read for checks; claims take as long as there are links.
    pub(crate) fn plan_checks(
        &self,
        selection: Selection,
        reader: Reader,
    ) -> Done<Vec<Plan>, contract::Error> {
        self.write(self.limits.long_deadline, move |core, guest| {
            core.headsup_awareness_upstreams().call_plan_checks(guest, &selection, reader)
        })
    }

    /// Takes in what was found, in a transaction of its own.
    pub(crate) fn feed(
        &self,
        session: Session,
        revision: u64,
        found: Found,
    ) -> Result<Check, Error> {
        let done = self.write(self.limits.long_deadline, move |core, guest| {
            core.headsup_awareness_upstreams().call_feed(guest, &session, revision, &found)
        });
        self.courier.deliver(done.effects);
        Ok(done.answer??)
    }

    /// Looks into the store, past the core.
    pub(crate) fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Store) -> Result<T, StorageFailure> + Send + 'static,
    ) -> Result<T, Error> {
        let done = self.read(|_, guest| {
            Ok(guest.data_mut().storage.as_mut().map_or_else(|| Err(no_store()), look))
        });
        done.answer?.map_err(Error::Storage)
    }

    /// Says why nothing was checked.
    pub(crate) fn log_unchecked(&self, error: &Error) {
        let line = format!("no adopted session was checked ({}): {error}", error.reason());
        self.courier.log(Level::Warn, &line);
    }
}

fn no_store() -> StorageFailure {
    StorageFailure { fault: StorageFault::Failed, message: "there is no store to look into".into() }
}

fn count(links: usize) -> u32 {
    u32::try_from(links).unwrap_or(u32::MAX)
}
