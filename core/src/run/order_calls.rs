//! The calls of a run: which one is next on each lane, and where its end goes.
//!
//! | Lane | The next call, if the lane is free |
//! | --- | --- |
//! | `Beside` | a release, a look at other names |
//! | `Disk` | the end of a sealed generator, the claim, the span |
//! | `Source` | the claim, the renewal |
//! | `Cache` | the drop of a cached lease, the claim, the cache of a lease |

use crate::aside::{Aside, OfCall};
use crate::call::CallId;
use crate::http::{ClaimEnd, HttpEnd, HttpResult, LateEnd};
use crate::options::deployment;
use crate::run::call_end::{Claimed, End};
use crate::run::disk_calls::NamesCall;
use crate::run::lanes::{Asked, Lane, RunCall, UnderWay};
use crate::run::leaving::Leaving;
use crate::run::moment::Moment;
use crate::run::notices::RunNotice;
use crate::run::order::{Life, RunOrder};
use crate::run::process_leases::{Came, ProcessLeases};
use crate::run::record_write::RecordWritten;
use crate::run::server_leases::ServerStep;
use crate::run::source_calls::{ReleaseCall, RenewCall};
use crate::{Code, Error, RenewalAnswer};
use alloc::format;
use core::mem::take;
use core::time::Duration;

/// A call, what it is for, and how long it may take.
type Chosen = (Lane, Asked, RunCall, Option<Duration>);

/// What the look for a call came to.
enum Choice {
    Call(Chosen),
    /// There was none, but something ended by the look: what waited for it may have one.
    Again,
    None,
}

impl RunOrder {
    /// The next call. If there is none, nothing becomes ready before the next event or the next time.
    pub(crate) fn next_call(
        &mut self,
        m: &mut Moment<'_>,
        leases: &mut ProcessLeases,
    ) -> Option<(CallId, Lane, RunCall)> {
        loop {
            self.judge(m, leases);
            self.settle(m);
            // Before a release is sent.
            self.note(m, leases);
            if let Some(release) = self.next_release(m) {
                return Some(release);
            }
            match self.choose(m, leases) {
                Choice::Call((lane, asked, call, within)) => {
                    let id = self.lanes.begin((lane, asked), m.boot, within);
                    // Before a claim is sent.
                    self.note(m, leases);
                    return Some((id, lane, call.numbered(id)));
                }
                Choice::Again => {}
                Choice::None => return None,
            }
        }
    }

    fn next_release(&mut self, m: &mut Moment<'_>) -> Option<(CallId, Lane, RunCall)> {
        let servers = self.servers.as_mut()?;
        let (at, lease, call) = servers.next_release(m)?;
        let id = self.lanes.begin((Lane::Beside, Asked::Release(lease)), m.boot, None);
        servers.release_sent(at, id);
        Some((id, Lane::Beside, RunCall::Http(call).numbered(id)))
    }

    fn choose(&mut self, m: &mut Moment<'_>, leases: &mut ProcessLeases) -> Choice {
        if let Some(chosen) = self.free_call(m) {
            return Choice::Call(chosen);
        }
        match self.servers.is_some() && self.lanes.is_free(Lane::Source) {
            true => self.server_call(m, leases),
            false => Choice::None,
        }
    }

