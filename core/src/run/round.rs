//! One claim: the peers' clocks, the source, the search for a free worker id, and the claim of one; or nothing is left.
//!
//! | Stage | Event | Next stage |
//! | --- | --- | --- |
//! | `Peers` | the clocks of peers agree, or are not known in time, or are not asked for | `Listing` |
//! | `Listing` | the names of the records are known, or none are needed | `Layouts` |
//! | `Layouts` | each record was read, and has the layout, and for `local` the machine | `Asking` |
//! | `Asking` | the source gave a worker id, or none is asked | `Given` |
//! | `Asking` | no lease server is reachable | `Offline` |
//! | `Offline` | there are cached leases | `Given` |
//! | `Given` | the machine has closed the generator that lost its lease | `Searching` |
//! | `Searching` | the search has a next step | `Peeking`, `Warning`, `Claiming`, `Pausing` |
//! | `Pausing` | its time is over | `Searching` |
//! | `Peeking` | the record was read without its lock | `Searching` |
//! | `Warning` | the holder is known | `Searching` |
//! | `Claiming` | the id was refused, and nothing of it is left | `Searching` |
//! | `Claiming` | the id was won | the machine takes it |
//! | all of these | an error of all ids; the machine gives up; the disk does not answer in time | `Undoing` |
//! | `Undoing` | the leased worker id is held on this host, and the round was not given up | `Peers` |
//! | `Undoing` | the disk has answered, and nothing is locked | the machine takes the lease and the error |
//!
//! The lease stays here from the source's answer until the machine takes it, whatever happens in between.

use crate::aside::{Aside, OfCall};
use crate::run::cache_read::CacheList;
use crate::run::call_end::{Claimed, End};
use crate::run::claim_checks::{agree, candidates, check, is_held_here, of_place, tell_of_stranger};
use crate::run::claim_waits::{ClaimWaits, wait_line};
use crate::run::disk_calls::{HolderCall, RecordsCall};
use crate::run::disk_time::DiskTime;
use crate::run::id_claim::{IdClaim, IdEnd, Won};
use crate::run::lanes::{Asked, Lane, Lanes, RunCall};
use crate::run::moment::{Moment, earliest};
use crate::run::record_open::RecordPeek;
use crate::run::record_write::RecordWritten;
use crate::run::source_calls::{ClaimCall, PeersCall};
use crate::snowflake::claim_errors::OfflineRefusal;
use crate::snowflake::{ClaimAction, ClaimSearch, SPAN_WISH_MS};
use crate::spelling::name::PEER_TIMES;
use crate::{Code, Error, Lease, Result};
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

/// If a leased worker id is held on this host, an opening tries this number of ids before it fails.
const MOST_HELD_HERE: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Round {
    /// The round of the loss that it belongs to; 0 at an opening.
    number: u64,
    previous: Option<u32>,
    /// No id is issued below this tick.
    floor: u64,
    /// The longest wait for the clock that the first opener accepts.
    longest: Option<Duration>,
    begun: Duration,
    /// The claims of the source so far.
    tries: usize,
    grant: Option<Grant>,
    /// The worker ids with cached leases, and why no server is reachable.
    offline: Option<(Vec<u32>, Error)>,
    search: Option<ClaimSearch>,
    /// When the search began.
    searched: Aside<Duration>,
    waits: Aside<ClaimWaits>,
    /// When the openers get the error that the disk does not answer.
    disk: DiskTime,
    /// Why the machine gave it up: nothing more is claimed.
    given_up: Option<Error>,
    stage: RoundStage,
}

/// What a source gave.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Grant {
    worker_id: i64,
    /// The lease, and the boot time before it was asked for.
    lease: Option<(Lease, Duration)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RoundStage {
    /// The clock before they were asked.
    Peers(i64),
    Listing,
    /// The records that were not read yet, the smallest id last.
    Layouts(Vec<u32>),
    Asking,
    /// Until when the cached leases are listed, because no server is reachable.
    Offline(Error, Duration),
    Given,
    Searching,
    Pausing(Duration),
    Peeking(u32),
    Warning(u32),
    Claiming(Box<IdClaim>),
    Undoing(Error),
}

/// What a round has come to.
pub(crate) enum RoundEnd {
    /// It goes on: poll again at this time.
    None(Option<Duration>),
    /// The machine closes the lost generator, then calls [`Round::proceed`].
    Given,
    Won(Box<Won>),
    /// Nothing of it is left. The lease is released.
    Undone(Error, Option<Lease>),
}

