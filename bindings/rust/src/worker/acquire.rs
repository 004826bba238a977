//! The questions to the user's code at an opening: what peers' clocks read, and which worker id it gives.

use crate::os;
use crate::os::env::Env;
use crate::os::mutex::{lock, locked};
use crate::snowflake::lease_calls::{guarded_claim, request};
use crate::snowflake::wait::{self, Interrupted};
use crate::tasks::user_calls;
use crate::tasks::with_timeout;
use crate::tasks::with_timeout::Bounded;
use crate::worker::grant::Given;
use crate::worker::offline_start::Recall;
use crate::worker::settings::Settings;
use crate::worker::worker_ids::WorkerIds;
use leafid_core::{Code, Error, Lease, PEERS_THRESHOLD_MS, Result, peers_agree};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What came of the questions.
#[derive(Default)]
pub(crate) struct Asked {
    /// What a source of worker ids gave, and the suspend-counting clock before it was asked.
    pub(crate) given: Option<(Given, Duration)>,
    /// Where no lease server could be reached: what may be gone on with.
    pub(crate) recall: Option<Recall>,
}

/// Asks the user's code: for the clocks of peers, and for a worker id where it is to give one. On a thread of
/// leafid's: its transaction is not the caller's, and it may hang.
pub(crate) fn ask(
    env: &Arc<Env>,
    settings: &Arc<Settings>,
    parents: Option<u32>,
    interrupted: Interrupted<'_>,
) -> Result<Asked> {
    let generation = os::process::generation();
    if let Some(peers) = settings.peer_times.clone() {
        let env = Arc::clone(env);
        let check = move || peers.check(|| env.clock.believed_ms());
        let unknown = |error: Error| log::warn!("leafid: {error}; the start goes on without peer_times");
        match with_timeout::bounded_unless(settings.timeout, os::ThreadKind::UserCode, interrupted, check) {
            Bounded::Done(checked) => checked?,
            Bounded::Late | Bounded::Forked => unknown(late("peer_times", settings)),
            Bounded::Interrupted => return Err(wait::interrupted()),
            Bounded::Full => unknown(user_calls::hanging()),
            Bounded::NoThread => unknown(user_calls::no_thread(&"for peer_times")),
        }
    }
    let WorkerIds::Asked(source) = settings.key.workers.clone() else { return Ok(Asked::default()) };
    let request = request(env, &settings.key.name, parents)?;
    let asked = env.clock.counted();
    let slot: Arc<Mutex<Answered>> = Arc::default();
    let (theirs, asks) = (Arc::clone(&slot), source.clone());
    let call = move || {
        let answer = guarded_claim(&asks, &request);
        let mut slot = lock(&theirs);
        if !slot.given_up {
            slot.answer = Some(answer);
        } else if let Ok(given) = answer {
            drop(slot);
            // Nobody waits for it any more.
            given.release_unused();
        }
    };
    let ended = with_timeout::bounded_unless(settings.timeout, os::ThreadKind::UserCode, interrupted, call);
    let answer = locked(&slot, generation, |slot| {
        slot.given_up = true;
        slot.answer.take()
    });
    let answer = answer.flatten().unwrap_or_else(|| {
        Err(match ended {
            Bounded::Interrupted => wait::interrupted(),
            Bounded::Full => user_calls::hanging(),
            Bounded::NoThread => user_calls::no_thread(&"for its claim"),
            Bounded::Done(()) | Bounded::Late | Bounded::Forked => late("the claim of a worker id", settings),
        })
    });
    if let Bounded::Late | Bounded::Interrupted = ended {
        // Nobody waits for its answer.
        source.end_calls();
    }
    let given = match answer {
        Ok(given) => given,
        Err(why)
            if why.code() == Code::WorkerLost
                && source.is_unreachable()
                && generation == os::process::generation() =>
        {
            let recall = Recall::find(env, settings, &source, why)?;
            return Ok(Asked { given: None, recall: Some(recall) });
        }
        Err(error) => return Err(error),
    };
    lenders_agree(env, &given).inspect_err(|_| give_back(Some((given.clone(), asked)), settings))?;
    let asked = asked.saturating_sub(given.asked_ago);
    Ok(Asked { given: Some((given, asked)), recall: None })
}

fn late(what: &str, settings: &Settings) -> Error {
    let message = format!(
        "{what} did not answer within timeout_ms ({}); see what it waits for, or raise timeout_ms",
        settings.timeout.as_millis()
    );
    Error::new(Code::WorkerLost, message)
}

/// Compares the clock with those that a lease came with. Errors: `clock_backwards`.
pub(crate) fn lenders_agree(env: &Env, given: &Given) -> Result<()> {
    let samples: &[i64] = given.lease.as_ref().map_or(&[], |(_, lease)| &lease.peer_times_ms);
    peers_agree(env.clock.believed_ms(), samples, PEERS_THRESHOLD_MS)
}

/// What a source of worker ids left, and whether its asker still waits.
#[derive(Default)]
struct Answered {
    given_up: bool,
    answer: Option<Result<Given>>,
}

/// Whether spans come from a giver that outlives this machine.
pub(crate) fn leases(settings: &Settings) -> bool {
    matches!(&settings.key.workers, WorkerIds::Asked(source) if source.leases_spans())
}

/// Whether a worker id that servers lease is held on this host, as by a process that was stopped for longer than its
/// lease. The lease is not given back then, but left to end: else the same id would be leased again at once.
pub(crate) fn is_held_here(env: &Env, settings: &Settings, given: Option<&Given>, error: &Error) -> bool {
    let of_servers = settings.key.workers.source().is_some_and(|source| source.as_servers().is_some());
    let lease = given.and_then(|given| given.lease.as_ref()).filter(|_| of_servers);
    // Another reason would be that its span begins too far ahead.
    let begins = |lease: &Lease| {
        lease.span(&settings.key.layout, &settings.key.rules, env.clock.believed_ms()).is_ok()
    };
    error.code() == Code::WorkerInUse && lease.is_some_and(|(_, lease)| begins(lease))
}

/// Gives back a lease that came to no use, within the time of a call.
pub(crate) fn give_back(given: Option<(Given, Duration)>, settings: &Settings) {
    if let Some((given, _)) = given {
        let release = move || given.release_unused();
        let _ =
            with_timeout::bounded_unless(settings.timeout, os::ThreadKind::UserCode, &mut || false, release);
    }
}
