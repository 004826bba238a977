//! The claims of leases that no server has answered, between the runs of a process: the next opening sends one of
//! them as it was, and so takes no second worker id.
//!
//! | State of a claim | Event | Next state |
//! | --- | --- | --- |
//! | of a run | `keep_of`: its run has failed or is closed | kept |
//! | of a run | `keep_of`: its run may still send it | the same |
//! | kept | `give_to`: a run of the same id space and servers, before it is opened | of that run alone |
//! | kept | `give_to`: any other run | the same |

use crate::LeaseClaim;
use crate::run::run_state::RunState;
use crate::run::worker_run::WorkerRun;
use alloc::string::String;
use alloc::vec::Vec;

/// The claims of one process. A forked child begins with none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UnansweredClaims {
    /// Each with what it is for.
    kept: Vec<(String, LeaseClaim)>,
}

impl UnansweredClaims {
    /// None is kept.
    pub const fn new() -> UnansweredClaims {
        UnansweredClaims { kept: Vec::new() }
    }

    /// Takes what a run leaves: after each failed opening, each close, and each late end of a closed run.
    pub fn keep_of(&mut self, run: &mut WorkerRun) {
        let Some(whose) = run.leased_from() else { return };
        if !matches!(run.state(), RunState::Failed(_) | RunState::Closed) {
            return;
        }
        while let Some(claim) = run.take_unanswered() {
            if self.kept.iter().all(|(_, known)| known.instance != claim.instance) {
                self.kept.push((whose.clone(), claim));
            }
        }
    }

    /// Gives a run one claim before its opening. Two runs that send it would get one lease.
    pub fn give_to(&mut self, run: &mut WorkerRun) {
        let Some(whose) = run.leased_from() else { return };
        if matches!(run.state(), RunState::Idle | RunState::Failed(_))
            && let Some(at) = self.kept.iter().position(|(known, _)| *known == whose)
        {
            run.give_unanswered(self.kept.remove(at).1);
        }
    }
}
