//! The registry of what this process has open: one driver for each key of settings.

use crate::os::env::{self, Env, FileId};
use crate::os::mutex::{PollSleep, lock_signal_safe};
use crate::os::{self, PerProcess};
use crate::snowflake::driver::Driver;
use crate::snowflake::generator::Generator;
use crate::tasks::interrupt::Interrupted;
use crate::tasks::renewal_timer::RenewalTimer;
use crate::worker::place::place;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::call::CLOSE_WAITS;
use leafid_core::place::Place;
use leafid_core::run::{ProcessLeases, closed};
use leafid_core::{Code, Error, Result};
use std::sync::{Arc, Mutex};
use std::time::Instant;

static REGISTRY: PerProcess<Registry> = PerProcess::new();

/// What this process has open. A forked child starts with nothing.
pub(crate) struct Registry {
    env: Arc<Env>,
    entries: Arc<Mutex<Vec<Entry>>>,
    leases: Arc<Mutex<ProcessLeases>>,
    renewer: Arc<RenewalTimer>,
    /// The generation of its process.
    generation: u64,
}

struct Entry {
    directory: FileId,
    driver: Arc<Driver>,
    /// If it has none, an opening has failed, and what it locked is given back: openings wait.
    handles: usize,
    /// The last handle is being closed: openings wait.
    closing: bool,
}

