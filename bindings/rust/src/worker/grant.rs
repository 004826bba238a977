//! A worker id that a source granted, with its lease if there is one.

use crate::os;
use crate::worker::leases::WorkerLeases;
use leafid_core::Lease;
use std::sync::Arc;
use std::time::Duration;

/// A claim that succeeded.
#[derive(Clone)]
pub(crate) struct Grant {
    /// The generation of the process that sent the request. A child of a later fork releases nothing: the grant is its
    /// parent's.
    pub(crate) generation: u64,
    /// The boot time before the source was called. A lease may have started then.
    pub(crate) asked: Duration,
    pub(crate) worker_id: i64,
    pub(crate) lease: Option<(Arc<dyn WorkerLeases>, Lease)>,
}

impl Grant {
    /// Releases a lease that was not used.
    pub(crate) fn release_unused(self) {
        let from_ms = self.lease.as_ref().map_or(0, |(_, lease)| lease.from_ms);
        self.release(from_ms);
    }

    /// Releases a lease: no id at or after `until_ms` was or will be issued. An error is logged, because the lease ends
    /// by itself.
    pub(crate) fn release(self, until_ms: i64) {
        if let Some((source, lease)) = self.lease
            && self.generation == os::process::generation()
            && let Err(error) = source.release(&lease, until_ms)
        {
            log::warn!(
                "leafid: worker id {} was not released: {error}; its lease ends by itself",
                lease.worker_id
            );
        }
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::tasks::user_calls::Answer;
    use crate::worker::leases::{ClaimRequest, WorkerLeases};
    use crate::worker::source::WorkerSource;
    use leafid_core::{Lease, Renewal};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    #[derive(Default)]
    struct Counts(Arc<AtomicUsize>);

    impl WorkerLeases for Counts {
        fn claim(&self, _: &ClaimRequest) -> Answer<Option<Lease>> {
            Ok(Some(Lease { worker_id: 5, ..Lease::default() }))
        }
        fn renew(&self, _: &Lease, _: i64) -> Answer<Option<Renewal>> {
            Ok(None)
        }
        fn release(&self, _: &Lease, _: i64) -> Answer<()> {
            self.0.fetch_add(1, SeqCst);
            Ok(())
        }
    }

    #[test]
    fn a_forked_child_gives_nothing_of_its_parent_s_back() {
        let counts = Counts::default();
        let released = Arc::clone(&counts.0);
        let request = ClaimRequest {
            name: "n".into(),
            instance: String::new(),
            previous: None,
            now_ms: 0,
            until_ms: 0,
        };
        let grant = WorkerSource::leases(counts).claim(&request, Duration::ZERO).unwrap();
        // SAFETY: the child runs this test's own code and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            grant.release_unused();
            // SAFETY: ends the child.
            unsafe { libc::_exit(released.load(SeqCst) as i32) };
        }
        let mut status = -1;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!(status, 0, "it is the parent's lease");
        grant.release_unused();
        assert_eq!(released.load(SeqCst), 1);
    }
}
