//! The registry of the generators that this process has open: one for each key of settings.

use crate::config::surroundings::surroundings;
use crate::os::env::{self, Env, FileId};
use crate::os::mutex::{PollSleep, lock_signal_safe};
use crate::os::{self, PerProcess};
use crate::snowflake::generator::Generator;
use crate::snowflake::renewal_log::RenewalLog;
use crate::storage::state_file::{check_root, failed};
use crate::tasks::interrupt::{self, Interrupted};
use crate::tasks::renewal_timer::RenewalTimer;
use crate::tasks::with_timeout::{self, CLOSE_WAITS, Timed};
use crate::worker::acquire::{self, Acquired, return_grant, uses_leases};
use crate::worker::claim::{self, Claim, ClaimContext};
use crate::worker::settings::{Key, SnowflakeSettings};
use crate::worker::worker_ids::WorkerIds;
use leafid_core::options::deployment::{self, FilesystemKind, RangePlace};
use leafid_core::options::{WorkerRange, check_clock};
use leafid_core::{Code, Error, OnExhausted, Result};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// If a leased worker id is held on this host, an opening tries this number of ids before it fails.
const MOST_HELD_HERE: usize = 8;

static REGISTRY: PerProcess<Registry> = PerProcess::new();

/// The generators that this process has open. A forked child starts with none.
pub(crate) struct Registry {
    env: Arc<Env>,
    entries: Mutex<Vec<Entry>>,
    pub(crate) renewer: Arc<RenewalTimer>,
    /// The generation of its process.
    generation: u64,
}

struct Entry {
    directory: FileId,
    key: Key,
    state: EntryState,
}

enum EntryState {
    /// A claim or a close is running: other threads wait.
    Busy,
    Open {
        generator: Arc<Generator>,
        handles: usize,
    },
}

/// This process's registry.
pub(crate) fn registry() -> &'static Registry {
    // The value of a static is never dropped.
    REGISTRY.get_or_install(|| Registry {
        renewer: Arc::clone(RenewalTimer::of_process()),
        ..Registry::new(Arc::clone(env::of_process()))
    })
}

/// This process's registry, if it has one.
pub(crate) fn existing_registry() -> Option<&'static Registry> {
    REGISTRY.get()
}

impl Registry {
    pub(crate) fn new(env: Arc<Env>) -> Registry {
        Registry {
            env,
            entries: Mutex::new(Vec::new()),
            renewer: Arc::new(RenewalTimer::new()),
            generation: os::process::generation(),
        }
    }

