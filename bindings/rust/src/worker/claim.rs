//! The claim of a worker id: marks it on the host, locks its record and makes the first span durable.

use crate::config::deployment;
use crate::os::env::{Env, HostLock};
use crate::os::host_lock;
use crate::os::namespaces::Scope;
use crate::storage::state_file::{self, StateFile};
use crate::worker::acquire::Acquired;
use crate::worker::renewable_lease::RenewableLease;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::WorkerSource;
use crate::worker::worker_ids::WorkerIds;
use leafid_core::format::state::Writer;
use leafid_core::{
    Code, Error, LONGEST_SPAN_MS, OnClockBackwards, Record, Result, Rules, Span, Start, StartAction, Utc,
};
use std::time::Duration;

/// After a holder's end, its child may keep copies of its descriptors between fork and exec. They are closed within
/// this time.
pub(crate) const EXEC: Duration = Duration::from_millis(50);
/// Concurrent claims of a range finish within this time. A longer wait is a wait for the end of a holder.
const RACE: Duration = Duration::from_millis(100);
/// A daemon's parent exits within this time and releases its fixed id.
const PARENT_EXITS: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(3);
/// The pause between two searches through a range whose ids are held for longer than a race lasts.
const LONG_PAUSE: Duration = Duration::from_millis(20);

/// The inputs of a claim besides the settings.
#[derive(Clone)]
pub(crate) struct ClaimContext {
    /// The rules of the settings, or stricter ones if the record may not survive the machine's next start.
    pub(crate) rules: Rules,
    /// No id is issued below this tick.
    pub(crate) floor: u64,
    pub(crate) acquired: Acquired,
    /// Whether the ids of an earlier holder may not be recorded anywhere.
    pub(crate) forgets: bool,
    /// Whether this is a forked child whose parent held an id.
    pub(crate) inherited: bool,
}

/// A worker id that is held, with its first span durable.
pub(crate) struct Claim {
    /// Dropped first: the lock is released before the mark.
    pub(crate) file: StateFile,
    pub(crate) host_lock: Box<dyn HostLock>,
    /// Empty while the record is so far ahead of the clock that no span may be granted yet.
    pub(crate) first: Span,
    /// No id is issued before this time of the clock, because no record was found.
    pub(crate) begins_ms: Option<i64>,
    pub(crate) writer: Writer,
    /// The seed of the generator's random starts.
    pub(crate) seed: u64,
    pub(crate) rules: Rules,
    pub(crate) lease: Option<RenewableLease>,
}

/// How long a claim retries while the worker id is held.
fn patience(settings: &SnowflakeSettings, inherited: bool) -> Duration {
    // The JavaScript thread waits at an opening, but it uses a lazy handle in the middle of its work.
    let may_wait = settings.max_wait.is_none() || !settings.lazy;
    match (settings.key.workers.is_range(), inherited) {
        // A process that is replaced ends once its successor has started.
        (true, _) if may_wait => settings.timeout.max(RACE),
        (true, _) => RACE,
        (false, true) => PARENT_EXITS,
        (false, false) => EXEC,
    }
}

/// How long a claim may last: its waits by the rules, and the time for the disk.
pub(crate) fn bound(settings: &SnowflakeSettings, rules: &Rules, inherited: bool) -> Duration {
    let waits_ms = match rules.on_clock_backwards {
        OnClockBackwards::Wait => LONGEST_SPAN_MS + settings.key.space.layout.tick_ms(),
        OnClockBackwards::Continue => 0,
    };
    settings.disk_bound() + patience(settings, inherited) + Duration::from_millis(waits_ms as u64)
}

/// Claims a worker id of the settings.
pub(crate) fn claim(env: &Env, settings: &SnowflakeSettings, context: &ClaimContext) -> Result<Claim> {
    let patience = patience(settings, context.inherited);
    let (begun, mut first, mut warned) = (env.clock.boot_time(), true, false);
    while_in_use(env, patience, |last| {
        let claimed = claim_any(env, settings, context, Pass { first, last });
        first = false;
        let waits = claimed.as_ref().is_err_and(|error| error.code() == Code::WorkerInUse) && !last;
        if waits && !warned && settings.key.workers.is_range() && env.clock.boot_time() - begun >= RACE {
            warned = true;
            log::warn!(
                "leafid: every worker id of the range of {:?} is held; waiting up to {} ms for one to come free. With twice \
                 as many ids as processes none waits, also while processes are replaced",
                settings.key.space.name,
                patience.as_millis()
            );
        }
        claimed
    })
}

