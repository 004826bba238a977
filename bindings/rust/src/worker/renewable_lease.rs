//! A lease that a generator holds, with the source that renews it.

use crate::tasks::user_calls::Answer;
use crate::worker::grant::Grant;
use crate::worker::leases::WorkerLeases;
use crate::worker::source;
use leafid_core::{Code, Error, HeldLease, Renewal, RenewalAnswer, RenewalRequest, Span};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(crate) struct RenewableLease {
    pub(crate) source: Arc<dyn WorkerLeases>,
    pub(crate) held: HeldLease,
    late: LateAnswer,
    /// As [`Grant::generation`].
    generation: u64,
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
    /// The lease of a grant, with the span that is used of it. A call of its source that takes longer than `patience`
    /// counts as hanging. `None` if the worker id comes without a lease.
    pub(crate) fn new(grant: Grant, span: Span, now_ms: i64, patience: Duration) -> Option<RenewableLease> {
        let Grant { generation, asked, lease, .. } = grant;
        let (source, lease) = lease?;
        let held = HeldLease::new(lease, span, asked, now_ms, patience);
        Some(RenewableLease { source, held, late: LateAnswer::default(), generation })
    }

    /// As [`HeldLease::begin_call`].
    pub(crate) fn begin_call(
        &mut self,
        boot_time: Duration,
        now_ms: i64,
        waited_for: bool,
    ) -> Option<RenewalCall> {
        let request = self.held.begin_call(boot_time, now_ms, waited_for)?;
        Some(RenewalCall { source: Arc::clone(&self.source), request, late: Arc::clone(&self.late) })
    }

    /// For the lease of a closed generator: whether the renewal that ran at the close still runs.
    pub(crate) fn waits_for_late_answer(&self) -> bool {
        self.held.is_calling() && self.late.get().is_none()
    }

    /// The grant to release; `None` if the lease is lost.
    pub(crate) fn into_grant(self) -> Option<Grant> {
        let lease = self.held.into_released(self.late.get().cloned())?;
        let (generation, worker_id) = (self.generation, lease.worker_id);
        Some(Grant { generation, asked: Duration::ZERO, worker_id, lease: Some((self.source, lease)) })
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
