//! The generators open in this process: one for the same settings.

use crate::claim::{self, Claim};
use crate::env::{DirectoryId, Env};
use crate::fork::{self, PerProcess};
use crate::live::Live;
use crate::renewer::Renewer;
use crate::settings::{Key, Settings};
use crate::state_file::failed;
use crate::sync::{Pause, locked};
use leafid_core::{Code, Error, Layout, Result};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a close waits for a disk that does not answer.
const CLOSE_WAITS: Duration = Duration::from_secs(2);

static HOST: PerProcess<Host> = PerProcess::new();

/// What this process has open. A forked child begins with nothing.
pub(crate) struct Host {
    env: Arc<Env>,
    entries: Mutex<Vec<Entry>>,
    pub(crate) renewer: Arc<Renewer>,
    /// The process that it belongs to.
    generation: u64,
}

struct Entry {
    directory: DirectoryId,
    key: Key,
    state: State,
}

enum State {
    /// Being claimed, or being let go: others wait.
    Busy,
    Open {
        live: Arc<Live>,
        handles: usize,
    },
}

/// This process's host.
pub(crate) fn host() -> &'static Host {
    // A static's value is never dropped.
    HOST.get_or_install(|| Host::new(Env::system()))
}

/// This process's host, if it has one.
pub(crate) fn this_host() -> Option<&'static Host> {
    HOST.get()
}

impl Host {
    pub(crate) fn new(env: Env) -> Host {
        Host {
            env: Arc::new(env),
            entries: Mutex::new(Vec::new()),
            renewer: Arc::new(Renewer::new()),
            generation: fork::current(),
        }
    }

    /// The generator of these settings, one handle more; claimed if this process has none.
    pub(crate) fn attach(&self, settings: &Arc<Settings>, inherited: bool) -> Result<Arc<Live>> {
        check_epoch(&settings.key.layout, self.env.clock.believed_ms())?;
        let directory = self.directory(settings)?;
        let deadline = Instant::now() + claim::bound(settings, inherited).max(CLOSE_WAITS);
        let mut pause = Pause::new();
        loop {
            let found = self.locked(|entries| {
                let found = entries.iter_mut().find(|e| e.directory == directory && e.key == settings.key);
                match found.map(|entry| &mut entry.state) {
                    Some(State::Open { live, handles }) => {
                        *handles += 1;
                        Found::Open(Arc::clone(live))
                    }
                    Some(State::Busy) => Found::Busy,
                    None => {
                        entries.push(Entry { directory, key: settings.key.clone(), state: State::Busy });
                        Found::Ours
                    }
                }
            });
            match found {
                Some(Found::Open(live)) => return Ok(live),
                Some(Found::Ours) => break,
                Some(Found::Busy) if pause.until(deadline) => {}
                // Or, in a forked child, the parent's: the caller finds out.
                Some(Found::Busy) | None => {
                    let message = "another thread is opening or closing this generator and its disk does not \
                                   answer; try again, or see the state directory's disk";
                    return Err(Error::new(Code::StateIo, message));
                }
            }
        }
        // Removed again by its drop, unless the claim succeeds: also when it panics.
        let busy = BusyEntry { host: self, directory, key: &settings.key };
        let claim = self.claim(settings, inherited)?;
        let live =
            Arc::new(Live::new(Arc::clone(&self.env), Arc::clone(&self.renewer), settings.key.rules, claim));
        busy.becomes(State::Open { live: Arc::clone(&live), handles: 1 });
        Ok(live)
    }

    /// Makes or finds the directory, on a thread of its own: the disk may hang, the caller may not.
    fn directory(&self, settings: &Arc<Settings>) -> Result<DirectoryId> {
        let bound = claim::disk_bound(settings);
        let (env, wanted) = (Arc::clone(&self.env), Arc::clone(settings));
        let found = fork::bounded(bound, move || env.disk.directory(&wanted.directory));
        let found = found.done().ok_or_else(|| no_answer(settings, bound))?;
        found.map_err(|error| failed("make or open", &settings.directory, &error))
    }

