//! Recovery from a lost lease: a new claim, and a new generator that replaces the old one.

use crate::os::mutex::PollSleep;
use crate::snowflake::generator::Generator;
use crate::snowflake::recovery_state::Recovery;
use crate::tasks::interrupt::{self, Interrupted};
use crate::tasks::user_calls;
use crate::tasks::with_timeout::CLOSE_WAITS;
use crate::worker::acquire::{Acquired, check_server_clocks, guarded_claim, is_held_here, request};
use crate::worker::claim::{self, ClaimContext};
use crate::worker::worker_ids::WorkerIds;
use leafid_core::{Code, Error, LeaseLoss, LossAction, Result, SHORTEST_BACK_OFF};
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::time::{Duration, Instant};

impl Generator {
    /// Records that the lease is lost, and starts a new claim. The rest of the span is still used.
    pub(crate) fn lose(self: &Arc<Self>, why: Error) -> Duration {
        log::warn!("leafid: {why}");
        let until_ms = self.renewal_log().lease_until_ms.unwrap_or(0);
        self.note_lease(until_ms, Some(why.clone()));
        let boot_time = self.env.clock.boot_time();
        // If leases are lost one after another without a renewal, the time between the claims grows.
        let losses = if self.kept.load(Acquire) { 0 } else { self.losses };
        let timeout = self.settings.timeout;
        self.with_recovery(|state| {
            state.lost.get_or_insert_with(|| LeaseLoss::new(self.worker_id, why, losses, boot_time, timeout));
        });
        match self.recover_if_lost(false) {
            Recovery::UnderWay(again) | Recovery::Failed(_, again) => again,
            Recovery::NotLost | Recovery::Done => SHORTEST_BACK_OFF,
        }
    }

    /// Starts a claim if the lease is lost and a claim is due. `waited_for`: a caller has no span and waits.
    pub(crate) fn recover_if_lost(self: &Arc<Self>, waited_for: bool) -> Recovery {
        let boot_time = self.env.clock.boot_time();
        let patience = self.settings.call_bound() + claim::bound(&self.settings, &self.context.rules, false);
        let found = self.with_recovery(|state| {
            let Some(lost) = state.lost.as_mut().filter(|_| !state.closed) else {
                return (Recovery::NotLost, None);
            };
            if self.successor.get().is_some() {
                return (Recovery::Done, None);
            }
            match lost.poll(boot_time, patience, waited_for) {
                LossAction::Claim(round) => (Recovery::UnderWay(SHORTEST_BACK_OFF), Some(round)),
                LossAction::Wait(again) => (Recovery::UnderWay(again), None),
                LossAction::Failed(why, again) => (Recovery::Failed(why, again), None),
            }
        });
        let Some((recovery, begins)) = found else { return Recovery::NotLost };
        if let Some(round) = begins {
            let generator = Arc::clone(self);
            if let Err(error) = user_calls::start(move || generator.recover(round)) {
                return Recovery::Failed(self.claim_failed(round, &error), SHORTEST_BACK_OFF);
            }
        }
        recovery
    }

    /// Claims again and seals this generator. The new one replaces it, above all ids that this one issued.
    fn recover(self: &Arc<Self>, round: u64) {
        match self.next_generator(round) {
            Ok(Some(next)) => {
                let next = Arc::new(next);
                next.cache_lease();
                let installed = self.with_recovery(|state| {
                    let current = state.lost.as_ref().is_some_and(|lost| lost.is_current(round));
                    current && !state.closed && self.successor.set(Arc::clone(&next)).is_ok()
                });
                match installed {
                    Some(true) => {
                        log::info!(
                            "leafid: worker id {} took the place of the lost {}",
                            next.worker_id,
                            self.worker_id
                        );
                        next.renewer.schedule(&next, true);
                    }
                    // Closed or given up in between.
                    Some(false) => {
                        if let Err(error) = next.shut(CLOSE_WAITS) {
                            log::warn!("leafid: closing: {error}");
                        }
                    }
                    None => {}
                }
                self.note(None, self.core.until());
            }
            // Given up in between.
            Ok(None) => return,
            Err(error) => {
                self.claim_failed(round, &error);
            }
        }
        self.renewer.schedule(self, false);
    }

    /// Records that the claim of this round failed, and returns the error for callers.
    fn claim_failed(&self, round: u64, error: &Error) -> Error {
        let boot_time = self.env.clock.boot_time();
        let why = self.with_recovery(|state| {
            let lost = state.lost.as_mut()?;
            lost.claim_failed(round, error, boot_time);
            Some(lost.why().clone())
        });
        why.flatten().unwrap_or_else(|| error.clone())
    }

