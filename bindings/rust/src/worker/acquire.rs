//! Calls of user callbacks and lease servers at an opening: for the clocks of peers and for a worker id.

use crate::os;
use crate::os::env::Env;
use crate::os::mutex::{lock, lock_signal_safe};
use crate::storage::state_file::{self, IdSpace};
use crate::tasks::interrupt::{self, Interrupted};
use crate::tasks::user_calls;
use crate::tasks::with_timeout;
use crate::tasks::with_timeout::Timed;
use crate::worker::grant::Grant;
use crate::worker::leases::ClaimRequest;
use crate::worker::offline_start::OfflineStart;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::WorkerSource;
use crate::worker::worker_ids::WorkerIds;
use leafid_core::{Code, Error, PEERS_THRESHOLD_MS, Result, SPAN_WISH_MS, peers_agree};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A claim that takes longer is logged with what it waited for.
pub(crate) const LONG_CLAIM: Duration = Duration::from_millis(100);

/// What a claim of a worker id starts with.
#[derive(Clone, Default)]
pub(crate) enum Acquired {
    /// The options name the worker ids.
    #[default]
    Nothing,
    /// The grant of the worker id source.
    Granted(Grant),
    /// The cached leases that may be used, because no lease server was reachable.
    Offline(OfflineStart),
}

impl Acquired {
    pub(crate) fn into_grant(self) -> Option<Grant> {
        match self {
            Acquired::Granted(grant) => Some(grant),
            Acquired::Nothing | Acquired::Offline(_) => None,
        }
    }
}

/// Requests the clocks of peers and, if a source gives it, a worker id from user callbacks and lease servers.
///
/// Each call runs on a thread of leafid, because it may hang and because its transaction is not the caller's.
pub(crate) fn acquire(
    env: &Arc<Env>,
    settings: &Arc<SnowflakeSettings>,
    parents: Option<u32>,
    interrupted: Interrupted<'_>,
) -> Result<Acquired> {
    let generation = os::process::generation();
    let begun = env.clock.boot_time();
    if let Some(peers) = settings.peer_times.clone() {
        let env = Arc::clone(env);
        let check = move || peers.check(|| env.clock.filtered_ms());
        let unknown = |error: Error| log::warn!("leafid: {error}; the start continues without peer_times");
        match with_timeout::run_unless(settings.timeout, os::ThreadKind::UserCode, interrupted, check) {
            Timed::Done(checked) => checked?,
            Timed::Out | Timed::Forked => unknown(late("peer_times", settings)),
            Timed::Interrupted => return Err(interrupt::interrupted()),
            Timed::TooMany => unknown(user_calls::too_many_stuck()),
            Timed::NoThread => {
                let message = "the system cannot start a thread to call peer_times; see its limits";
                unknown(Error::new(Code::StateIo, message));
            }
        }
    }
    log_wait(env, begun, "the clocks of peer_times");
    let WorkerIds::FromSource(source) = settings.key.workers.clone() else { return Ok(Acquired::Nothing) };
    if settings.key.persist {
        // Before an id is taken: whichever it were, it would stand beside such a record.
        state_file::check_layouts(env, &settings.directory, &settings.key.space)?;
    }
    let request = request(env, &settings.key.space.name, parents)?;
    let asked = env.clock.boot_time();
    let slot: Arc<Mutex<PendingGrant>> = Arc::default();
    let (theirs, asks) = (Arc::clone(&slot), source.clone());
    let call = move || {
        let answer = guarded_claim(&asks, &request, asked);
        let mut slot = lock(&theirs);
        if !slot.given_up {
            slot.answer = Some(answer);
        } else if let Ok(grant) = answer {
            drop(slot);
            // No caller is waiting for it any more.
            grant.release_unused();
        }
    };
    let ended = with_timeout::run_unless(settings.timeout, os::ThreadKind::UserCode, interrupted, call);
    let answer = lock_signal_safe(&slot, generation, |slot| {
        slot.given_up = true;
        slot.answer.take()
    });
    let answer = answer.flatten().unwrap_or_else(|| {
        Err(match ended {
            Timed::Interrupted => interrupt::interrupted(),
            Timed::TooMany => user_calls::too_many_stuck(),
            Timed::NoThread => user_calls::no_thread_error(&"for its claim"),
            Timed::Done(()) | Timed::Out | Timed::Forked => late("the claim of a worker id", settings),
        })
    });
    if let Timed::Out | Timed::Interrupted = ended {
        // No caller is waiting for its result.
        source.end_calls();
    }
    log_wait(env, asked, "the source of worker ids");
    let grant = match answer {
        Ok(grant) => grant,
        Err(why)
            if why.code() == Code::WorkerLost
                && source.is_unreachable()
                && generation == os::process::generation() =>
        {
            return OfflineStart::find(env, settings, &source, why).map(Acquired::Offline);
        }
        // The name of the code speaks of a loss.
        Err(error)
            if source.as_servers().is_some()
                && matches!(error.code(), Code::WorkerLost | Code::SourceInvalid) =>
        {
            return Err(error.context("no worker id could be claimed"));
        }
        Err(error) => return Err(error),
    };
    check_server_clocks(env, &grant).inspect_err(|_| return_grant(Some(grant.clone()), settings))?;
    Ok(Acquired::Granted(grant))
}

