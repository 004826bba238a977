//! The generators open in this process: one for the same settings.

use crate::claim::{Claim, claim};
use crate::env::{DirectoryId, Env};
use crate::fork::{self, Bounded, PerProcess};
use crate::live::Live;
use crate::renewer::Renewer;
use crate::settings::{Key, Settings};
use crate::state_file::failed;
use crate::sync::lock;
use leafid_core::{Code, Error, LONGEST_SPAN_MS, Layout, OnClockBackwards, Result};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a close waits for a disk that does not answer.
const CLOSE_WAITS: Duration = Duration::from_secs(2);

static HOST: PerProcess<Host> = PerProcess::new();

/// What this process has open. A forked child begins with nothing.
pub(crate) struct Host {
    env: Arc<Env>,
    entries: Mutex<Vec<Entry>>,
    changed: Condvar,
    pub(crate) renewer: Arc<Renewer>,
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
            changed: Condvar::new(),
            renewer: Arc::default(),
        }
    }

    /// The generator of these settings, one handle more; claimed if this process has none.
    pub(crate) fn attach(&self, settings: &Arc<Settings>, inherited: bool) -> Result<Arc<Live>> {
        check_epoch(&settings.key.layout, self.env.clock.believed_ms())?;
        let directory = self
            .env
            .disk
            .directory(&settings.directory)
            .map_err(|error| failed("make or open", &settings.directory, &error))?;
        let deadline = Instant::now() + settings.timeout.max(CLOSE_WAITS);
        let mut entries = lock(&self.entries);
        loop {
            let found = entries.iter_mut().find(|e| e.directory == directory && e.key == settings.key);
            match found.map(|entry| &mut entry.state) {
                None => break,
                Some(State::Open { live, handles }) => {
                    *handles += 1;
                    return Ok(Arc::clone(live));
                }
                Some(State::Busy) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        let message = "another thread is opening or closing this generator and its disk does not \
                                       answer; try again, or see the state directory's disk";
                        return Err(Error::new(Code::StateIo, message));
                    }
                    entries = self
                        .changed
                        .wait_timeout(entries, left)
                        .map_or_else(|e| e.into_inner().0, |(e, _)| e);
                }
            }
        }
        entries.push(Entry { directory, key: settings.key.clone(), state: State::Busy });
        drop(entries);
        // Removed again by its drop, unless the claim succeeds: also when it panics.
        let busy = BusyEntry { host: self, directory, key: &settings.key };
        let claim = self.claim(settings, inherited)?;
        let live =
            Arc::new(Live::new(Arc::clone(&self.env), Arc::clone(&self.renewer), settings.key.rules, claim));
        busy.becomes(State::Open { live: Arc::clone(&live), handles: 1 });
        Ok(live)
    }

    /// Claims on a thread of its own: the disk may hang, the caller may not.
    fn claim(&self, settings: &Arc<Settings>, inherited: bool) -> Result<Claim> {
        let waits_ms = match settings.key.rules.on_clock_backwards {
            OnClockBackwards::Wait => LONGEST_SPAN_MS + settings.key.layout.tick_ms(),
            OnClockBackwards::Continue => 0,
        };
        let patience = settings.timeout + Duration::from_millis(waits_ms as u64);
        let (env, wanted) = (Arc::clone(&self.env), Arc::clone(settings));
        match fork::bounded(patience, move || claim(&env, &wanted, inherited)) {
            Bounded::Done(claimed) => claimed,
            Bounded::Late | Bounded::Forked => {
                let message = format!(
                    "{} did not answer within {} ms; see the disk, or raise timeout_ms",
                    settings.directory.display(),
                    patience.as_millis()
                );
                Err(Error::new(Code::StateIo, message))
            }
        }
    }

    /// One handle less; the last one closes the generator.
    pub(crate) fn detach(&self, live: &Arc<Live>) -> Result<()> {
        let mut entries = lock(&self.entries);
        let this =
            |entry: &&mut Entry| matches!(&entry.state, State::Open { live: l, .. } if Arc::ptr_eq(l, live));
        let Some(entry) = entries.iter_mut().find(this) else { return Ok(()) };
        if let State::Open { handles, .. } = &mut entry.state
            && *handles > 1
        {
            *handles -= 1;
            return Ok(());
        }
        entry.state = State::Busy;
        let (directory, key) = (entry.directory, entry.key.clone());
        drop(entries);
        let _busy = BusyEntry { host: self, directory, key: &key };
        let closed = live.shut(CLOSE_WAITS);
        self.renewer.forget(live, CLOSE_WAITS);
        closed
    }

    /// How many handles share this generator.
    pub(crate) fn handles(&self, live: &Arc<Live>) -> usize {
        let entries = lock(&self.entries);
        let counts = entries.iter().filter_map(|entry| match &entry.state {
            State::Open { live: l, handles } if Arc::ptr_eq(l, live) => Some(*handles),
            _ => None,
        });
        counts.sum()
    }
}

/// An entry that others wait for.
struct BusyEntry<'a> {
    host: &'a Host,
    directory: DirectoryId,
    key: &'a Key,
}

impl BusyEntry<'_> {
    fn becomes(self, state: State) {
        let mut entries = lock(&self.host.entries);
        if let Some(entry) = entries.iter_mut().find(|e| e.directory == self.directory && e.key == *self.key)
        {
            entry.state = state;
        }
    }
}

impl Drop for BusyEntry<'_> {
    fn drop(&mut self) {
        let mut entries = lock(&self.host.entries);
        entries.retain(|entry| {
            !(matches!(entry.state, State::Busy)
                && entry.directory == self.directory
                && entry.key == *self.key)
        });
        drop(entries);
        self.host.changed.notify_all();
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