    /// The generator of these settings, with one more handle. If this process has none, claims a worker id. `parents`
    /// is the worker id of the process from which this one was forked, if it had one.
    pub(crate) fn open(
        &self,
        settings: &Arc<SnowflakeSettings>,
        parents: Option<u32>,
        interrupted: Interrupted<'_>,
    ) -> Result<Arc<Generator>> {
        check_clock(&settings.key.space.layout, self.env.built_ms, self.env.clock.filtered_ms())?;
        if parents.is_some() && settings.key.persist {
            check_root(settings.root, &settings.directory)?;
        }
        let (directory, forgets) = self.place(settings)?;
        // The time limit of other threads that wait for this opening: the worker id source is called, then the disk.
        let rules = if forgets { settings.key.space.rules.never_ahead() } else { settings.key.space.rules };
        let inherited = parents.is_some();
        let bound = settings.timeout * 2 + claim::bound(settings, &rules, inherited);
        let deadline = Instant::now() + bound.max(CLOSE_WAITS);
        let mut pause = PollSleep::new();
        loop {
            let found = self.locked(|entries| {
                let found = entries.iter_mut().find(|e| e.directory == directory && e.key == settings.key);
                match found.map(|entry| &mut entry.state) {
                    Some(EntryState::Open { generator, handles }) => {
                        *handles += 1;
                        *generator = Arc::clone(generator.newest());
                        Lookup::Open(Arc::clone(generator))
                    }
                    Some(EntryState::Busy) => Lookup::Busy,
                    None => {
                        entries.push(Entry { directory, key: settings.key.clone(), state: EntryState::Busy });
                        Lookup::Ours
                    }
                }
            });
            match found {
                Some(Lookup::Open(generator)) => return Ok(generator),
                Some(Lookup::Ours) => break,
                Some(Lookup::Busy) if pause.until(deadline) => {}
                // Or it is the parent's entry, in a forked child: the caller notices that.
                Some(Lookup::Busy) | None => {
                    let message = "another thread is opening or closing this generator and its disk does not \
                                   answer; try again, or see the state directory's disk";
                    return Err(Error::new(Code::StateIo, message));
                }
            }
        }
        // Its drop removes the entry, also after a panic, unless the claim succeeds.
        let busy = BusyEntry { registry: self, directory, key: &settings.key };
        let (begun, mut tries) = (Instant::now(), 0);
        let (context, claim) = loop {
            let acquired = acquire::acquire(&self.env, settings, parents, interrupted)?;
            let context = ClaimContext { rules, floor: 0, acquired, forgets, inherited };
            tries += 1;
            match self.claim(settings, context.clone(), interrupted) {
                Ok(claim) => break (context, claim),
                Err(error) => {
                    let grant = context.acquired.into_grant();
                    match acquire::is_held_here(&self.env, settings, grant.as_ref(), &error) {
                        true if tries < MOST_HELD_HERE && begun.elapsed() < settings.timeout => continue,
                        true => {}
                        false => return_grant(grant, settings),
                    }
                    return Err(error);
                }
            }
        };
        let leased = claim.lease.is_some();
        let context = ClaimContext { acquired: Acquired::Nothing, ..context };
        let (env, renewer) = (Arc::clone(&self.env), Arc::clone(&self.renewer));
        let generator = Arc::new(Generator::new(
            env,
            renewer,
            Arc::clone(settings),
            context,
            claim,
            RenewalLog::default(),
            0,
        ));
        generator.cache_lease_within(settings.disk_bound());
        busy.becomes(EntryState::Open { generator: Arc::clone(&generator), handles: 1 });
        if leased {
            // A lease ends by itself, also before the first id.
            self.renewer.schedule(&generator, true);
        }
        Ok(generator)
    }

    /// Creates or finds the directory, on its own thread, because the disk may hang. Returns the identity of the
    /// directory, and whether its records may be lost at the next start.
    fn place(&self, settings: &Arc<SnowflakeSettings>) -> Result<(FileId, bool)> {
        if !settings.key.persist {
            return Ok((FileId::default(), !uses_leases(settings)));
        }
        let bound = settings.disk_bound();
        let (env, wanted) = (Arc::clone(&self.env), Arc::clone(settings));
        let found =
            with_timeout::run(bound, move || env.disk.directory(&wanted.directory, wanted.sharing.access()));
        let found = found.done().ok_or_else(|| no_answer(settings, bound))?;
        let path = &settings.directory;
        let (id, system) = found.map_err(|error| failed("make or open", path, &error))?;
        deployment::refuse_network(&system, path.display(), settings.sharing.fs, deployment::LOCAL_STATE)?;
        let surroundings = surroundings();
        let fixed = match settings.key.workers {
            WorkerIds::Within(WorkerRange { first, last, by_hostname: false }) if first != last => {
                let (scope, exclusive) = (self.env.disk.scope(), settings.exclusive_range);
                let (path, named) = (&path.display(), settings.named);
                RangePlace { fs: &system, path, named, surroundings, scope, exclusive }.refuse()?;
                None
            }
            WorkerIds::Within(WorkerRange { first, by_hostname: false, .. }) => Some(first),
            _ => None,
        };
        let forgets = system.kind == FilesystemKind::Ephemeral && !uses_leases(settings);
        if forgets && settings.key.space.rules.on_exhausted == OnExhausted::Borrow {
            let allowed = format!(
                "\"wait\" with records on {}, which may not outlive this container: ids never run ahead of the clock",
                system.name
            );
            return Err(Error::invalid("on_exhausted", "\"borrow\"", &allowed));
        }
        let warning = deployment::warning(&system, path.display(), settings.named, surroundings, fixed);
        if let Some(warning) = warning {
            log::warn!("leafid: {warning}");
        }
        Ok((id, forgets))
    }