/// The entry of a key, for an opening.
enum Lookup {
    /// With one handle more, and whether that is the first one.
    Open(Arc<Driver>, bool),
    Busy,
    /// It gives back what a failed opening has locked.
    Left(Arc<Driver>),
    /// It was removed.
    Failed,
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

/// For a process that is about to be copied, after the close of all that it has open: no claim that a lease server did
/// not answer is sent again. Copies that send the same one get one lease.
pub fn forget_unanswered_claims() {
    if let Some(registry) = existing_registry() {
        lock_signal_safe(&registry.leases, registry.generation, ProcessLeases::forget_unanswered);
    }
}

impl Registry {
    pub(crate) fn new(env: Arc<Env>) -> Registry {
        Registry {
            env,
            entries: Arc::default(),
            leases: Arc::default(),
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
    ) -> Result<Generator> {
        let (directory, place) = place(&self.env, settings, parents)?;
        let seed = self.env.number()? as u64;
        let began = Instant::now();
        loop {
            let (driver, is_first) = self.driver(settings, directory, &place, seed)?;
            // After a panic too, the entry has one handle less.
            let mut opening = Opening { registry: self, driver: &driver, succeeded: false };
            match driver.open(interrupted) {
                Ok(()) => {}
                // It may be an error of the settings of whoever was first.
                Err(error)
                    if !is_first
                        && error.code() != Code::WouldBlock
                        && driver.is_ours()
                        && began.elapsed() < settings.options.timeout =>
                {
                    continue;
                }
                Err(error) => return Err(error),
            }
            let generator = Generator::of(&driver);
            opening.succeeded = generator.is_some();
            return generator.ok_or_else(closed);
        }
    }

    /// What drives the generator of these settings, with one more handle, and whether this made it.
    fn driver(
        &self,
        settings: &Arc<SnowflakeSettings>,
        directory: FileId,
        place: &Place,
        seed: u64,
    ) -> Result<(Arc<Driver>, bool)> {
        let deadline = Instant::now() + CLOSE_WAITS + settings.disk_bound();
        let mut pause = PollSleep::new();
        let mut helped = false;
        loop {
            let found = self.locked(|entries| {
                let is_its =
                    |entry: &Entry| entry.directory == directory && entry.driver.settings.is_same(settings);
                let at = entries.iter().position(is_its);
                match at.map(|at| (at, &mut entries[at])) {
                    // Who joined a claim that failed leaves, and does not begin another one with its settings.
                    Some((_, entry))
                        if entry.closing || (entry.handles > 0 && entry.driver.claim_failed()) =>
                    {
                        Lookup::Busy
                    }
                    // What is left of it had the settings of another opening.
                    Some((at, entry)) if entry.handles == 0 && entry.driver.has_failed() => {
                        entries.swap_remove(at);
                        Lookup::Failed
                    }
                    Some((_, entry)) if entry.handles == 0 => Lookup::Left(Arc::clone(&entry.driver)),
                    Some((_, entry)) => {
                        entry.handles += 1;
                        Lookup::Open(Arc::clone(&entry.driver), false)
                    }
                    None => {
                        let (env, place) = (&self.env, place.clone());
                        let over = self.when_over();
                        let driver =
                            Driver::new(env, &self.renewer, &self.leases, settings, place, seed, over);
                        let driver = Arc::new(driver);
                        let theirs = Arc::clone(&driver);
                        entries.push(Entry { directory, driver: theirs, handles: 1, closing: false });
                        Lookup::Open(driver, true)
                    }
                }
            });
            match found {
                Some(Lookup::Open(driver, is_first)) => return Ok((driver, is_first)),
                Some(Lookup::Failed) => continue,
                // The thread that drives it may have ended.
                Some(Lookup::Left(driver)) if !helped => {
                    helped = driver.help(deadline.saturating_duration_since(Instant::now()));
                }
                _ => {}
            }
            if !pause.until(deadline) {
                // Or it is the parent's registry, in a forked child: the caller notices that.
                let message = "another thread is opening or closing this generator and its disk does not answer; try \
                               again, or see the state directory's disk";
                return Err(Error::new(Code::StateIo, message));
            }
        }
    }

    /// Removes one handle. The last one closes the generator.
    pub(crate) fn close(&self, driver: &Arc<Driver>) -> Result<()> {
        let is_last = self.locked(|entries| {
            let entry = entries.iter_mut().find(|entry| Arc::ptr_eq(&entry.driver, driver))?;
            if entry.handles > 1 {
                entry.handles -= 1;
                return None;
            }
            entry.closing = true;
            Some(())
        });
        if is_last.flatten().is_none() {
            return Ok(());
        }
        let _closing = Closing { registry: self, driver };
        let deadline = Instant::now() + CLOSE_WAITS;
        let closed = driver.close();
        driver.forget(deadline.saturating_duration_since(Instant::now()));
        closed
    }

    /// The number of handles that share this generator.
    pub(crate) fn handles(&self, driver: &Arc<Driver>) -> usize {
        let count = self.locked(|entries| {
            let entry = entries.iter().find(|entry| Arc::ptr_eq(&entry.driver, driver));
            entry.filter(|entry| !entry.closing).map_or(0, |entry| entry.handles)
        });
        count.unwrap_or(0)
    }

    /// The open generators, each with the number of its handles.
    pub(crate) fn open_generators(&self) -> Vec<(Generator, usize)> {
        let open = self.locked(|entries| {
            let open = entries.iter().filter(|entry| !entry.closing);
            open.map(|entry| (Arc::clone(&entry.driver), entry.handles)).collect::<Vec<_>>()
        });
        let open = open.unwrap_or_default().into_iter();
        open.filter_map(|(driver, handles)| Some((Generator::of(&driver)?, handles))).collect()
    }

    /// What a driver calls whose opening failed, once nothing of it is left: its entry goes, if its caller has left.
    fn when_over(&self) -> Box<dyn Fn(&Driver) + Send + Sync> {
        let (entries, generation) = (Arc::downgrade(&self.entries), self.generation);
        Box::new(move |driver| {
            if let Some(entries) = entries.upgrade() {
                lock_signal_safe(&entries, generation, |entries| remove_if_over(entries, driver));
            }
        })
    }

    /// Returns `None` in a forked child.
    fn locked<R>(&self, action: impl FnOnce(&mut Vec<Entry>) -> R) -> Option<R> {
        lock_signal_safe(&self.entries, self.generation, action)
    }
}

/// A handle that is being opened.
struct Opening<'a> {
    registry: &'a Registry,
    driver: &'a Arc<Driver>,
    succeeded: bool,
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if self.succeeded {
            return;
        }
        self.registry.locked(|entries| {
            let its = |entry: &&mut Entry| Arc::ptr_eq(&entry.driver, self.driver);
            entries.iter_mut().filter(its).for_each(|entry| entry.handles -= 1);
            // While something of it is still undone, the next opening waits for that.
            remove_if_over(entries, self.driver);
        });
    }
}

/// The caller holds the driver: its end must not come under this lock.
fn remove_if_over(entries: &mut Vec<Entry>, driver: &Driver) {
    let is_over = driver.has_failed();
    entries.retain(|entry| !(std::ptr::eq(&*entry.driver, driver) && entry.handles == 0 && is_over));
}

/// An entry for which other threads wait. It goes, also after a panic.
struct Closing<'a> {
    registry: &'a Registry,
    driver: &'a Arc<Driver>,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.registry.locked(|entries| entries.retain(|entry| !Arc::ptr_eq(&entry.driver, self.driver)));
    }
}
