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
//! | any, of a run that has begun | the process is about to be copied | forgotten: each copy would send it |

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
    /// That of the last run whose claims are not kept.
    forgotten: u64,
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
        ProcessLeases { unanswered: Vec::new(), runs: Vec::new(), last: 0, forgotten: 0 }
    }

    /// The number of one more run.
    pub(crate) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// No claim of the runs so far is sent again: copies of this process that send one get one lease. All of them are
    /// closed.
    pub fn forget_unanswered(&mut self) {
        self.unanswered.clear();
        self.forgotten = self.last;
    }

    /// A claim of a run had no answer.
    pub(crate) fn keep(&mut self, number: u64, whose: &str, claim: LeaseClaim) {
        let is_new = self.unanswered.iter().all(|(_, kept)| kept.instance != claim.instance);
        if number > self.forgotten && is_new {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_began_before_a_copy_is_not_kept_when_it_ends_after() {
        let claim = || LeaseClaim { instance: "one".into(), asked: Duration::ZERO };
        let mut leases = ProcessLeases::new();
        let [before, ended_before] = [leases.number(), leases.number()];
        leases.keep(ended_before, "orders", claim());
        leases.forget_unanswered();
        leases.keep(before, "orders", claim());
        assert_eq!(leases.take("orders"), None);
        let after = leases.number();
        leases.keep(after, "orders", claim());
        assert_eq!(leases.take("orders"), Some(claim()));
    }
}
