//! What the model does not know: adopted sessions, as plainly as section 9 can be said where no two
//! rows are of the same time.

use headsup::{
    Actor, ActorType, Adoption, DirectMessage, Happening, Recording, Session, SessionRef, Signal,
    Tally,
};

use crate::disk::{Disk, Row};
use crate::model::Model;

/// The catalog of all adoptions.
pub const CATALOG: &str = "claude";

/// Definitive misses in a row after which a source is gone.
const MISSES: u32 = 3;

/// The links of all adopted sessions.
#[derive(Default)]
pub struct Links {
    links: Vec<Link>,
}

struct Link {
    session: Session,
    file: usize,
    /// The newest time that was passed.
    newest: u64,
    misses: u32,
}

fn newest(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.at).max().unwrap_or(0)
}

fn event(session: &Session, happening: Happening, type_: ActorType) -> Signal {
    Signal {
        session: SessionRef::new(&session.key, &session.agent),
        happening,
        actor: Actor { type_, id: None },
        session_id: None,
        run_id: None,
        occurred_at: None,
        dedupe_key: None,
        watchers: Vec::new(),
    }
}

impl Links {
    /// Adopts a session from a file that is there. Whether a link was made, and the version.
    pub fn adopt(
        &mut self,
        model: &mut Model,
        session: &Session,
        file: usize,
        rows: &[Row],
    ) -> (bool, u64) {
        let version = model.version(session).unwrap_or(0);
        if let Some(link) = self.links.iter_mut().find(|it| it.session == *session) {
            link.misses = 0;
            if link.file == file {
                return (false, version);
            }
        }
        self.delete(session);
        let session = session.clone();
        let adoption = Adoption { catalog: CATALOG.into(), host: None };
        let signal = event(&session, Happening::Adopted(adoption), ActorType::System);
        self.links.push(Link { session, file, newest: newest(rows), misses: 0 });
        match model.record(&signal) {
            Recording::Recorded(version) => (true, version),
            other => unreachable!("{other:?}"),
        }
    }

    pub fn delete(&mut self, session: &Session) {
        self.links.retain(|it| it.session != *session);
    }

    /// Checks every watched link, of whose files only this one can be read.
    pub fn check(&mut self, model: &mut Model, disk: &Disk, readable: usize) -> Tally {
        let watches = model.watches();
        let mut tally = Tally { checked: 0, activity: 0, missing: 0, failed: 0 };
        // By session key, then agent.
        self.links.sort_by(|one, other| {
            let key = |it: &Link| (it.session.key.clone(), it.session.agent.clone());
            key(one).cmp(&key(other))
        });
        for link in &mut self.links {
            if !watches.iter().any(|it| it.target == link.session) {
                continue;
            }
            tally.checked += 1;
            if link.file != readable {
                tally.failed += 1;
                continue;
            }
            let Some(rows) = disk.rows(link.file) else {
                tally.missing += 1;
                link.misses += 1;
                if link.misses == MISSES {
                    let gone = Happening::UpstreamMissing(CATALOG.into());
                    model.record(&event(&link.session, gone, ActorType::System));
                }
                continue;
            };
            link.misses = 0;
            let fresh: Vec<Row> =
                rows.iter().filter(|row| row.typed && row.at > link.newest).copied().collect();
            link.newest = link.newest.max(newest(&rows));
            if let Some(last) = fresh.last() {
                tally.activity += 1;
                let turns = u32::try_from(fresh.len()).ok();
                let message = DirectMessage { channel: Some(CATALOG.into()), turns };
                let happening = Happening::HumanDirectMessage(message);
                let mut signal = event(&link.session, happening, ActorType::Human);
                signal.occurred_at = i64::try_from(last.at).ok();
                model.record(&signal);
            }
        }
        self.links.retain(|link| link.misses < MISSES);
        tally
    }

    /// Whether this session, or no other, is adopted from the file.
    pub fn may_adopt(&self, session: &Session, file: usize) -> bool {
        !self.links.iter().any(|link| link.file == file && link.session != *session)
    }
}