/// Logs a long wait for this.
fn log_wait(env: &Env, begun: Duration, what: &str) {
    let waited = env.clock.boot_time().saturating_sub(begun);
    if waited >= LONG_CLAIM {
        log::info!("leafid: the claim of a worker id waited {} ms for {what}", waited.as_millis());
    }
}

fn late(what: &str, settings: &SnowflakeSettings) -> Error {
    let message = format!(
        "{what} did not answer within timeout_ms ({}); see what it waits for, or raise timeout_ms",
        settings.timeout.as_millis()
    );
    Error::new(Code::WorkerLost, message)
}

/// Compares the clock with those that came with a lease. Errors: `clock_backwards`.
pub(crate) fn check_server_clocks(env: &Env, grant: &Grant) -> Result<()> {
    let samples: &[i64] = grant.lease.as_ref().map_or(&[], |(_, lease)| &lease.peer_times_ms);
    peers_agree(env.clock.filtered_ms(), samples, PEERS_THRESHOLD_MS)
}

/// The result of a claim, and whether the caller has given up waiting for it.
#[derive(Default)]
struct PendingGrant {
    given_up: bool,
    answer: Option<Result<Grant>>,
}

/// Whether spans come from a lease source. They stay valid after this machine fails.
pub(crate) fn uses_leases(settings: &SnowflakeSettings) -> bool {
    matches!(&settings.key.workers, WorkerIds::FromSource(source) if source.leases_spans())
}

/// Whether a worker id that servers leased is held on this host: [`leafid_core::Lease::is_held_here`].
pub(crate) fn is_held_here(
    env: &Env,
    settings: &SnowflakeSettings,
    grant: Option<&Grant>,
    error: &Error,
) -> bool {
    let of_servers = settings.key.workers.source().is_some_and(|source| source.as_servers().is_some());
    let lease = grant.and_then(|grant| grant.lease.as_ref()).filter(|_| of_servers);
    let IdSpace { layout, rules, .. } = &settings.key.space;
    lease.is_some_and(|(_, lease)| lease.is_held_here(error, layout, rules, env.clock.filtered_ms()))
}

/// Releases a lease that was not used, within `timeout_ms`.
pub(crate) fn return_grant(grant: Option<Grant>, settings: &SnowflakeSettings) {
    if let Some(grant) = grant {
        let release = move || grant.release_unused();
        let _ = with_timeout::run_unless(settings.timeout, os::ThreadKind::UserCode, &mut || false, release);
    }
}

/// The request of a claim.
pub(crate) fn request(env: &Env, name: &str, previous: Option<u32>) -> Result<ClaimRequest> {
    let random = env.number()?;
    let now_ms = env.clock.filtered_ms();
    Ok(ClaimRequest {
        name: name.into(),
        instance: format!("{random:032x}"),
        previous,
        now_ms,
        until_ms: now_ms + SPAN_WISH_MS,
    })
}

/// Calls the source. `asked` is the boot time. A panic of a user callback becomes an error.
pub(crate) fn guarded_claim(source: &WorkerSource, request: &ClaimRequest, asked: Duration) -> Result<Grant> {
    catch_unwind(AssertUnwindSafe(|| source.claim(request, asked))).unwrap_or_else(|_| {
        Err(Error::new(
            Code::WorkerLost,
            "the claim of a worker id panicked; see the code that gives worker ids, then try again",
        ))
    })
}
