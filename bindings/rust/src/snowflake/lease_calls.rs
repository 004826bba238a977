//! Calls of the lease source: claims, renewals and releases.

use crate::os;
use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::snowflake::generator::Generator;
use crate::tasks::user_calls;
use crate::tasks::with_timeout;
use crate::tasks::with_timeout::Timed;
use crate::worker::lease_cache::LeaseCache;
use crate::worker::renewable_lease::{LateAnswer, RenewableLease, RenewalCall, renewal_answer};
use crate::worker::source::WorkerSource;
use leafid_core::{Code, Error, RenewalAnswer, RenewalEnd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::{Duration, Instant};

impl Generator {
    /// Renews the lease at its source, on its own thread, because it may be a user callback.
    pub(crate) fn call_source(self: &Arc<Self>, call: RenewalCall) {
        let generator = Arc::clone(self);
        let unasked = Arc::clone(&call.late);
        let begun = user_calls::start(move || {
            let RenewalCall { source, request, late } = call;
            let asked = generator.env.clock.boot_time();
            let answer = catch_unwind(AssertUnwindSafe(|| source.renew(&request.lease, request.wish_ms)))
                .unwrap_or_else(|_| Err("the renewal panicked".into()));
            let kept = generator.take_renewal(&late, renewal_answer(answer), asked);
            // A caller may be waiting for the span. No caller waits for the cache.
            generator.renewer.schedule(&generator, false);
            if kept {
                generator.cache_lease();
            }
        });
        if let Err(error) = begun {
            // As text: whatever its code, the source has not said that the lease is lost.
            let answer = renewal_answer(Err(error.message().into()));
            self.take_renewal(&unasked, answer, self.env.clock.boot_time());
        }
    }

    /// Accepts the result of the source. `asked` is the boot time before the call. Returns whether the lease was
    /// renewed.
    fn take_renewal(self: &Arc<Self>, late: &LateAnswer, answer: RenewalAnswer, asked: Duration) -> bool {
        let (ended, until_ms) = {
            let mut span_writer = lock(&self.span_writer);
            let Some(lease) = span_writer.as_mut().and_then(|span_writer| span_writer.lease.as_mut()) else {
                // Closed in between: the thread that releases the lease needs the result.
                let _ = late.set(answer);
                return false;
            };
            let clock = &self.env.clock;
            let (boot_time, now_ms) = (clock.boot_time(), clock.filtered_ms());
            let ended = lease.held.call_ended(answer, self.core.layout(), asked, boot_time, now_ms);
            (ended, lease.held.lease().until_ms)
        };
        match ended {
            RenewalEnd::Kept => {
                self.kept.store(true, Release);
                self.note_lease(until_ms, None);
                return true;
            }
            RenewalEnd::Failed(error) => {
                log::warn!("leafid: the lease of worker id {} was not renewed: {error}", self.worker_id);
                self.note_lease(until_ms, Some(error));
            }
            RenewalEnd::Lost(error) => {
                self.invalidate_cached_lease();
                self.lose(error);
            }
        }
        false
    }

    /// Writes the lease to the cache, for a start while no server is reachable. Waits for the disk. An error is logged
    /// and has no other effect.
    pub(crate) fn cache_lease(&self) {
        let mut guard = lock(&self.lease_cache);
        let Some(cache) = guard.as_mut() else { return };
        let held = lock(&self.span_writer).as_ref().and_then(|span_writer| {
            let held = &span_writer.lease.as_ref()?.held;
            Some((held.lease().clone(), held.ends()?))
        });
        let Some((lease, ends)) = held else { return };
        if let Err(error) = cache.store(&lease, ends) {
            drop(guard);
            log::warn!("leafid: the lease of worker id {} is not cached: {error}", self.worker_id);
        }
    }

    /// [`Generator::cache_lease`], if there is a cache. Returns after `patience` at the latest; the write then
    /// continues.
    pub(crate) fn cache_lease_within(self: &Arc<Self>, patience: Duration) {
        if lock_signal_safe(&self.lease_cache, self.generation, |cache| cache.is_some()) == Some(true) {
            let generator = Arc::clone(self);
            with_timeout::run(patience, move || generator.cache_lease());
        }
    }

    /// Invalidates the cached lease, durably. Returns whether that succeeded: only then may the lease be released.
    pub(crate) fn invalidate_cached_lease(&self) -> bool {
        let mut cache = lock(&self.lease_cache);
        let Some(Err(error)) = cache.as_ref().map(LeaseCache::invalidate) else {
            *cache = None;
            return true;
        };
        drop(cache);
        log::warn!(
            "leafid: worker id {} is not released, because its lease is still cached: {error}; it ends by itself",
            self.worker_id
        );
        false
    }

    /// Whether callers wait for the source of worker ids: for a renewal, or for the claim of another lease.
    pub(crate) fn waits_for_source(&self) -> bool {
        self.lease_is_short.load(Acquire) || self.is_lost()
    }

    /// The error of a thread that must return before the user callback can run.
    pub(crate) fn needs_caller(&self) -> Error {
        let by = match self.settings.key.workers.source().and_then(WorkerSource::as_servers) {
            Some(_) => "and its server has not answered yet",
            None => "by code that runs on this thread's event loop",
        };
        let message = format!(
            "the lease of worker id {} is being renewed, or another one claimed, {by}{}; return to the event loop and call \
             again",
            self.worker_id,
            self.before()
        );
        Error::new(Code::WouldBlock, message)
    }

    /// Releases the lease before the deadline, once no renewal is running. An error is logged: the lease ends by
    /// itself.
    pub(crate) fn release(&self, lease: RenewableLease, first_unused: u64, deadline: Instant) {
        let until_ms = self.core.layout().tick_start_ms(first_unused);
        let waits = !lease.source.runs_on_callers_thread();
        let mut pause = PollSleep::new();
        while waits && lease.waits_for_late_answer() {
            // A renewal that closes its own generator would wait for itself.
            if user_calls::is_this_thread() || !pause.until(deadline) {
                log::warn!("leafid: worker id {} is not released: a renewal is running", self.worker_id);
                return;
            }
        }
        let Some(grant) = lease.into_grant() else { return };
        let patience = deadline.saturating_duration_since(Instant::now());
        let release = move || grant.release(until_ms);
        if let Timed::Out =
            with_timeout::run_unless(patience, os::ThreadKind::UserCode, &mut || false, release)
        {
            log::warn!("leafid: the release of worker id {} did not answer in time", self.worker_id);
        }
    }
}