    /// Claims, likewise.
    fn claim(&self, settings: &Arc<Settings>, inherited: bool) -> Result<Claim> {
        let bound = claim::bound(settings, inherited);
        let (env, wanted) = (Arc::clone(&self.env), Arc::clone(settings));
        let claimed = fork::bounded(bound, move || claim::claim(&env, &wanted, inherited));
        claimed.done().ok_or_else(|| no_answer(settings, bound))?
    }

    /// One handle less; the last one closes the generator.
    pub(crate) fn detach(&self, live: &Arc<Live>) -> Result<()> {
        let last = self.locked(|entries| {
            let this =
                |e: &&mut Entry| matches!(&e.state, State::Open { live: l, .. } if Arc::ptr_eq(l, live));
            let entry = entries.iter_mut().find(this)?;
            if let State::Open { handles, .. } = &mut entry.state
                && *handles > 1
            {
                *handles -= 1;
                return None;
            }
            entry.state = State::Busy;
            Some((entry.directory, entry.key.clone()))
        });
        let Some((directory, key)) = last.flatten() else { return Ok(()) };
        let _busy = BusyEntry { host: self, directory, key: &key };
        let deadline = Instant::now() + CLOSE_WAITS;
        let closed = live.shut(CLOSE_WAITS);
        self.renewer.forget(live, deadline.saturating_duration_since(Instant::now()));
        closed
    }

    /// How many handles share this generator.
    pub(crate) fn handles(&self, live: &Arc<Live>) -> usize {
        let count = self.locked(|entries| {
            let counts = entries.iter().filter_map(|entry| match &entry.state {
                State::Open { live: l, handles } if Arc::ptr_eq(l, live) => Some(*handles),
                _ => None,
            });
            counts.sum()
        });
        count.unwrap_or(0)
    }

    /// None in a forked child.
    fn locked<R>(&self, deed: impl FnOnce(&mut Vec<Entry>) -> R) -> Option<R> {
        locked(&self.entries, self.generation, deed)
    }
}

/// What was found under a key.
enum Found {
    Open(Arc<Live>),
    Busy,
    /// Nothing: it is the caller's to claim.
    Ours,
}

fn no_answer(settings: &Settings, waited: Duration) -> Error {
    let message = format!(
        "{} did not answer within {} ms; see the disk, or raise timeout_ms",
        settings.directory.display(),
        waited.as_millis()
    );
    Error::new(Code::StateIo, message)
}

/// An entry that others wait for.
struct BusyEntry<'a> {
    host: &'a Host,
    directory: DirectoryId,
    key: &'a Key,
}

impl BusyEntry<'_> {
    fn becomes(self, state: State) {
        self.host.locked(|entries| {
            if let Some(entry) = entries.iter_mut().find(|entry| self.is(entry)) {
                entry.state = state;
            }
        });
    }

    fn is(&self, entry: &Entry) -> bool {
        entry.directory == self.directory && entry.key == *self.key
    }
}

impl Drop for BusyEntry<'_> {
    fn drop(&mut self) {
        self.host.locked(|entries| {
            entries.retain(|entry| !(matches!(entry.state, State::Busy) && self.is(entry)));
        });
    }
}

/// Errors: an epoch that the clock has not reached.
fn check_epoch(layout: &Layout, now_ms: i64) -> Result<()> {
    if now_ms >= layout.epoch_ms() {
        return Ok(());
    }
    let before = layout.before_epoch(now_ms);
    if Layout::PRESETS.iter().any(|(_, preset)| preset.epoch_ms() == layout.epoch_ms()) {
        return Err(before);
    }
    let allowed = format!("{}, which reads {now_ms}", crate::allowed("epoch_ms"));
    Err(Error::invalid("epoch_ms", layout.epoch_ms(), &allowed))
}