    /// Claims on its own thread. If the caller was interrupted before, the claim is released at once.
    fn claim(
        &self,
        settings: &Arc<SnowflakeSettings>,
        context: ClaimContext,
        interrupted: Interrupted<'_>,
    ) -> Result<Claim> {
        let bound = claim::bound(settings, &context.rules, context.inherited);
        let (env, wanted) = (Arc::clone(&self.env), Arc::clone(settings));
        let claim = move || claim::claim(&env, &wanted, &context);
        match with_timeout::run_unless(bound, os::ThreadKind::Internal, interrupted, claim) {
            Timed::Interrupted => Err(interrupt::interrupted()),
            claimed => claimed.done().ok_or_else(|| no_answer(settings, bound))?,
        }
    }

    /// Removes one handle. The last one closes the generator.
    pub(crate) fn close(&self, generator: &Arc<Generator>) -> Result<()> {
        let last = self.locked(|entries| {
            let this =
                |e: &&mut Entry| matches!(&e.state, EntryState::Open { generator: l, .. } if l.is_same(generator));
            let entry = entries.iter_mut().find(this)?;
            if let EntryState::Open { handles, .. } = &mut entry.state
                && *handles > 1
            {
                *handles -= 1;
                return None;
            }
            entry.state = EntryState::Busy;
            Some((entry.directory, entry.key.clone()))
        });
        let Some((directory, key)) = last.flatten() else { return Ok(()) };
        let _busy = BusyEntry { registry: self, directory, key: &key };
        let deadline = Instant::now() + CLOSE_WAITS;
        let closed = generator.shut(CLOSE_WAITS);
        if let Some(source) = generator.settings.key.workers.source() {
            source.end_calls();
        }
        self.renewer.forget(generator.newest().as_ref(), deadline.saturating_duration_since(Instant::now()));
        closed
    }

    /// The number of handles that share this generator.
    pub(crate) fn handles(&self, generator: &Arc<Generator>) -> usize {
        let count = self.locked(|entries| {
            let counts = entries.iter().filter_map(|entry| match &entry.state {
                EntryState::Open { generator: l, handles } if l.is_same(generator) => Some(*handles),
                _ => None,
            });
            counts.sum()
        });
        count.unwrap_or(0)
    }

    /// The open generators, each with the number of its handles.
    pub(crate) fn open_generators(&self) -> Vec<(Arc<Generator>, usize)> {
        let open = self.locked(|entries| {
            let open = entries.iter().filter_map(|entry| match &entry.state {
                EntryState::Open { generator, handles } => Some((Arc::clone(generator.newest()), *handles)),
                EntryState::Busy => None,
            });
            open.collect()
        });
        open.unwrap_or_default()
    }

    /// Returns `None` in a forked child.
    fn locked<R>(&self, action: impl FnOnce(&mut Vec<Entry>) -> R) -> Option<R> {
        lock_signal_safe(&self.entries, self.generation, action)
    }
}

/// The entry of a key.
enum Lookup {
    Open(Arc<Generator>),
    Busy,
    /// There is no entry: the caller may claim.
    Ours,
}

fn no_answer(settings: &SnowflakeSettings, waited: Duration) -> Error {
    let directory = settings.directory.display().to_string();
    with_timeout::no_answer(&directory, waited, "see the disk, or raise timeout_ms")
}

/// An entry for which other threads wait.
struct BusyEntry<'a> {
    registry: &'a Registry,
    directory: FileId,
    key: &'a Key,
}

impl BusyEntry<'_> {
    fn becomes(self, state: EntryState) {
        self.registry.locked(|entries| {
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
        self.registry.locked(|entries| {
            entries.retain(|entry| !(matches!(entry.state, EntryState::Busy) && self.is(entry)));
        });
    }
}
