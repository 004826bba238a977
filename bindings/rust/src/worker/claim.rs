//! The claim of a worker id: takes its host lock, locks its record and makes the first span durable.

use crate::config::surroundings::surroundings;
use crate::os::env::{Env, HostLock};
use crate::os::host_lock;
use crate::storage::state_file::{self, StateFile};
use crate::worker::acquire::{Acquired, LONG_CLAIM};
use crate::worker::renewable_lease::RenewableLease;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::WorkerSource;
use crate::worker::worker_ids::WorkerIds;
use leafid_core::format::state::Writer;
use leafid_core::options::deployment::{self, Scope};
use leafid_core::{
    ClaimAction, ClaimCandidates, ClaimPatience, ClaimSearch, Code, Error, HeldId, Record, Result, Rules,
    Span, Start, StartAction, Utc, unusable_lease,
};
use std::cell::Cell;
use std::time::Duration;

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
    /// Dropped first: the record's lock is released before the host lock.
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

/// How long a claim may last: its waits by the rules, and the time for the disk.
pub(crate) fn bound(settings: &SnowflakeSettings, rules: &Rules, inherited: bool) -> Duration {
    patience(settings, inherited).claim_bound(settings.disk_bound(), rules, &settings.key.space.layout)
}

fn patience(settings: &SnowflakeSettings, inherited: bool) -> ClaimPatience {
    ClaimPatience {
        is_range: settings.key.workers.is_range(),
        inherited,
        lazy: settings.lazy,
        limits_waits: settings.max_wait.is_some(),
        timeout: settings.timeout,
    }
}

/// Claims a worker id of the settings.
pub(crate) fn claim(env: &Env, settings: &SnowflakeSettings, context: &ClaimContext) -> Result<Claim> {
    let (name, patience) = (&settings.key.space.name, patience(settings, context.inherited));
    let (candidates, begun) = (candidates(settings, context)?, env.clock.boot_time());
    let search = ClaimSearch::new(name, candidates, &patience, settings.no_record_wait_ms, begun);
    let waited = ClaimWaits::default();
    let claim = find_free(env, settings, search, &waited.held, |worker_id, names_holder| {
        claim_one(env, settings, context, &waited, worker_id, names_holder)
    })?;
    let worker_id = claim.file.record().worker_id;
    waited.log(worker_id, name, env.clock.boot_time().saturating_sub(begun));
    // A forked child's parent was warned.
    if !context.inherited {
        warn_of_other_names(env, settings, worker_id);
    }
    Ok(claim)
}

/// What a claim waited for besides the disk, and how long.
#[derive(Default)]
struct ClaimWaits {
    held: Cell<Duration>,
    clock: Cell<Duration>,
}

impl ClaimWaits {
    /// Logs a claim that took long.
    fn log(&self, worker_id: u32, name: &str, took: Duration) {
        let (held, clock) = (self.held.get(), self.clock.get());
        // A disk is often slow for a moment.
        if held + clock < LONG_CLAIM && took < 10 * LONG_CLAIM {
            return;
        }
        let rest = took.saturating_sub(held + clock);
        let parts =
            [(held, "for worker ids that were held"), (clock, "for the clock"), (rest, "for the disk")];
        let parts = parts.iter().filter(|(time, _)| *time >= Duration::from_millis(1));
        let parts: Vec<_> = parts.map(|(time, what)| format!("{} ms {what}", time.as_millis())).collect();
        log::info!(
            "leafid: the claim of worker id {worker_id} of {name:?} waited {} ms: {}",
            took.as_millis(),
            parts.join(", ")
        );
    }
}

fn candidates(settings: &SnowflakeSettings, context: &ClaimContext) -> Result<ClaimCandidates> {
    Ok(match (&settings.key.workers, &context.acquired) {
        (_, Acquired::Offline(offline_start)) => offline_start.candidates(),
        (WorkerIds::Within(ids), _) if ids.first == ids.last => ClaimCandidates::One(ids.first),
        (WorkerIds::Within(ids), _) => ClaimCandidates::Within { first: ids.first, last: ids.last },
        (WorkerIds::FromSource(_), Acquired::Granted(grant)) => {
            let id = settings.key.space.layout.claimed_id(grant.worker_id);
            ClaimCandidates::One(id.map_err(|error| of_source(settings, error))?)
        }
        (WorkerIds::FromSource(_), Acquired::Nothing) => {
            return Err(Error::new(
                Code::Internal,
                "a worker id was claimed without its source; report this",
            ));
        }
    })
}

/// Carries out a search for a free worker id. `claim` claims an id; its second argument is whether a refusal names the
/// holder. `held` gets the time of the waits for held ids.
pub(crate) fn find_free<T>(
    env: &Env,
    settings: &SnowflakeSettings,
    mut search: ClaimSearch,
    held: &Cell<Duration>,
    mut claim: impl FnMut(u32, bool) -> Result<T>,
) -> Result<T> {
    loop {
        match search.poll(env.clock.boot_time()) {
            ClaimAction::Peek(worker_id) => match peek(env, settings, worker_id) {
                Ok(found) => search.peeked(found.as_ref(), env.clock.filtered_ms()),
                Err(error) => search.refused(error),
            },
            ClaimAction::Claim { worker_id, names_holder } => match claim(worker_id, names_holder) {
                Ok(claimed) => {
                    if let Some(text) = search.success_warning(worker_id) {
                        log::warn!("leafid: {text}");
                    }
                    return Ok(claimed);
                }
                Err(error) => search.refused(error),
            },
            ClaimAction::Warn(text) => log::warn!("leafid: {text}"),
            ClaimAction::WarnOfStranger(worker_id) => warn_of_stranger(env, settings, worker_id),
            ClaimAction::Sleep(pause) => {
                let begun = env.clock.boot_time();
                env.clock.sleep(pause);
                held.set(held.get() + env.clock.boot_time().saturating_sub(begun));
            }
            ClaimAction::Failed(error) => return Err(error),
        }
    }
}