    /// The next call, but for a request to lease servers.
    fn free_call(&mut self, m: &mut Moment<'_>) -> Option<Chosen> {
        if let Some((lease, until_ms)) = self.releases.pop_front() {
            let asked = Asked::Release(lease.key());
            let call = RunCall::Release(ReleaseCall { lease, until_ms, of: OfCall::default() });
            return Some((Lane::Beside, asked, call, None));
        }
        if let Some(seat) = self.seat.as_ref().filter(|_| take(&mut self.asks_names)) {
            let call = RunCall::Names(NamesCall { worker_id: seat.worker_id, of: OfCall::default() });
            return Some((Lane::Beside, Asked::Names, call, None));
        }
        if self.lanes.is_free(Lane::Disk)
            && let Some((asked, call)) = self.disk_call(m)
        {
            return Some((Lane::Disk, asked, call, None));
        }
        if self.lanes.is_free(Lane::Cache)
            && let Some((asked, call)) = self.cache_call(m)
        {
            return Some((Lane::Cache, asked, call, None));
        }
        if !self.lanes.is_free(Lane::Source) {
            return None;
        }
        if let Some(round) = &mut self.round
            && let Some(call) = round.next_call(Lane::Source, m)
        {
            let asked = if matches!(call, RunCall::Claim(_)) { Asked::Claim } else { Asked::PeerTimes };
            return Some((Lane::Source, asked, call, round.call_time(m)));
        }
        if self.servers.is_some() {
            return None;
        }
        let seat = self.seat.as_mut().filter(|_| self.life == Life::Held)?;
        let request = seat.next_renewal(self.callers.waits_for_span(), m)?;
        let call = RunCall::Renew(RenewCall { request, of: OfCall::default() });
        // Without a time of its own: another one with the same token would be refused, because this one may make a new
        // token. If it hangs, the lease is over at its end.
        Some((Lane::Source, Asked::Renew, call, None))
    }

    fn disk_call(&mut self, m: &mut Moment<'_>) -> Option<(Asked, RunCall)> {
        let of_kind = |call: RunCall, other| match &call {
            RunCall::WriteRecord(_) => (Asked::WriteRecord, call),
            RunCall::CloseRecord(_) | RunCall::UnlockHost(_) => (Asked::Unlock, call),
            _ => (other, call),
        };
        if let Some(call) = self.leaving.as_mut().and_then(|leaving| leaving.next_call(m)) {
            return Some(of_kind(call, Asked::Unlock));
        }
        if let Some(call) = self.round.as_mut().and_then(|round| round.next_call(Lane::Disk, m)) {
            return Some(of_kind(call, Asked::OfRound));
        }
        let seat = self.seat.as_mut().filter(|_| self.life == Life::Held)?;
        let call = seat.next_write(self.generator.as_ref()?, self.callers.waits_for_span(), m)?;
        Some((Asked::WriteRecord, call))
    }

    fn cache_call(&mut self, m: &mut Moment<'_>) -> Option<(Asked, RunCall)> {
        if let Some(call) = self.leaving.as_mut().and_then(Leaving::drop_call) {
            return Some((Asked::DropCache, call));
        }
        if let Some(call) = self.round.as_mut().and_then(|round| round.next_call(Lane::Cache, m)) {
            return Some((Asked::OfRound, call));
        }
        let seat = self.seat.as_mut().filter(|_| self.life == Life::Held)?;
        Some((Asked::WriteCache, seat.cache_call(m)?))
    }

    /// The next request to lease servers: of the exchange that is under way, or of one that begins now.
    fn server_call(&mut self, m: &mut Moment<'_>, leases: &mut ProcessLeases) -> Choice {
        let Some(servers) = &mut self.servers else { return Choice::None };
        if servers.is_idle() {
            let seat = self.seat.as_mut().filter(|_| self.life == Life::Held);
            if let Some(round) = &mut self.round
                && round.asks_servers()
            {
                servers.claim(RunOrder::unanswered(m, leases), round.call_time(m), m);
            } else if let Some(request) =
                seat.and_then(|seat| seat.next_renewal(self.callers.waits_for_span(), m))
            {
                servers.renew(&request, m);
            }
        }
        let asked = if servers.renews() { Asked::Renew } else { Asked::Claim };
        match servers.poll(m.boot) {
            ServerStep::Nothing => Choice::None,
            ServerStep::Send(call) => Choice::Call((Lane::Source, asked, RunCall::Http(call), None)),
            ServerStep::Done(result, since) => {
                self.served(result, since, None, m);
                Choice::Again
            }
        }
    }

