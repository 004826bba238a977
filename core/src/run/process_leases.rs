//! What the runs of one process have to know of each other: the leases that they hold, lose and release, and the claims
//! that no lease server has answered. A forked child begins with none.
//!
//! A source may answer two claims with one lease. Whose it is, is decided here, at the pull of the next call:
//!
//! | Since the claim began | Its answer, a lease, came | Then |
//! | --- | --- | --- |
//! | no other run held its worker id, lost it or released it | in time | the run holds it |
//! | another run held its worker id, or lost it, or any released it | in time | refused, and no run releases it for this answer |
//! | no run held its worker id, lost it or released it | late | released |
//! | a run held its worker id, or lost it or released it | late | left to that run |
//!
//! What was lost or released counts if its token is the same: after that, the source may lease the worker id again.
//!
//! | A claim without an answer | Event | Next |
//! | --- | --- | --- |
//! | of a run | the run pulls a call | kept |
//! | kept | a run of the same id space and servers claims | of that run alone: two that send it get one lease |

use crate::aside::Aside;
use crate::call::CallId;
use crate::snowflake::lease::LeaseKey;
use crate::{Lease, LeaseClaim};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// One for each process, behind a lock of its own. A host that pulls calls with another one is refused every lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProcessLeases {
    /// Each with what it is for.
    unanswered: Vec<(String, LeaseClaim)>,
    runs: Vec<OfRun>,
    /// The number of the last run.
    last: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OfRun {
    number: u64,
    name: String,
    leases: Vec<Known>,
    claims: Vec<Claiming>,
}

/// A claim that is under way, whether its run waits for it or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Claiming {
    call: Aside<CallId>,
    /// What was known when it began, or since.
    known: Vec<Known>,
}

/// A lease that a claim brought. Until it is judged, no run holds it and none releases it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Came {
    pub(crate) call: Aside<CallId>,
    pub(crate) lease: Lease,
    /// The boot times before it was asked for, and before the claim began; `None` if it came late.
    pub(crate) in_time: Option<(Duration, Duration)>,
}

/// A lease of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Known {
    /// The run that held it last; 0 if it is released.
    by: u64,
    key: LeaseKey,
    /// Whether it is held, by any token: its next one may be known to the source alone.
    is_held: bool,
}

impl Known {
    pub(crate) fn held(by: u64, worker_id: i64) -> Known {
        Known { by, key: (worker_id, None), is_held: true }
    }

    pub(crate) fn lost(by: u64, key: LeaseKey) -> Known {
        Known { by, key, is_held: false }
    }

    pub(crate) fn released(key: LeaseKey) -> Known {
        Known { by: 0, key, is_held: false }
    }
}

impl ProcessLeases {
    /// Nothing is known.
    pub const fn new() -> ProcessLeases {
        ProcessLeases { unanswered: Vec::new(), runs: Vec::new(), last: 0 }
    }

    /// The number of one more run.
    pub(crate) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(crate) fn keep(&mut self, whose: &str, claim: LeaseClaim) {
        if self.unanswered.iter().all(|(_, kept)| kept.instance != claim.instance) {
            self.unanswered.push((whose.into(), claim));
        }
    }

    /// A claim to send as it was.
    pub(crate) fn take(&mut self, whose: &str) -> Option<LeaseClaim> {
        let at = self.unanswered.iter().position(|(kept, _)| kept == whose)?;
        Some(self.unanswered.remove(at).1)
    }

    /// A run has these leases now, and these of its claims are under way.
    pub(crate) fn note(
        &mut self,
        number: u64,
        name: &str,
        leases: Vec<Known>,
        claims: impl Iterator<Item = CallId>,
    ) {
        let at = self.runs.iter().position(|run| run.number == number).unwrap_or_else(|| {
            self.runs.push(OfRun { number, name: name.into(), leases: Vec::new(), claims: Vec::new() });
            self.runs.len() - 1
        });
        let of_name = |run: &&mut OfRun| run.name == name;
        for claim in self.runs.iter_mut().filter(of_name).flat_map(|run| &mut run.claims) {
            for known in &leases {
                if !claim.known.contains(known) {
                    claim.known.push(known.clone());
                }
            }
        }
        self.runs[at].leases = leases;
        let mut under_way = Vec::new();
        for call in claims {
            let known = self.runs[at].claims.iter().find(|claim| claim.call.0 == call);
            let known = known.map(|claim| claim.known.clone()).unwrap_or_else(|| {
                let runs = self.runs.iter().filter(|run| run.name == name);
                runs.flat_map(|run| run.leases.iter().cloned()).collect()
            });
            under_way.push(Claiming { call: Aside(call), known });
        }
        self.runs[at].claims = under_way;
        self.runs.retain(|run| !(run.leases.is_empty() && run.claims.is_empty()));
    }

    /// Whether the lease that this claim of a run brought is another's. `is_late`: or this run's own, by another claim.
    pub(crate) fn is_known(&self, number: u64, call: CallId, key: &LeaseKey, is_late: bool) -> bool {
        let run = self.runs.iter().find(|run| run.number == number);
        let claim = run.and_then(|run| run.claims.iter().find(|claim| claim.call.0 == call));
        claim.is_none_or(|claim| {
            claim.known.iter().filter(|known| is_late || known.by != number).any(|known| {
                match known.is_held {
                    true => known.key.0 == key.0,
                    false => known.key == *key,
                }
            })
        })
    }
}
