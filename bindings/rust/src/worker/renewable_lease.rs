//! A lease that a generator holds, with the source that renews it.

use crate::tasks::user_calls::Answer;
use crate::worker::leases::WorkerLeases;
use crate::worker::source;
use leafid_core::{Code, Error, HeldLease, Lease, Renewal, RenewalAnswer, RenewalRequest};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(crate) struct RenewableLease {
    pub(crate) source: Arc<dyn WorkerLeases>,
    pub(crate) held: HeldLease,
    late: LateAnswer,
}

/// The result of a renewal that ended after the generator was closed.
pub(crate) type LateAnswer = Arc<OnceLock<RenewalAnswer>>;

/// One call of the lease source.
pub(crate) struct RenewalCall {
    pub(crate) source: Arc<dyn WorkerLeases>,
    pub(crate) request: RenewalRequest,
    pub(crate) late: LateAnswer,
}

impl RenewableLease {
    pub(crate) fn new(source: Arc<dyn WorkerLeases>, held: HeldLease) -> RenewableLease {
        RenewableLease { source, held, late: LateAnswer::default() }
    }

    /// As [`HeldLease::begin_call`].
    pub(crate) fn begin_call(
        &mut self,
        counted: Duration,
        now_ms: i64,
        waited_for: bool,
    ) -> Option<RenewalCall> {
        let request = self.held.begin_call(counted, now_ms, waited_for)?;
        Some(RenewalCall { source: Arc::clone(&self.source), request, late: Arc::clone(&self.late) })
    }

    /// For the lease of a closed generator: whether the renewal that ran at the close still runs.
    pub(crate) fn waits_for_late_answer(&self) -> bool {
        self.held.is_calling() && self.late.get().is_none()
    }

    /// The lease to release, and its source; `None` if the lease is lost.
    pub(crate) fn into_released(self) -> Option<(Arc<dyn WorkerLeases>, Lease)> {
        let lease = self.held.into_released(self.late.get().cloned())?;
        Some((self.source, lease))
    }
}

/// Converts the result of a source for the lease schedule.
pub(crate) fn renewal_answer(answer: Answer<Option<Renewal>>) -> RenewalAnswer {
    match answer {
        Ok(Some(renewal)) => RenewalAnswer::Renewed(renewal),
        Ok(None) => RenewalAnswer::NotHeld,
        Err(error) => match error.downcast::<Error>() {
            Ok(error) if error.code() == Code::WorkerLost => RenewalAnswer::Lost(*error),
            Ok(error) => RenewalAnswer::Failed(*error),
            Err(error) => RenewalAnswer::Failed(source::failed("the renewal of the lease", error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_of_that_code_says_that_the_lease_is_lost() {
        let error = |code| Err(Error::new(code, "as asked").into());
        assert!(matches!(renewal_answer(error(Code::WorkerLost)), RenewalAnswer::Lost(_)));
        assert!(matches!(renewal_answer(error(Code::StateIo)), RenewalAnswer::Failed(_)));
        assert!(matches!(renewal_answer(Err("lost".into())), RenewalAnswer::Failed(_)));
        assert_eq!(renewal_answer(Ok(None)), RenewalAnswer::NotHeld);
        let renewal = Renewal::default();
        assert_eq!(renewal_answer(Ok(Some(renewal.clone()))), RenewalAnswer::Renewed(renewal));
    }
}
