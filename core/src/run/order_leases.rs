//! The leases of a run beside those of the other runs of its process: what its claims brought, and what it holds.

use crate::aside::Aside;
use crate::run::farewell::Farewell;
use crate::run::moment::Moment;
use crate::run::order::{Life, RunOrder};
use crate::run::process_leases::{Came, Known, ProcessLeases};
use crate::run::round::Round;
use crate::run::server_leases::ServerLeases;
use crate::{Code, Error, Lease, LeaseClaim};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl RunOrder {
    /// Judges what the claims brought. Other runs of the process do the same, one after another.
    pub(crate) fn judge(&mut self, m: &mut Moment<'_>, leases: &mut ProcessLeases) {
        if let (Some(servers), Some(whose)) = (&mut self.servers, leased_from(m)) {
            let number = self.number.0;
            servers.take_unanswered().into_iter().for_each(|claim| leases.keep(number, &whose, claim));
        }
        while let Some(Came { call, lease, in_time }) = self.came.pop_front() {
            let in_time = in_time.zip(self.round.as_mut().filter(|round| round.waits_for_claim()));
            let is_known = leases.is_known(self.number.0, call.0, &lease.key(), in_time.is_none());
            match (in_time, is_known) {
                (Some((times, round)), is_known) => {
                    let lease = if is_known { Err(leased_twice(&lease)) } else { Ok(lease) };
                    round.leased(lease, times, m);
                }
                (None, false) => self.release_unused(lease, m),
                // A release would give away a worker id that is in use.
                (None, true) => {}
            }
            self.note(m, leases);
        }
    }

    /// Tells the other runs of the process what this one has.
    pub(crate) fn note(&mut self, m: &Moment<'_>, leases: &mut ProcessLeases) {
        if !m.settings.workers.leases() {
            return;
        }
        if self.number.0 == 0 {
            self.number = Aside(leases.number());
        }
        let number = self.number.0;
        let of_seat = self.seat.as_ref().and_then(|seat| seat.lease.as_ref());
        let of_seat = of_seat.map(|held| match self.life {
            Life::Lost => Known::lost(number, held.lease().key()),
            _ => Known::held(number, held.lease().worker_id),
        });
        let of_round = self.round.as_ref().and_then(Round::lease);
        let of_farewell = self.farewell.as_ref().and_then(Farewell::lease);
        let held = of_round.into_iter().chain(of_farewell).map(|lease| Known::held(number, lease.worker_id));
        let waiting = self.releases.iter().map(|(lease, _)| lease.key());
        let of_servers = self.servers.iter().flat_map(ServerLeases::releases).cloned();
        let released = waiting.chain(of_servers).chain(self.lanes.releases().cloned()).map(Known::released);
        let known: Vec<Known> = of_seat.into_iter().chain(held).chain(released).collect();
        let claims = self.lanes.claims().chain(self.came.iter().map(|came| came.call.0));
        leases.note(number, &m.settings.name, known, claims);
    }

    /// A claim without an answer, to send as it was.
    pub(crate) fn unanswered(m: &Moment<'_>, leases: &mut ProcessLeases) -> Option<LeaseClaim> {
        leases.take(&leased_from(m)?)
    }
}

/// The id space and the servers that lease its worker ids; `None` if others give them.
fn leased_from(m: &Moment<'_>) -> Option<String> {
    let urls = m.settings.workers.urls()?;
    Some(format!("{} {}", m.settings.name, urls.join(" ")))
}

fn leased_twice(lease: &Lease) -> Error {
    let message = format!(
        "worker id {} was leased to two claims of this process, of which one holds it or has released it; each claim needs \
         a lease of its own: see the source of worker ids, then try again",
        lease.worker_id
    );
    Error::new(Code::WorkerInUse, message)
}