    /// An exchange with lease servers is over: by the end of this call, if it brought something.
    fn served(&mut self, result: HttpResult, since: Duration, call: Option<CallId>, m: &mut Moment<'_>) {
        match (result, &mut self.farewell) {
            (HttpResult::Claimed(ClaimEnd { lease: Ok(lease), asked, .. }), _) => {
                let came = call.map(|call| Came { call: Aside(call), lease, in_time: Some((asked, since)) });
                self.came.extend(came);
            }
            (HttpResult::Claimed(ClaimEnd { lease: Err(error), is_unreachable, .. }), _) => {
                let round = self.round.iter_mut();
                round.for_each(|round| round.not_leased(error.clone(), is_unreachable, since, m));
            }
            (HttpResult::Renewed(answer), Some(farewell)) => farewell.renewed(since, answer),
            (HttpResult::Renewed(answer), None) if self.life == Life::Held => {
                self.take_renewal(answer, since, m);
            }
            _ => {}
        }
    }

    /// A call ended. One that ended before has no effect.
    pub(crate) fn ended(&mut self, id: CallId, end: End, m: &mut Moment<'_>) {
        if matches!(end, End::NeedsLoop) {
            return self.needs_loop(id, m);
        }
        let Some(call) = self.lanes.end(id) else { return };
        match (&call.asked, end) {
            (Asked::Release(_), End::Http(end)) => {
                self.servers.iter_mut().for_each(|servers| servers.release_ended(id, (*end).clone(), m));
            }
            (Asked::Release(_), End::Released(worker_id, Err(text))) => m.tell_unreleased(worker_id, text),
            (Asked::Release(_), _) => {}
            (_, End::Http(end)) if call.abandoned => self.served_late(*end, id, &call, m),
            (_, End::Http(end)) => {
                let step = self.servers.as_mut().map(|servers| servers.ended(*end, m.boot));
                if let Some(ServerStep::Done(result, since)) = step {
                    self.served(result, since, Some(id), m);
                }
            }
            (Asked::Renew, End::Renewed(answer)) => self.renewed(answer, &call, m),
            (Asked::Claim, End::Claimed(Ok(Claimed::Lease(lease, ago)))) if m.settings.workers.leases() => {
                let in_time = (!call.abandoned).then_some((call.since.saturating_sub(ago), call.since));
                self.came.push_back(Came { call: Aside(id), lease, in_time });
            }
            // No caller waits for it any more.
            (Asked::PeerTimes | Asked::Claim, _) if call.abandoned => {}
            (Asked::WriteRecord, End::Written(written)) => self.written(*written, m),
            (Asked::Unlock, end) => match (&mut self.leaving, &mut self.round) {
                (Some(leaving), _) => leaving.ended(end),
                (None, Some(round)) => round.ended(end, call.since, m),
                (None, None) => {}
            },
            (Asked::Names, End::Names(worker_id, names)) => {
                let warning = deployment::other_names_warning(&m.settings.name, worker_id, names);
                warning.into_iter().for_each(|warning| m.notices.warn(warning));
            }
            // Of a worker id that was left since, it says nothing of another one's file.
            (Asked::WriteCache, End::CacheWritten(end)) => match (&mut self.leaving, &mut self.seat) {
                (Some(leaving), _) if leaving.worker_id == end.worker_id => leaving.cached(*end),
                (None, Some(seat)) if seat.worker_id == end.worker_id => seat.cached(*end, m),
                _ => {}
            },
            (Asked::DropCache, End::CacheDropped(end)) => {
                let leaving = self.leaving.as_mut().filter(|leaving| leaving.worker_id == end.worker_id);
                leaving.into_iter().for_each(|leaving| leaving.dropped(end.clone(), m));
            }
            (_, end) => {
                self.round.iter_mut().for_each(|round| round.ended(end.clone(), call.since, m));
            }
        }
    }

