//! Methods of the JSON surface for which the host does something first: move its clock, read a
//! source, check sources. The core checks the request and words the response.

use std::sync::Arc;

use crate::awareness::Awareness;
use crate::contract::{Core, Errand, ErrandDone, Failure, Selection};
use crate::instance::Guest;
use crate::plugin::Plugin;
use crate::wire::{Answer, checked};

impl Awareness {
    /// Answers such a request, after the errand that the core says.
    pub(crate) fn call_host(&self, plugin: &Plugin, request: &str) -> Option<String> {
        self.answer_host(plugin, request).unwrap_or_else(|failure| self.failed(request, &failure))
    }

    fn answer_host(&self, plugin: &Plugin, request: &str) -> Result<Option<String>, Failure> {
        let errand = self.ask(plugin, |core, guest| {
            let errand = core.headsup_awareness_wire().call_errand_of(guest, request)?;
            if let Err(response) = &errand {
                checked(request, response.as_deref())?;
            }
            Ok(errand)
        })?;
        match errand {
            Ok(errand) => self.respond(plugin, request, self.perform(errand)?),
            Err(response) => Ok(response),
        }
    }

    fn perform(&self, errand: Errand) -> Result<ErrandDone, Failure> {
        match errand {
            Errand::MoveClock(now) => {
                if !self.inner.clock.set(now) {
                    let why = "the clock is the system's: start with a manual clock to move it";
                    return Err(Failure::Unavailable(why.into()));
                }
                self.clock_moved();
                Ok(ErrandDone::ClockMoved)
            }
            Errand::ReadSource(path) => {
                Ok(ErrandDone::SourceRead(path.map(|path| self.inner.checks.read_ends(path))))
            }
            Errand::CheckUpstreams => {
                let inner = Arc::downgrade(&self.inner);
                let tally = self.inner.checks.run(&inner, Selection::All)?;
                Ok(ErrandDone::UpstreamsChecked(tally))
            }
        }
    }

    /// Only an adoption still has something to write.
    fn respond(
        &self,
        plugin: &Plugin,
        request: &str,
        done: ErrandDone,
    ) -> Result<Option<String>, Failure> {
        let answer = if matches!(done, ErrandDone::SourceRead(_)) {
            let request = request.to_owned();
            let body = move |core: &Core, guest: Guest| respond(core, guest, &request, &done);
            let done = self.inner.write(self.inner.limits.long_deadline, body);
            self.inner.courier.deliver(done.effects);
            done.answer?
        } else {
            self.ask(plugin, |core, guest| respond(core, guest, request, &done))?
        };
        let (Ok(response) | Err(response)) = answer;
        Ok(response)
    }

    /// Asks the core outside of any transaction.
    fn ask<T>(
        &self,
        plugin: &Plugin,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        let (answer, effects) = plugin.ask_and_hear(body)?;
        self.inner.courier.deliver(effects);
        Ok(answer)
    }
}

fn respond(core: &Core, guest: Guest, request: &str, done: &ErrandDone) -> Answer {
    let answer = core.headsup_awareness_wire().call_respond(guest, request, done)?;
    let (Ok(response) | Err(response)) = &answer;
    checked(request, response.as_deref())?;
    Ok(answer)
}