impl Round {
    /// `number` is the round of a loss, `previous` the worker id that was held before.
    pub(crate) fn new(
        number: u64,
        previous: Option<u32>,
        longest: Option<Duration>,
        m: &Moment<'_>,
    ) -> Round {
        Round {
            number,
            previous,
            floor: 0,
            longest,
            begun: m.boot,
            tries: 0,
            grant: None,
            offline: None,
            search: None,
            searched: Aside(m.boot),
            waits: Aside::default(),
            disk: DiskTime::default(),
            given_up: None,
            stage: RoundStage::Peers(m.now_ms),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The lease that it got.
    pub(crate) fn lease(&self) -> Option<&Lease> {
        self.grant.as_ref()?.lease.as_ref().map(|(lease, _)| lease)
    }

    /// Whether it has use for a lease that a claim brought.
    pub(crate) fn waits_for_claim(&self) -> bool {
        matches!(self.stage, RoundStage::Asking)
    }

    /// Whether it waits for the source.
    pub(crate) fn waits_for_source(&self) -> bool {
        matches!(self.stage, RoundStage::Peers(_) | RoundStage::Asking)
    }

    /// The generator that lost its lease is sealed and closed: `floor` is its first unused tick.
    pub(crate) fn proceed(&mut self, floor: u64, m: &Moment<'_>) {
        self.floor = self.floor.max(floor);
        let inherited = self.number == 0 && m.place.inherited.is_some();
        let patience = m.patience(inherited, self.longest.is_some());
        let claimed = self.grant.as_ref().map(|grant| grant.worker_id);
        match candidates(self.offline.as_ref(), claimed, m) {
            Ok(candidates) => {
                let (name, wait_ms) = (&m.settings.name, m.place.no_record_wait_ms);
                self.search = Some(ClaimSearch::new(name, candidates, &patience, wait_ms, m.boot));
                (self.searched, self.stage) = (Aside(m.boot), RoundStage::Searching);
                // After a loss, its schedule judges the whole round.
                if self.number == 0 {
                    self.disk.begin(m.claim_bound(&patience), m);
                }
            }
            Err(error) => self.stage = RoundStage::Undoing(m.settings.workers.unusable(error)),
        }
    }

    /// Gives up: what it holds is undone, also what a call that is under way will still get.
    pub(crate) fn give_up(&mut self, error: Error) {
        self.given_up = Some(error.clone());
        self.disk.stop();
        match &mut self.stage {
            RoundStage::Undoing(_) => {}
            RoundStage::Claiming(claim) => {
                claim.give_up(error);
                // It fails with its own error once nothing is left of it.
                self.search = None;
            }
            stage => *stage = RoundStage::Undoing(error),
        }
    }

    /// Somebody opens who came after it was given up. Who comes still later does not put off the answer.
    pub(crate) fn awaited(&mut self, m: &Moment<'_>) {
        if self.given_up.is_some() && self.disk.due().is_none() {
            self.disk.begin(m.disk_bound(), m);
        }
    }

    /// When the disk has had its time, once: the error for those who wait.
    pub(crate) fn overdue(&mut self, m: &Moment<'_>) -> Option<Error> {
        let error = self.disk.overdue(m)?;
        self.give_up(error.clone());
        Some(error)
    }

    /// The names of the records are next.
    fn list(&mut self, m: &Moment<'_>) {
        self.stage = RoundStage::Listing;
        if self.lists_records(m) {
            self.disk.begin(m.disk_bound(), m);
        }
    }

    /// Goes on as far as no call is needed.
    pub(crate) fn poll(&mut self, m: &mut Moment<'_>, lanes: &Lanes) -> RoundEnd {
        let (is_disk_free, lists_records) = (lanes.is_free(Lane::Disk), self.lists_records(m));
        // They were asked before, and are not asked once more beside that.
        let peers_hang = lanes.hangs(Asked::PeerTimes);
        loop {
            match &mut self.stage {
                RoundStage::Peers(_) if !m.settings.peer_times || peers_hang => self.list(m),
                RoundStage::Listing if !lists_records => {
                    self.stage = RoundStage::Layouts(Vec::new());
                }
                RoundStage::Layouts(left) if left.is_empty() => {
                    // What follows is the time of the source.
                    self.disk.stop();
                    self.stage = RoundStage::Asking;
                }
                RoundStage::Asking if !m.settings.workers.of_source() => self.stage = RoundStage::Given,
                RoundStage::Given => return RoundEnd::Given,
                RoundStage::Searching => self.search(m),
                RoundStage::Offline(_, until) if m.boot >= *until => self.listed(Vec::new()),
                RoundStage::Offline(_, until) => return RoundEnd::None(Some(*until)),
                RoundStage::Pausing(until) if m.boot >= *until => self.stage = RoundStage::Searching,
                RoundStage::Pausing(until) => {
                    return RoundEnd::None(earliest(&[self.disk.due(), Some(*until)]));
                }
                RoundStage::Peeking(_) if !m.settings.persist => self.peeked(None, m),
                RoundStage::Claiming(claim) => match claim.poll(m, is_disk_free) {
                    IdEnd::None(due) => return RoundEnd::None(earliest(&[due, self.disk.due()])),
                    IdEnd::Won(won) => {
                        self.waits.0.clock = self.waits.0.clock.saturating_add(claim.waited());
                        self.tell(&won, m);
                        return RoundEnd::Won(won);
                    }
                    IdEnd::Refused(error) => {
                        self.waits.0.clock = self.waits.0.clock.saturating_add(claim.waited());
                        match &mut self.search {
                            Some(search) => {
                                search.refused(error);
                                self.stage = RoundStage::Searching;
                            }
                            None => self.stage = RoundStage::Undoing(error),
                        }
                    }
                },
                RoundStage::Undoing(error) if is_disk_free => {
                    let error = error.clone();
                    if self.tries_again(&error, m) {
                        self.stage = RoundStage::Peers(m.now_ms);
                        continue;
                    }
                    let released = self.grant.take().and_then(|grant| grant.lease).map(|(lease, _)| lease);
                    let released = released.filter(|lease| !is_held_here(lease, &error, m));
                    return RoundEnd::Undone(self.given_up.take().unwrap_or(error), released);
                }
                _ => return RoundEnd::None(self.disk.due()),
            }
        }
    }

    /// Whether all records are checked before an id is asked for: their layouts, or their machines.
    fn lists_records(&self, m: &Moment<'_>) -> bool {
        let checks = m.settings.workers.of_source() || m.place.one_machine;
        self.number == 0 && m.settings.persist && checks
    }

    /// A lease whose id is held on this host is left to end, and another one is claimed.
    fn tries_again(&mut self, error: &Error, m: &Moment<'_>) -> bool {
        let lease = self.grant.as_ref().and_then(|grant| grant.lease.as_ref());
        let again = self.number == 0
            && self.given_up.is_none()
            && self.tries < MOST_HELD_HERE
            && m.boot.saturating_sub(self.begun) < m.settings.timeout
            && lease.is_some_and(|(lease, _)| is_held_here(lease, error, m));
        if again {
            (self.grant, self.search, self.disk) = (None, None, DiskTime::default());
        }
        again
    }

    fn search(&mut self, m: &mut Moment<'_>) {
        let Some(search) = &mut self.search else { return };
        match search.poll(m.boot) {
            ClaimAction::Peek(worker_id) => self.stage = RoundStage::Peeking(worker_id),
            ClaimAction::Claim { worker_id, names_holder } => {
                let lease = self.grant.as_ref().and_then(|grant| grant.lease.clone());
                let offline = self.offline.as_ref().map(|(_, why)| why.clone());
                let claim = IdClaim::new(worker_id, names_holder, self.floor, self.longest, lease, offline);
                self.stage = RoundStage::Claiming(Box::new(claim));
            }
            ClaimAction::Warn(text) => m.notices.warn(text),
            ClaimAction::WarnOfStranger(worker_id) => self.stage = RoundStage::Warning(worker_id),
            ClaimAction::Sleep(pause) => {
                self.waits.0.held = self.waits.0.held.saturating_add(pause);
                self.stage = RoundStage::Pausing(m.boot.saturating_add(pause));
            }
            ClaimAction::Failed(error) => self.stage = RoundStage::Undoing(error),
        }
    }

    fn peeked(&mut self, found: Option<&crate::Record>, m: &Moment<'_>) {
        if let Some(search) = &mut self.search {
            search.peeked(found, m.now_ms);
        }
        self.stage = RoundStage::Searching;
    }

    /// The next call on a lane, which is free.
    pub(crate) fn next_call(&mut self, lane: Lane, m: &Moment<'_>) -> Option<RunCall> {
        let (name, layout, of) = (m.settings.name.clone(), m.settings.layout, OfCall::default());
        let advice = m.place.advice;
        match (&mut self.stage, lane) {
            (RoundStage::Peers(before_ms), Lane::Source) => {
                *before_ms = m.now_ms;
                Some(RunCall::PeerTimes(PeersCall::default()))
            }
            (RoundStage::Asking, Lane::Source) if !m.settings.workers.are_of_servers() => {
                self.tries += 1;
                let (previous, now_ms) = (self.previous, m.now_ms);
                let until_ms = now_ms.saturating_add(SPAN_WISH_MS);
                Some(RunCall::Claim(ClaimCall { name, previous, now_ms, until_ms, of }))
            }
            (RoundStage::Listing, Lane::Disk) => Some(RunCall::ListRecords(RecordsCall::default())),
            (RoundStage::Layouts(left), Lane::Disk) => {
                let worker_id = *left.last()?;
                Some(RunCall::PeekRecord(RecordPeek::new(worker_id, layout, advice)))
            }
            (RoundStage::Peeking(worker_id), Lane::Disk) => {
                Some(RunCall::PeekRecord(RecordPeek::new(*worker_id, layout, advice)))
            }
            (RoundStage::Warning(worker_id), Lane::Disk) => {
                Some(RunCall::Holder(HolderCall { name, worker_id: *worker_id, wants_name: false, of }))
            }
            (RoundStage::Claiming(claim), lane) => claim.next_call(lane, m),
            (RoundStage::Offline(..), Lane::Cache) => {
                Some(RunCall::ListLeaseCaches(CacheList::new(m.cache_seeker())))
            }
            _ => None,
        }
    }

    /// How long a call on the lane of the source may take; `None` where the loss judges the whole round. The clocks of
    /// peers have no more: they would hold up each claim.
    pub(crate) fn call_time(&self, m: &Moment<'_>) -> Option<Duration> {
        (self.number == 0 || matches!(self.stage, RoundStage::Peers(_))).then_some(m.settings.timeout)
    }

    /// The call on the lane of the source took too long, and was abandoned.
    pub(crate) fn late(&mut self, m: &mut Moment<'_>) {
        match self.stage {
            RoundStage::Peers(_) => {
                let error = m.late(&format!("{PEER_TIMES}"));
                m.notices.warn(format!("{error}; the start continues without {PEER_TIMES}"));
                self.list(m);
            }
            RoundStage::Asking => self.stage = RoundStage::Undoing(m.late("the claim of a worker id")),
            _ => {}
        }
    }

    /// A write of a record ended.
    pub(crate) fn written(&mut self, end: RecordWritten, m: &mut Moment<'_>) {
        if let RoundStage::Claiming(claim) = &mut self.stage {
            claim.ended(End::Written(Box::new(end)), m);
        }
    }

    /// A call of this round ended. It was asked for at `since`.
    pub(crate) fn ended(&mut self, end: End, since: Duration, m: &mut Moment<'_>) {
        match (end, &mut self.stage) {
            (end, RoundStage::Claiming(claim)) => claim.ended(end, m),
            (End::Times(times_ms), RoundStage::Peers(before_ms)) => {
                let before_ms = *before_ms;
                self.tell_of_wait(since, &format!("the clocks of {PEER_TIMES}"), m);
                match agree(times_ms, before_ms, m) {
                    Ok(()) => self.list(m),
                    Err(error) => self.stage = RoundStage::Undoing(error),
                }
            }
            (End::CachesListed(listed), RoundStage::Offline(..)) => self.listed(listed.into_worker_ids()),
            (End::Recorded(mut worker_ids), RoundStage::Listing) => {
                worker_ids.reverse();
                self.stage = RoundStage::Layouts(worker_ids);
            }
            (End::Peeked(peeked), RoundStage::Layouts(left)) => match of_place(peeked, m) {
                // Before an id is taken: whichever it were, it would stand beside such a record.
                Err(error) if [Code::StateMismatch, Code::InvalidArgument].contains(&error.code()) => {
                    self.stage = RoundStage::Undoing(error);
                }
                found => {
                    left.pop();
                    found.ok().flatten().iter().for_each(|found| m.observe(found));
                }
            },
            (End::Peeked(peeked), RoundStage::Peeking(_)) => match peeked.into_result() {
                Ok(found) => {
                    found.iter().for_each(|found| m.observe(found));
                    self.peeked(found.as_ref().map(|found| &found.record), m);
                }
                Err(error) => {
                    self.search.iter_mut().for_each(|search| search.refused(error.clone()));
                    self.stage = RoundStage::Searching;
                }
            },
            (End::Holder(holder), RoundStage::Warning(worker_id)) => {
                tell_of_stranger(*worker_id, holder, m);
                self.stage = RoundStage::Searching;
            }
            (End::Claimed(claimed), RoundStage::Asking) => {
                self.tell_of_wait(since, "the source of worker ids", m);
                self.claimed(claimed, since, m);
            }
            _ => {}
        }
    }

    /// Whether a claim of lease servers begins now.
    pub(crate) fn asks_servers(&mut self) -> bool {
        let asks = matches!(self.stage, RoundStage::Asking);
        self.tries += usize::from(asks);
        asks
    }

    /// A claim brought a lease, or one that is another's. The lease was asked for at `asked`, and its call at `since`.
    pub(crate) fn leased(&mut self, lease: Result<Lease>, times: (Duration, Duration), m: &mut Moment<'_>) {
        let (asked, since) = times;
        self.tell_of_wait(since, "the source of worker ids", m);
        self.claimed(lease.map(|lease| Claimed::Lease(lease, Duration::ZERO)), asked, m);
    }

    /// The claim of lease servers brought no lease. It was asked for at `since`.
    pub(crate) fn not_leased(&mut self, why: Error, unreached: bool, since: Duration, m: &mut Moment<'_>) {
        self.tell_of_wait(since, "the source of worker ids", m);
        let until = m.boot.saturating_add(m.disk_bound());
        self.stage = match why.code() {
            _ if self.number != 0 => RoundStage::Undoing(why),
            Code::WorkerLost if unreached && m.settings.persist => RoundStage::Offline(why, until),
            Code::WorkerLost if unreached => RoundStage::Undoing(OfflineRefusal::NotPersisted.error(&why)),
            // The name of the code speaks of a loss.
            Code::WorkerLost | Code::SourceInvalid => {
                RoundStage::Undoing(why.context("no worker id could be claimed"))
            }
            _ => RoundStage::Undoing(why),
        };
    }

    /// The worker ids whose cached leases seem usable.
    fn listed(&mut self, worker_ids: Vec<u32>) {
        let RoundStage::Offline(why, _) = &self.stage else { return };
        let why = why.clone();
        self.stage = match worker_ids.is_empty() {
            true => RoundStage::Undoing(OfflineRefusal::NoneHeld.error(&why)),
            false => RoundStage::Given,
        };
        self.offline = Some((worker_ids, why));
    }

    fn claimed(&mut self, claimed: Result<Claimed>, since: Duration, m: &mut Moment<'_>) {
        let grant = match claimed {
            Ok(Claimed::Id(worker_id)) => Grant { worker_id, lease: None },
            Ok(Claimed::Lease(lease, asked_ago)) => {
                Grant { worker_id: lease.worker_id, lease: Some((lease, since.saturating_sub(asked_ago))) }
            }
            Err(error) => return self.stage = RoundStage::Undoing(error),
        };
        let checked = check(grant.lease.as_ref().map(|(lease, _)| lease), m);
        self.grant = Some(grant);
        self.stage = checked.map_or_else(RoundStage::Undoing, |()| RoundStage::Given);
    }

    fn tell_of_wait(&self, since: Duration, what: &str, m: &mut Moment<'_>) {
        if self.number == 0 {
            wait_line(m.boot.saturating_sub(since), what).into_iter().for_each(|line| m.notices.info(line));
        }
    }

    fn tell(&self, won: &Won, m: &mut Moment<'_>) {
        let worker_id = won.file.record().worker_id;
        let warning = self.search.as_ref().and_then(|search| search.success_warning(worker_id));
        warning.into_iter().for_each(|text| m.notices.warn(text));
        let took = m.boot.saturating_sub(self.searched.0);
        let line = self.waits.0.line(worker_id, &m.settings.name, took);
        line.into_iter().for_each(|line| m.notices.info(line));
    }
}
