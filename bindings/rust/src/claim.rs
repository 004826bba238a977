//! How a process comes to hold a worker id.

use crate::env::{Env, Presence};
use crate::presence;
use crate::settings::Settings;
use crate::slot::Writer;
use crate::state_file::{self, StateFile};
use leafid_core::{
    Admission, Code, Error, LONGEST_SPAN_MS, OnClockBackwards, Record, Result, Span, next_until,
};
use std::time::Duration;

/// A child of a holder that ended keeps copies of its descriptors between fork and exec, which passes within this.
const EXEC: Duration = Duration::from_millis(50);
/// Claims of a range that collide pass within this.
const RACE: Duration = Duration::from_millis(100);
/// A daemon's parent exits within this, and lets its fixed id go.
const PARENT_EXITS: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(3);

/// A worker id that is held, with its first span durable.
pub(crate) struct Claim {
    /// Dropped first: the lock goes before the mark.
    pub(crate) file: StateFile,
    pub(crate) presence: Box<dyn Presence>,
    /// Empty while the record is so far ahead of the clock that no span may be given yet.
    pub(crate) first: Span,
    pub(crate) writer: Writer,
    /// For the generator's random starts.
    pub(crate) seed: u64,
}

/// How long a held worker id is asked for again.
fn patience(settings: &Settings, inherited: bool) -> Duration {
    match (settings.key.workers.is_range(), inherited) {
        (true, _) => RACE,
        (false, true) => PARENT_EXITS,
        (false, false) => EXEC,
    }
}

/// A disk that answers has at least so long to do it, whatever `timeout_ms` says.
const LEAST: Duration = Duration::from_millis(100);

/// How long the disk may take for a deed of an opening.
pub(crate) fn disk_bound(settings: &Settings) -> Duration {
    settings.timeout.max(LEAST)
}

/// How long a claim may last: what it waits for by rule, and the time for the disk.
pub(crate) fn bound(settings: &Settings, inherited: bool) -> Duration {
    let waits_ms = match settings.key.rules.on_clock_backwards {
        OnClockBackwards::Wait => LONGEST_SPAN_MS + settings.key.layout.tick_ms(),
        OnClockBackwards::Continue => 0,
    };
    disk_bound(settings) + patience(settings, inherited) + Duration::from_millis(waits_ms as u64)
}

/// Claims a worker id of the settings. `inherited`: a forked child whose parent held one.
pub(crate) fn claim(env: &Env, settings: &Settings, inherited: bool) -> Result<Claim> {
    let patience = patience(settings, inherited);
    let begun = env.clock.counted();
    loop {
        let last = env.clock.counted() - begun >= patience;
        match any(env, settings, last) {
            Err(error) if error.code() == Code::WorkerInUse && !last => env.clock.sleep(PAUSE),
            done => return done,
        }
    }
}

/// The first id of the range that can be had, those first whose record the clock has passed.
fn any(env: &Env, settings: &Settings, last: bool) -> Result<Claim> {
    let workers = settings.key.workers;
    if !workers.is_range() {
        return one(env, settings, workers.first, last);
    }
    let now_ms = env.clock.believed_ms();
    let mut ahead = Vec::new();
    let mut refusals = Refusals { last, ..Refusals::default() };
    for worker_id in workers.first..=workers.last {
        let until_ms = match state_file::peek(env, &settings.directory, worker_id) {
            Ok(Some(stored)) => {
                let path = state_file::path_of(&settings.directory, worker_id);
                state_file::check_layout(&stored.record, &settings.key, &path)?;
                stored.record.layout.tick_start_ms(stored.record.run.until)
            }
            Ok(None) => 0,
            Err(error) => {
                refusals.add(error)?;
                continue;
            }
        };
        if until_ms > now_ms {
            ahead.push((until_ms, worker_id));
            continue;
        }
        match one(env, settings, worker_id, false) {
            Ok(claim) => return Ok(claim),
            Err(error) => refusals.add(error)?,
        }
    }
    ahead.sort_unstable();
    for (_, worker_id) in ahead {
        match one(env, settings, worker_id, false) {
            Ok(claim) => return Ok(claim),
            Err(error) => refusals.add(error)?,
        }
    }
    Err(refusals.summary(settings))
}