/// One search through the worker ids.
#[derive(Clone, Copy, Default)]
struct Pass {
    first: bool,
    last: bool,
}

/// Tries again while the worker id is held, up to `patience`. The argument of `attempt` is true at the last try.
pub(crate) fn while_in_use<T>(
    env: &Env,
    patience: Duration,
    mut attempt: impl FnMut(bool) -> Result<T>,
) -> Result<T> {
    let begun = env.clock.boot_time();
    loop {
        let last = env.clock.boot_time() - begun >= patience;
        match attempt(last) {
            Err(error) if error.code() == Code::WorkerInUse && !last => {
                let raced = env.clock.boot_time() - begun >= RACE;
                env.clock.sleep(if raced { LONG_PAUSE } else { PAUSE });
            }
            done => return done,
        }
    }
}

/// Claims the first free id of the range. Ids whose record lies behind the clock come first.
fn claim_any(env: &Env, settings: &SnowflakeSettings, context: &ClaimContext, pass: Pass) -> Result<Claim> {
    let (from, to) = match (&settings.key.workers, &context.acquired) {
        (_, Acquired::Offline(offline_start)) => {
            return offline_start
                .first(pass.last, |worker_id| claim_one(env, settings, context, worker_id, false));
        }
        (WorkerIds::Within(ids), _) => (ids.first, ids.last),
        (WorkerIds::FromSource(_), Acquired::Granted(grant)) => {
            let id = settings.key.space.layout.claimed_id(grant.worker_id);
            let id = id.map_err(|error| of_servers(settings, error))?;
            (id, id)
        }
        (WorkerIds::FromSource(_), Acquired::Nothing) => {
            return Err(Error::new(
                Code::Internal,
                "a worker id was claimed without its source; report this",
            ));
        }
    };
    if from == to {
        return claim_one(env, settings, context, from, pass.last);
    }
    let now_ms = env.clock.filtered_ms();
    let mut ahead = Vec::new();
    let mut refusals = Refusals { first: pass.first, ..Refusals::default() };
    for worker_id in from..=to {
        let until_ms = match state_file::peek(env, &settings.directory, worker_id) {
            Ok(Some(stored)) => {
                let path = state_file::path_of(&settings.directory, worker_id);
                state_file::check_layout(&stored.record, &settings.key.space, &path)?;
                let (record, layout) = (&stored.record, &stored.record.layout);
                let now = layout.tick_at(now_ms).unwrap_or(0);
                layout.tick_start_ms(record.first_free(record.run.until.max(now)))
            }
            // An id that has to wait is as good as one whose record is that far ahead.
            Ok(None) if settings.no_record_wait_ms > 0 => now_ms + settings.no_record_wait_ms,
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
        match claim_one(env, settings, context, worker_id, false) {
            Ok(claim) => return Ok(claim),
            Err(error) => {
                if pass.first && error.code() == Code::WorkerInUse {
                    warn_of_stranger(env, settings, worker_id);
                }
                refusals.add(error)?;
            }
        }
    }
    ahead.sort_unstable();
    for (_, worker_id) in ahead {
        match claim_one(env, settings, context, worker_id, false) {
            Ok(claim) => return Ok(claim),
            Err(error) => refusals.add(error)?,
        }
    }
    Err(refusals.summary(settings, from, to))
}

/// Claims this id: marks it on the host, locks its record, checks it, and makes the first span durable. `name_holder`:
/// whether a refusal names the holder, which needs a system call.
fn claim_one(
    env: &Env,
    settings: &SnowflakeSettings,
    context: &ClaimContext,
    worker_id: u32,
    name_holder: bool,
) -> Result<Claim> {
    let key = &settings.key;
    let in_use = |holder: &dyn Fn() -> Option<String>| {
        let holder = if name_holder { holder() } else { None };
        let holder = holder.unwrap_or_else(|| "another process of this host".into());
        let path = state_file::path_of(&settings.directory, worker_id);
        let stranger = match name_holder && key.persist {
            true => env.disk.foreign_holder(&key.space.name, worker_id, &path),
            false => None,
        };
        let no_holder = stranger.map_or_else(String::new, |_| {
            ", which cannot open this record, so it does not hold it, but may hold it in another directory".into()
        });
        let advice = match holder.starts_with(host_lock::THIS_PROCESS) {
            _ if key.workers.source().is_some_and(|source| source.as_servers().is_some()) => {
                "its lease has ended, as the server says: end that process, or let it continue"
            }
            true => "close that generator, or open this one with the same options to share it",
            false => {
                "end that process, or give each process an id of its own, such as a range \"0-31\" for several processes"
            }
        };
        let record = match key.persist {
            true => format!(" ({})", path.display()),
            false => String::new(),
        };
        let message = format!(
            "worker id {worker_id} of {:?}{record} is held by {holder}{no_holder}; {advice}",
            key.space.name
        );
        Error::new(Code::WorkerInUse, message)
    };
    let recorded = || state_file::recorded_holder(env, &settings.directory, worker_id);
    let marked = || env.disk.holder(&key.space.name, worker_id).or_else(recorded);
    let host_lock = env.disk.lock_worker(&key.space.name, worker_id)?.ok_or_else(|| in_use(&marked))?;
    // Locked but not marked: its holder sees other marks, as in another container.
    let mut file = match key.persist {
        true => StateFile::open(env, settings.records(), worker_id)?.ok_or_else(|| in_use(&recorded))?,
        false => StateFile::unpersisted(&key.space, worker_id),
    };
    let rules = &context.rules;
    let now_ms = env.clock.filtered_ms();
    let grant = match &context.acquired {
        Acquired::Nothing => None,
        Acquired::Granted(grant) => Some(grant.clone()),
        Acquired::Offline(offline_start) => Some(offline_start.grant(env, settings, &file)?),
    };
    let lease = grant.as_ref().and_then(|grant| grant.lease.as_ref());
    let span = lease.map(|(_, lease)| lease.span(&key.space.layout, rules, now_ms)).transpose();
    let span = span.map_err(|error| of_servers(settings, error))?;
    let start = Start {
        rules,
        lease: span,
        floor: context.floor,
        start_after: key.start,
        no_record_wait_ms: settings.no_record_wait_ms,
        forgets: context.forgets,
    };
    let unrecorded = file.record().is_unused();
    let (first, begins_ms, now_ms) = begin(env, settings, &start, file.record())?;
    let random = env.number()?;
    let patience = settings.call_bound();
    let lease = grant.zip(span).and_then(|(grant, span)| RenewableLease::new(grant, span, now_ms, patience));
    let writer = state_file::this_process(env);
    file.write(file.record().begin(first, now_ms, random), &writer)?;
    env.clock.mark_used();
    if unrecorded && lease.is_none() {
        warn_of_no_record(env, settings, worker_id, begins_ms, context.forgets);
    }
    log::info!(
        "leafid: {}, worker id {worker_id} of {:?}, layout {}{}",
        match key.persist {
            true => format!("state directory {}", settings.directory.display()),
            false => "no record is kept".to_owned(),
        },
        key.space.name,
        key.space.layout,
        if unrecorded && key.persist { ", no earlier record" } else { "" }
    );
    Ok(Claim { file, host_lock, first, begins_ms, writer, seed: (random >> 64) as u64, rules: *rules, lease })
}

/// The error for an unusable lease. From servers it is never an invalid argument of the user.
fn of_servers(settings: &SnowflakeSettings, error: Error) -> Error {
    match settings.key.workers.source().and_then(WorkerSource::as_servers) {
        Some((_, urls)) if error.code() == Code::InvalidArgument => {
            let message = format!(
                "{} returned a lease that cannot be used: {}; see the server",
                urls.join(", "),
                error.message()
            );
            Error::new(Code::WorkerLost, message)
        }
        _ => error,
    }
}

/// Logs that a user who cannot open the record holds a worker id of the range.
fn warn_of_stranger(env: &Env, settings: &SnowflakeSettings, worker_id: u32) {
    let path = state_file::path_of(&settings.directory, worker_id);
    if let Some(uid) = env.disk.foreign_holder(&settings.key.space.name, worker_id, &path) {
        log::warn!(
            "leafid: worker id {worker_id} of {:?} is marked on this host by user id {uid}, which cannot open {}; the next \
             worker id of the range is tried",
            settings.key.space.name,
            path.display()
        );
    }
}

/// Logs the risks of a start without a record, if another process may have used the worker id before.
fn warn_of_no_record(
    env: &Env,
    settings: &SnowflakeSettings,
    worker_id: u32,
    begins_ms: Option<i64>,
    forgets: bool,
) {
    let name = &settings.key.space.name;
    if let Some(begins_ms) = begins_ms {
        log::info!(
            "leafid: no record of worker id {worker_id} of {name:?} was found: nothing is issued before {} \
             (no_record_wait_ms)",
            Utc(begins_ms)
        );
        return;
    }
    // Without records every start is such a start, by the user's own choice.
    if !settings.key.persist {
        return;
    }
    let moves = forgets || deployment::surroundings().is_some() || env.disk.scope() != Scope::Host;
    if !moves {
        return;
    }
    log::warn!(
        "leafid: no record of worker id {worker_id} of {name:?} is in {}: if it was in use before, in another directory, \
         container or host, by a clock ahead of this one, ids may come twice; have the state directory move with the \
         worker id, set no_record_wait_ms to what clocks may differ by, or lease the worker id",
        settings.directory.display()
    );
}

/// The first span of a generator, when it begins, and the time at which that was decided. Waits if the rules say so.
fn begin(
    env: &Env,
    settings: &SnowflakeSettings,
    start: &Start<'_>,
    found: &Record,
) -> Result<(Span, Option<i64>, i64)> {
    loop {
        let now_ms = env.clock.filtered_ms();
        match start.poll(found, now_ms) {
            StartAction::Begin { first, begins_ms } => return Ok((first, begins_ms, now_ms)),
            StartAction::WaitUntil(ms) => {
                let left_ms = (ms - env.clock.filtered_ms()).max(0);
                settings.check_wait(Duration::from_millis(left_ms as u64))?;
                env.clock.sleep(Duration::from_millis(left_ms.clamp(1, 100) as u64));
            }
            StartAction::Refused(error) => return Err(error),
        }
    }
}

/// Why the ids of a range were not available.
#[derive(Default)]
struct Refusals {
    /// Whether this is the first search through the range: a problem of one id is logged once.
    first: bool,
    in_use: usize,
    other: Option<Error>,
}

impl Refusals {
    /// Records the refusal of one id. An error that holds for all ids ends the search.
    fn add(&mut self, error: Error) -> Result<()> {
        match error.code() {
            Code::WorkerInUse => self.in_use += 1,
            Code::StateCorrupt | Code::StateIo | Code::ClockBackwards => {
                if self.first {
                    log::warn!("leafid: {error}; the next worker id of the range is tried");
                }
                self.other.get_or_insert(error);
            }
            _ => return Err(error),
        }
        Ok(())
    }

    fn summary(self, settings: &SnowflakeSettings, first: u32, last: u32) -> Error {
        match self.other {
            Some(error) if self.in_use == 0 => error,
            other => {
                let also = other.map(|error| format!("; besides: {}", error.message())).unwrap_or_default();
                let message = format!(
                    "every worker id of {first}-{last} of {:?} that can be used is held, by other processes or by generators of this one ({} held){also}; \
                     none came free within {} ms: widen the range to twice as many ids as processes, or end a process{}",
                    settings.key.space.name,
                    self.in_use,
                    patience(settings, false).as_millis(),
                    match settings.max_wait.is_some() && settings.lazy {
                        true =>
                            "; a lazy handle does not wait longer, `await Snowflake.open` without lazy does",
                        false => "",
                    }
                );
                Error::new(Code::WorkerInUse, message)
            }
        }
    }
}