    /// A request to a lease server ended after it was abandoned.
    fn served_late(&mut self, end: HttpEnd, id: CallId, call: &UnderWay, m: &mut Moment<'_>) {
        match end.late() {
            LateEnd::Lease(lease) => self.came.push_back(Came { call: Aside(id), lease, in_time: None }),
            LateEnd::Renewal(answer) if call.asked == Asked::Renew => self.renewed(answer, call, m),
            LateEnd::Unanswered(claim) => {
                self.servers.iter_mut().for_each(|servers| servers.keep_unanswered(claim.clone()));
            }
            LateEnd::Nothing if call.asked == Asked::Renew => {
                let unreleased = self.farewell.as_mut().and_then(|farewell| farewell.unanswered(call.since));
                unreleased.into_iter().for_each(|id| m.tell_unreleased(id, "its renewal has no answer"));
            }
            LateEnd::Renewal(_) | LateEnd::Nothing => {}
        }
    }

    /// A write of a record ended: of the end of a sealed generator, of a span, or of the first one.
    fn written(&mut self, end: RecordWritten, m: &mut Moment<'_>) {
        match (&mut self.leaving, &mut self.seat, &mut self.round, &self.generator) {
            (Some(leaving), ..) => leaving.written(end, m),
            (None, Some(seat), _, Some(flake)) => {
                if let Some(end) = seat.write_ended(end, flake, m) {
                    self.tell_span(end, m);
                }
            }
            (None, None, Some(round), _) => round.written(end, m),
            _ => {}
        }
    }

    /// A renewal ended. One of servers that was abandoned tells of a newer token, but nothing else.
    fn renewed(&mut self, answer: RenewalAnswer, call: &UnderWay, m: &mut Moment<'_>) {
        match (&self.life, &mut self.farewell) {
            (_, Some(farewell)) => farewell.renewed(call.since, answer),
            (Life::Held, None) if call.abandoned => {
                self.seat.iter_mut().for_each(|seat| seat.renewed_late(answer.clone(), call.since, m));
            }
            (Life::Held, None) => self.take_renewal(answer, call.since, m),
            _ => {}
        }
    }

    fn abandon_source(&mut self, m: &mut Moment<'_>) {
        self.lanes.abandon(Lane::Source).into_iter().for_each(|id| m.notices.push(RunNotice::Abandon(id)));
    }

    /// What the source is asked for is not needed any more.
    pub(crate) fn give_up_source(&mut self, m: &mut Moment<'_>) {
        self.abandon_source(m);
        self.servers.iter_mut().for_each(|servers| servers.give_up());
    }

    /// The run has ended: no server is asked for a release any more. The leases end by themselves.
    pub(crate) fn give_up_releases(&mut self, m: &mut Moment<'_>) {
        let Some(servers) = &mut self.servers else { return };
        servers.give_up_releases();
        while let Some(id) = self.lanes.abandon(Lane::Beside) {
            m.notices.push(RunNotice::Abandon(id));
        }
    }

    /// Calls of the source that take too long: what waits for them goes on without them. Returns whether there were any.
    pub(crate) fn abandon_overdue(&mut self, m: &mut Moment<'_>) -> bool {
        let mut any = false;
        if let Some(servers) = &mut self.servers {
            any = servers.overdue_releases(m);
            if let ServerStep::Done(result, since) = servers.overdue(m) {
                any = true;
                self.abandon_source(m);
                self.served(result, since, None, m);
            }
        }
        if self.lanes.on(Lane::Source).is_some_and(|call| call.is_overdue(m.boot)) {
            any = true;
            self.abandon_source(m);
            self.round.iter_mut().for_each(|round| round.late(m));
        }
        any
    }

    /// A call of user code needs the event loop. Callers that return to it wait; others do not.
    fn needs_loop(&mut self, id: CallId, m: &mut Moment<'_>) {
        let Some(call) = self.lanes.find(id).filter(|call| !call.abandoned) else { return };
        let what = match call.asked {
            Asked::PeerTimes => "peerTimes",
            Asked::Claim => "claim",
            _ => return,
        };
        if self.life == Life::Claiming && !self.callers.loops() {
            let message = format!(
                "{what} returned a promise, but a constructor cannot wait: use await Snowflake.open(options), or lazy: true"
            );
            self.undo_round(Error::new(Code::WouldBlock, message), m);
        }
    }
}