/// Claims this id: marks it on the host, locks its record, admits it, and makes the first span durable.
/// `name_holder`: whether a refusal is to say who holds it, which asks the kernel.
fn one(env: &Env, settings: &Settings, worker_id: u32, name_holder: bool) -> Result<Claim> {
    let key = &settings.key;
    let in_use = |holder: &dyn Fn() -> Option<String>| {
        let holder = if name_holder { holder() } else { None };
        let holder = holder.unwrap_or_else(|| "another process of this host".into());
        let advice = match holder.starts_with(presence::THIS_PROCESS) {
            true => "close that generator, or open this one with the same options to share it",
            false => {
                "end that process, or give each process an id of its own, such as a range \"0-31\" for several processes"
            }
        };
        let path = state_file::path_of(&settings.directory, worker_id);
        let message = format!(
            "worker id {worker_id} of {:?} ({}) is held by {holder}; {advice}",
            key.name,
            path.display()
        );
        Error::new(Code::WorkerInUse, message)
    };
    let recorded = || state_file::recorded_holder(env, &settings.directory, worker_id);
    let marked = || env.disk.holder(&key.name, worker_id).or_else(recorded);
    let presence = env.disk.appear(&key.name, worker_id)?.ok_or_else(|| in_use(&marked))?;
    // Locked but not marked: by a process that sees other marks, as in another container.
    let mut file =
        StateFile::open(env, &settings.directory, key, worker_id)?.ok_or_else(|| in_use(&recorded))?;
    let from = loop {
        match file.record().admit(&key.rules, env.clock.believed_ms()) {
            Admission::From(tick) => break tick,
            // At most the longest span: `admit` refuses what lies further ahead.
            Admission::WaitUntil(ms) => {
                crate::wait::may_wait(
                    settings,
                    Duration::from_millis((ms - env.clock.believed_ms()).max(0) as u64),
                )?;
                let wait_ms = (ms - env.clock.believed_ms()).clamp(1, 100);
                env.clock.sleep(Duration::from_millis(wait_ms as u64));
            }
            Admission::Refused(error) => return Err(error),
        }
    };
    let now_ms = env.clock.believed_ms();
    let burnt = file.record().burnt.clone();
    let until = next_until(&key.layout, &key.rules, &burnt, from, now_ms, 0).unwrap_or(from);
    let random = env.random.number().map_err(|error| {
        Error::new(Code::StateIo, format!("the system gives no random numbers: {error}; try again"))
    })?;
    let first = Span { from, until };
    let writer = state_file::this_process(now_ms);
    let record =
        Record { worker_id, layout: key.layout, run: first, granted_at_ms: now_ms, owner: random, burnt };
    file.write(record, &writer)?;
    log::info!(
        "leafid: state directory {}, worker id {worker_id} of {:?}, layout {}",
        settings.directory.display(),
        key.name,
        key.layout
    );
    Ok(Claim { file, presence, first, writer, seed: (random >> 64) as u64 })
}

/// Why the ids of a range could not be had.
#[derive(Default)]
struct Refusals {
    /// Whether this is the last pass through the range.
    last: bool,
    in_use: usize,
    other: Option<Error>,
}

impl Refusals {
    /// Notes a refusal of one id; errors that hold for all of them end the search.
    fn add(&mut self, error: Error) -> Result<()> {
        match error.code() {
            Code::WorkerInUse => self.in_use += 1,
            Code::StateCorrupt | Code::StateIo | Code::ClockBackwards => {
                // Once a claim, however often it goes through the range.
                if self.last || self.other.is_none() && self.in_use == 0 {
                    log::warn!("leafid: {error}; the next worker id of the range is tried");
                }
                self.other.get_or_insert(error);
            }
            _ => return Err(error),
        }
        Ok(())
    }

    fn summary(self, settings: &Settings) -> Error {
        let workers = settings.key.workers;
        match self.other {
            Some(error) if self.in_use == 0 => error,
            other => {
                let also = other.map(|error| format!("; besides: {}", error.message())).unwrap_or_default();
                let message = format!(
                    "every worker id of {}-{} of {:?} that can be used is held by another process ({} held){also}; \
                     widen the range or end a process",
                    workers.first, workers.last, settings.key.name, self.in_use
                );
                Error::new(Code::WorkerInUse, message)
            }
        }
    }
}