/// The record of a worker id, read without its lock.
fn peek(env: &Env, settings: &SnowflakeSettings, worker_id: u32) -> Result<Option<Record>> {
    let Some(stored) = state_file::peek(env, &settings.directory, worker_id)? else { return Ok(None) };
    let path = state_file::path_of(&settings.directory, worker_id);
    state_file::check_layout(&stored.record, &settings.key.space, &path)?;
    Ok(Some(stored.record))
}

/// Claims this id: takes its host lock, locks its record, checks it, and makes the first span durable. `names_holder`:
/// whether a refusal names the holder, which needs a system call.
fn claim_one(
    env: &Env,
    settings: &SnowflakeSettings,
    context: &ClaimContext,
    waited: &ClaimWaits,
    worker_id: u32,
    names_holder: bool,
) -> Result<Claim> {
    let key = &settings.key;
    let in_use = |holder: &dyn Fn() -> Option<String>| {
        let holder = if names_holder { holder() } else { None };
        let path = state_file::path_of(&settings.directory, worker_id);
        let stranger = match names_holder && key.persist {
            true => env.disk.foreign_holder(&key.space.name, worker_id, &path),
            false => None,
        };
        let held = HeldId {
            space: &key.space.name,
            worker_id,
            record: key.persist.then(|| path.display().to_string()),
            is_ours: holder.as_ref().is_some_and(|holder| holder.starts_with(host_lock::THIS_PROCESS)),
            holder,
            is_strangers: stranger.is_some(),
            is_leased: key.workers.source().is_some_and(|source| source.as_servers().is_some()),
        };
        held.error()
    };
    let recorded = || state_file::recorded_holder(env, &settings.directory, worker_id);
    let seen = || env.disk.holder(&key.space.name, worker_id).or_else(recorded);
    let host_lock = env.disk.lock_worker(&key.space.name, worker_id)?.ok_or_else(|| in_use(&seen))?;
    // The record may be locked without the host lock: its holder sees other host locks, as in another container.
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
    let span = span.map_err(|error| of_source(settings, error))?;
    let start = Start {
        rules,
        lease: span,
        floor: context.floor,
        start_after: key.start,
        no_record_wait_ms: settings.no_record_wait_ms,
        forgets: context.forgets,
    };
    let unrecorded = file.record().is_unused();
    let (first, begins_ms, now_ms) = begin(env, settings, &start, file.record(), &waited.clock)?;
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

/// The error for an unusable lease.
fn of_source(settings: &SnowflakeSettings, error: Error) -> Error {
    match settings.key.workers.source().and_then(WorkerSource::as_servers) {
        Some((_, urls)) => unusable_lease(error, urls),
        None => error,
    }
}

/// Logs that a user who cannot open the record holds a worker id of the range.
fn warn_of_stranger(env: &Env, settings: &SnowflakeSettings, worker_id: u32) {
    let path = state_file::path_of(&settings.directory, worker_id);
    if let Some(uid) = env.disk.foreign_holder(&settings.key.space.name, worker_id, &path) {
        log::warn!(
            "leafid: worker id {worker_id} of {:?} is locked on this host by user id {uid}, which cannot open {}; the next \
             worker id of the range is tried",
            settings.key.space.name,
            path.display()
        );
    }
}

/// Logs that the worker id is held on this host under another name, too.
fn warn_of_other_names(env: &Env, settings: &SnowflakeSettings, worker_id: u32) {
    let names = env.disk.names_of(worker_id, settings.directory.parent());
    if let Some(warning) = deployment::other_names_warning(&settings.key.space.name, worker_id, names) {
        log::warn!("leafid: {warning}");
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
    let moves = forgets || surroundings().is_some() || env.disk.scope() != Scope::Host;
    if !moves {
        return;
    }
    log::warn!(
        "leafid: no record of worker id {worker_id} of {name:?} is in {}: if another directory, container or host used it \
         by a clock ahead of this one, ids may come twice: see no_record_wait_ms in docs/OPERATING.md",
        settings.directory.display()
    );
}

/// The first span of a generator, when it begins, and the time at which that was decided. Waits if the rules say so.
fn begin(
    env: &Env,
    settings: &SnowflakeSettings,
    start: &Start<'_>,
    found: &Record,
    waited: &Cell<Duration>,
) -> Result<(Span, Option<i64>, i64)> {
    loop {
        let now_ms = env.clock.filtered_ms();
        match start.poll(found, now_ms) {
            StartAction::Begin { first, begins_ms } => return Ok((first, begins_ms, now_ms)),
            StartAction::WaitUntil(ms) => {
                let left_ms = (ms - env.clock.filtered_ms()).max(0);
                settings.check_wait(Duration::from_millis(left_ms as u64))?;
                let begun = env.clock.boot_time();
                env.clock.sleep(Duration::from_millis(left_ms.clamp(1, 100) as u64));
                waited.set(waited.get() + env.clock.boot_time().saturating_sub(begun));
            }
            StartAction::Refused(error) => return Err(error),
        }
    }
}