    /// Returns `None` if the round was given up.
    fn next_generator(self: &Arc<Self>, round: u64) -> Result<Option<Generator>> {
        let WorkerIds::FromSource(source) = &self.settings.key.workers else {
            return Err(Error::new(Code::Internal, "a worker id without a source was lost; report this"));
        };
        if let Some(peers) = &self.settings.peer_times {
            peers.check(|| self.env.clock.filtered_ms())?;
        }
        let request = request(&self.env, &self.settings.key.space.name, Some(self.worker_id))?;
        let grant = guarded_claim(source, &request, self.env.clock.boot_time())?;
        let unused = |error: &Error| {
            if !is_held_here(&self.env, &self.settings, Some(&grant), error) {
                grant.clone().release_unused();
            }
        };
        check_server_clocks(&self.env, &grant).inspect_err(unused)?;
        let mut sealed = None;
        let floor = self.with_recovery(|state| {
            let seal = || {
                sealed = self.core.seal();
                sealed
            };
            state.lost.as_mut()?.take_over(round, seal)
        });
        let Some(floor) = floor.flatten() else {
            grant.release_unused();
            return Ok(None);
        };
        if let Some(sealed) = sealed {
            // Without its lease, which is lost.
            if let Err(error) = self.let_go(sealed) {
                log::warn!("leafid: the record of worker id {} was not closed: {error}", self.worker_id);
            }
        }
        let context = ClaimContext {
            floor: floor.max(self.context.floor),
            acquired: Acquired::Granted(grant.clone()),
            inherited: false,
            ..self.context.clone()
        };
        let claim = claim::claim(&self.env, &self.settings, &context).inspect_err(unused)?;
        let (env, renewer) = (Arc::clone(&self.env), Arc::clone(&self.renewer));
        let settings = Arc::clone(&self.settings);
        let context = ClaimContext { acquired: Acquired::Nothing, ..context };
        let losses = if self.kept.load(Acquire) { 1 } else { self.losses.saturating_add(1) };
        Ok(Some(Generator::new(env, renewer, settings, context, claim, self.renewal_log(), losses)))
    }

    /// The generator that finally replaced this one, or this one itself.
    pub(crate) fn newest(self: &Arc<Self>) -> &Arc<Generator> {
        let mut generator = self;
        while let Some(next) = generator.successor.get() {
            generator = next;
        }
        generator
    }

    /// Whether its lease is lost: another one is claimed.
    pub(crate) fn is_lost(&self) -> bool {
        self.with_recovery(|state| state.lost.is_some()) == Some(true)
    }

    /// Whether one of them came to replace the other. Once this is true, it stays true.
    pub(crate) fn is_same(self: &Arc<Self>, other: &Arc<Generator>) -> bool {
        self.leads_to(other) || other.leads_to(self)
    }

    fn leads_to(self: &Arc<Self>, other: &Arc<Generator>) -> bool {
        std::iter::successors(Some(self), |generator| generator.successor.get())
            .any(|generator| Arc::ptr_eq(generator, other))
    }

    /// Waits for the generator that replaces this sealed one. Errors: why there is none.
    pub(crate) fn await_successor(
        self: &Arc<Self>,
        deadline: Instant,
        may_wait: bool,
        interrupted: Interrupted<'_>,
    ) -> Result<()> {
        let mut pause = PollSleep::new();
        loop {
            if self.successor.get().is_some() || !self.is_ours() {
                return Ok(());
            }
            match self.recover_if_lost(true) {
                Recovery::Failed(why, _) => return Err(why),
                Recovery::NotLost => {
                    return Err(Error::new(Code::Closed, "the generator was closed; open another one"));
                }
                Recovery::Done => continue,
                Recovery::UnderWay(_) => {}
            }
            if !may_wait {
                return Err(self.needs_caller());
            }
            if !pause.until(deadline) {
                return Err(self.late());
            }
            if interrupted() {
                return Err(interrupt::interrupted());
            }
        }
    }

    /// Marks it as closed. Returns the generator that replaced it, which must be closed too, and whether this one lost
    /// its lease. A lost lease is not released, because another process may hold it.
    pub(crate) fn mark_closed(&self) -> (Option<Arc<Generator>>, bool) {
        let closed = self.with_recovery(|state| {
            state.closed = true;
            (self.successor.get().cloned(), state.lost.is_some())
        });
        closed.unwrap_or_default()
    }
}

/// Drops the successors one after another: a generator that lost many leases has a long chain of them.
impl Drop for Generator {
    fn drop(&mut self) {
        let mut next = self.successor.take();
        while let Some(mut generator) = next.and_then(Arc::into_inner) {
            next = generator.successor.take();
        }
    }
}
