//! The claim of one worker id: its host lock, its record, and the first span, durable; or nothing of it is left.
//!
//! | Stage | Event | Next stage |
//! | --- | --- | --- |
//! | `Locking` | the host lock was taken, or none is taken here | `Opening` |
//! | `Locking`, `Opening` | it is held by others | `Naming`, or `Undoing` if the error names no holder |
//! | `Naming` | the holder is known, or not | `Undoing`, `Recorded` |
//! | `Recorded` | the last writer of the record is known | `Undoing` |
//! | `Opening` | the record was opened, or none is kept | `Starting`, or `Reading` without a reachable server |
//! | `Reading` | the cached lease may be used | `Starting` |
//! | `Starting` | the clock is not there yet | `Starting` |
//! | `Starting` | the rules allow a first span: the lease is held from here on | `Writing` |
//! | `Writing` | the record is durable in one slot, and the other one lags | `Writing` |
//! | `Writing` | the record is durable, or none is kept | `Won` |
//! | all of these | an error, or given up | `Undoing` |
//! | `Undoing` | nothing is locked any more, and no call is under way | `Refused` |
//! | `Won`, `Refused` | the round takes what came | |

use crate::aside::{Aside, OfCall};
use crate::quoted::Quoted;
use crate::run::cache_read::{CacheFound, CacheRead};
use crate::run::call_end::{End, Holder};
use crate::run::disk_calls::{HolderCall, HostLockCall};
use crate::run::lanes::{Lane, RunCall};
use crate::run::locks::Locks;
use crate::run::moment::Moment;
use crate::run::record_file::RecordFile;
use crate::run::record_open::{RecordOpen, RecordOpened, RecordPeek, record_file_name};
use crate::snowflake::claim_errors::{HeldId, OfflineRefusal};
use crate::snowflake::lease_schedule::HeldLease;
use crate::snowflake::start::{Start, StartAction};
use crate::spelling::name::NO_RECORD_WAIT_MS;
use crate::{Code, Error, Lease, Result, Span, Utc};
use alloc::boxed::Box;
use alloc::format;
use core::mem::{replace, take};
use core::time::Duration;

/// A sleep until the clock allows a start is at most this long, because the clock may be set meanwhile.
const LONGEST_SLEEP_MS: i64 = 100;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct IdClaim {
    worker_id: u32,
    /// Whether a refusal names the holder.
    names_holder: bool,
    /// No id is issued below this tick.
    floor: u64,
    /// The longest wait for the clock that the opener accepts.
    longest: Option<Duration>,
    /// The lease, and the boot time before it was asked for.
    lease: Option<(Lease, Duration)>,
    /// Why no server is reachable: the lease is a cached one.
    offline: Option<Error>,
    locks: Locks,
    /// How long it waited for the clock.
    waited: Aside<Duration>,
    stage: IdStage,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum IdStage {
    Locking,
    /// Whether the record is held, not the host lock.
    Naming(bool),
    Recorded(Holder),
    Opening,
    /// The cached lease is read, with the lock of the record.
    Reading(Box<RecordFile>),
    Starting(Box<Starting>),
    Writing(Box<Won>),
    Undoing(Error),
    Refused(Error),
    Won(Box<Won>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Starting {
    file: RecordFile,
    /// The ticks of the lease.
    span: Option<Span>,
    /// Nothing happens before this time.
    sleeps_until: Option<Duration>,
}

/// A worker id that is held, with its first span durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Won {
    pub(crate) file: RecordFile,
    pub(crate) locks: Locks,
    /// Empty while the record is so far ahead of the clock that no span may be granted yet.
    pub(crate) first: Span,
    /// No id is issued before this time of the clock, because no record was found.
    pub(crate) begins_ms: Option<i64>,
    pub(crate) lease: Option<HeldLease>,
    /// The time of the clock for the record.
    granted_at_ms: i64,
    /// Whether no record was found.
    is_unrecorded: bool,
}

/// What came of it.
pub(crate) enum IdEnd {
    /// Nothing yet: poll again at this time.
    None(Option<Duration>),
    Refused(Error),
    Won(Box<Won>),
}

impl IdClaim {
    pub(crate) fn new(
        worker_id: u32,
        names_holder: bool,
        floor: u64,
        longest: Option<Duration>,
        lease: Option<(Lease, Duration)>,
        offline: Option<Error>,
    ) -> IdClaim {
        let (locks, waited, stage) = (Locks::default(), Aside(Duration::ZERO), IdStage::Locking);
        IdClaim { worker_id, names_holder, floor, longest, lease, offline, locks, waited, stage }
    }

    /// How long it waited for the clock.
    pub(crate) fn waited(&self) -> Duration {
        self.waited.0
    }

    /// The round gives it up. All that it locked, and what a call that is under way still locks, is unlocked.
    pub(crate) fn give_up(&mut self, error: Error) {
        match replace(&mut self.stage, IdStage::Undoing(error)) {
            IdStage::Won(won) => self.locks = won.locks,
            was @ (IdStage::Undoing(_) | IdStage::Refused(_)) => self.stage = was,
            _ => {}
        }
    }

    /// Goes on as far as no call is needed. `is_disk_free`: no call is under way.
    pub(crate) fn poll(&mut self, m: &mut Moment<'_>, is_disk_free: bool) -> IdEnd {
        loop {
            match &mut self.stage {
                IdStage::Locking if !m.settings.locks_host => self.stage = IdStage::Opening,
                IdStage::Opening if !m.settings.persist => {
                    let (name, layout) = (&m.settings.name, m.settings.layout);
                    let file = RecordFile::not_stored(name, self.worker_id, layout);
                    self.open(file, m);
                }
                IdStage::Starting(starting) => match starting.sleeps_until {
                    Some(until) if m.boot < until => return IdEnd::None(Some(until)),
                    _ => self.start(m),
                },
                IdStage::Writing(_) if !m.settings.persist => {
                    // Without a record there is nothing to write.
                    self.write(m);
                    self.written(m, Ok(()));
                }
                IdStage::Undoing(error) if is_disk_free && self.locks.are_free() => {
                    let error = error.clone();
                    self.stage = IdStage::Refused(error.clone());
                    return IdEnd::Refused(error);
                }
                IdStage::Refused(error) => return IdEnd::Refused(error.clone()),
                IdStage::Won(_) => match replace(&mut self.stage, IdStage::Locking) {
                    IdStage::Won(won) => return IdEnd::Won(won),
                    was => self.stage = was,
                },
                _ => return IdEnd::None(None),
            }
        }
    }

    /// The next call on a lane, which is free.
    pub(crate) fn next_call(&mut self, lane: Lane, m: &Moment<'_>) -> Option<RunCall> {
        let (name, worker_id, of) = (m.settings.name.clone(), self.worker_id, OfCall::default());
        if let IdStage::Reading(file) = &self.stage {
            let read = || CacheRead::new(m.cache_seeker(), worker_id, file.record().owner);
            return (lane == Lane::Cache).then(|| RunCall::ReadLeaseCache(read()));
        }
        if lane != Lane::Disk {
            return None;
        }
        match &self.stage {
            IdStage::Locking => Some(RunCall::LockHost(HostLockCall { name, worker_id, of })),
            IdStage::Naming(_) => Some(RunCall::Holder(HolderCall { name, worker_id, wants_name: true, of })),
            IdStage::Recorded(_) => {
                Some(RunCall::PeekRecord(RecordPeek::new(worker_id, m.settings.layout, m.place.advice)))
            }
            IdStage::Opening => Some(RunCall::OpenRecord(RecordOpen::new(
                &name,
                worker_id,
                m.settings.layout,
                m.place.advice,
            ))),
            IdStage::Writing(_) => self.write(m),
            IdStage::Undoing(_) => self.locks.unlock(),
            IdStage::Reading(_) | IdStage::Starting(_) | IdStage::Refused(_) | IdStage::Won(_) => None,
        }
    }

    /// A call of this claim ended. What it locked is known before anything else is decided.
    pub(crate) fn ended(&mut self, end: End, m: &mut Moment<'_>) {
        match (end, &self.stage) {
            (End::HostUnlocked, _) => self.locks.host_given_back(),
            (End::RecordClosed, _) => self.locks.record_closed(),
            (End::HostLocked(Ok(true)), stage) => {
                let goes_on = matches!(stage, IdStage::Locking);
                self.locks.host_taken(self.worker_id);
                if goes_on {
                    self.stage = IdStage::Opening;
                }
            }
            (End::HostLocked(Ok(false)), IdStage::Locking) => self.held(false, m),
            (End::HostLocked(Err(error)), IdStage::Locking) => self.give_up(error),
            (End::Opened(opened), stage) => {
                let goes_on = matches!(stage, IdStage::Opening);
                if opened.is_locked() {
                    self.locks.record_opened(self.worker_id);
                }
                if goes_on {
                    self.opened(*opened, m);
                }
            }
            (End::CacheRead(found), IdStage::Reading(_)) => self.read(found, m),
            (End::Holder(holder), IdStage::Naming(record_is_held)) => {
                let known = !record_is_held && holder.by.is_some();
                match known || !m.settings.persist {
                    true => self.give_up(self.in_use(holder, m)),
                    false => self.stage = IdStage::Recorded(holder),
                }
            }
            (End::Peeked(peeked), IdStage::Recorded(holder)) => {
                let by = peeked.into_result().ok().flatten().and_then(|stored| stored.holder());
                let holder = Holder { by, is_ours: false, ..holder.clone() };
                self.give_up(self.in_use(holder, m));
            }
            (End::Written(written), IdStage::Writing(_)) => {
                let result = match &mut self.stage {
                    IdStage::Writing(won) => won.file.written(*written),
                    _ => Ok(()),
                };
                self.written(m, result);
            }
            _ => {}
        }
    }

    fn held(&mut self, record_is_held: bool, m: &Moment<'_>) {
        match self.names_holder {
            true => self.stage = IdStage::Naming(record_is_held),
            false => self.give_up(self.in_use(Holder::default(), m)),
        }
    }

    fn in_use(&self, holder: Holder, m: &Moment<'_>) -> Error {
        let Holder { by, is_ours, stranger, .. } = holder;
        let path = || format!("{}/{}", m.place.directory, record_file_name(self.worker_id));
        let held = HeldId {
            space: &m.settings.name,
            worker_id: self.worker_id,
            record: m.settings.persist.then(path),
            holder: by,
            is_ours,
            is_strangers: stranger.is_some() && m.settings.persist,
            is_leased: m.settings.workers.are_of_servers(),
        };
        held.error()
    }

    fn opened(&mut self, opened: RecordOpened, m: &mut Moment<'_>) {
        match opened.into_result() {
            Ok(Some(found)) => {
                m.observe(found.stored());
                let (file, warning) = found.into_file(&m.rules(), m.now_ms);
                warning.into_iter().for_each(|warning| m.notices.warn(warning));
                self.open(file, m);
            }
            // The host lock is this run's: the holder sees other host locks, as in another container.
            Ok(None) => self.held(true, m),
            Err(error) => self.give_up(error),
        }
    }

    fn read(&mut self, found: CacheFound, m: &Moment<'_>) {
        let why = self.offline.clone();
        match found.into_result() {
            Ok(None) => {
                self.give_up(why.map_or_else(without_lease, |why| OfflineRefusal::NoneHeld.error(&why)))
            }
            Err(error) => self.give_up(error),
            Ok(lease) => {
                self.lease = lease;
                if let IdStage::Reading(file) = replace(&mut self.stage, IdStage::Opening) {
                    self.open(*file, m);
                }
            }
        }
    }

    fn open(&mut self, file: RecordFile, m: &Moment<'_>) {
        if self.offline.is_some() && self.lease.is_none() {
            self.stage = IdStage::Reading(Box::new(file));
            return;
        }
        let span = match &self.lease {
            None if m.settings.workers.leases() => Err(without_lease()),
            None => Ok(None),
            Some((lease, _)) => lease.span(&m.settings.layout, &m.rules(), m.now_ms).map(Some),
        };
        match span {
            Ok(span) => self.stage = IdStage::Starting(Box::new(Starting { file, span, sleeps_until: None })),
            Err(error) => self.give_up(m.settings.workers.unusable(error)),
        }
    }

    fn start(&mut self, m: &Moment<'_>) {
        let IdStage::Starting(starting) = &mut self.stage else { return };
        let start = Start {
            rules: &m.rules(),
            lease: starting.span,
            floor: self.floor,
            start_after: m.settings.start_after,
            no_record_wait_ms: m.place.no_record_wait_ms,
            forgets: m.place.forgets,
        };
        let now_ms = m.now_ms;
        match start.poll(starting.file.record(), now_ms) {
            StartAction::Begin { first, begins_ms } => {
                // Before the record is written: the lease may end meanwhile, and is held all the same.
                let lease = self.lease.take().zip(starting.span);
                let lease = lease
                    .map(|((lease, asked), span)| HeldLease::new(lease, span, asked, now_ms, m.call_bound()));
                let (file, locks) = (starting.file.clone(), Locks::default());
                let is_unrecorded = file.record().is_unused();
                let won = Won { file, locks, first, begins_ms, lease, granted_at_ms: now_ms, is_unrecorded };
                self.stage = IdStage::Writing(Box::new(won));
            }
            StartAction::WaitUntil(ms) => {
                let left_ms = ms.saturating_sub(now_ms).max(0);
                if self.longest.is_some_and(|longest| Duration::from_millis(left_ms as u64) > longest) {
                    return self.give_up(waits_too_long(left_ms));
                }
                let sleep = Duration::from_millis(left_ms.clamp(1, LONGEST_SLEEP_MS) as u64);
                self.waited.0 = self.waited.0.saturating_add(sleep);
                starting.sleeps_until = Some(m.boot.saturating_add(sleep));
            }
            StartAction::Refused(error) => self.give_up(error),
        }
    }

    fn write(&mut self, m: &Moment<'_>) -> Option<RunCall> {
        let IdStage::Writing(won) = &mut self.stage else { return None };
        if won.file.lags() {
            return won.file.ask_other(m.writer()).map(|write| RunCall::WriteRecord(Box::new(write)));
        }
        // The host draws the owner when it writes.
        let record = won.file.record().begun(won.first, won.granted_at_ms, 0);
        won.file.ask_begun(record, m.writer()).map(|write| RunCall::WriteRecord(Box::new(write)))
    }

    fn written(&mut self, m: &mut Moment<'_>, result: Result<()>) {
        if let Err(error) = result {
            return self.give_up(error);
        }
        match replace(&mut self.stage, IdStage::Locking) {
            IdStage::Writing(won) if won.file.lags() => self.stage = IdStage::Writing(won),
            IdStage::Writing(mut won) => {
                m.place.clock.mark_used();
                won.locks = take(&mut self.locks);
                won.tell(self.worker_id, m);
                self.stage = IdStage::Won(won);
            }
            was => self.stage = was,
        }
    }
}

impl Won {
    fn tell(&self, worker_id: u32, m: &mut Moment<'_>) {
        let (name, persist) = (Quoted(&m.settings.name), m.settings.persist);
        if self.is_unrecorded && self.lease.is_none() {
            self.tell_of_no_record(worker_id, m);
        }
        let place = match persist {
            true => format!("state directory {}", m.place.directory),
            false => "no record is kept".into(),
        };
        let unrecorded = if self.is_unrecorded && persist { ", no earlier record" } else { "" };
        let layout = m.settings.layout;
        m.notices.info(format!("{place}, worker id {worker_id} of {name}, layout {layout}{unrecorded}"));
    }

    /// The risks of a start without a record, if another process may have used the worker id before.
    fn tell_of_no_record(&self, worker_id: u32, m: &mut Moment<'_>) {
        let name = Quoted(&m.settings.name);
        if let Some(begins_ms) = self.begins_ms {
            m.notices.info(format!(
                "no record of worker id {worker_id} of {name} was found: nothing is issued before {} ({NO_RECORD_WAIT_MS})",
                Utc(begins_ms)
            ));
        } else if m.settings.persist && (m.place.forgets || m.place.moves) {
            // Without records every start is such a start, by the user's own choice.
            m.notices.warn(format!(
                "no record of worker id {worker_id} of {name} is in {}: if another directory, container or host used it and \
                 its last ids are ahead of this clock, ids may come twice: see {NO_RECORD_WAIT_MS} in leafid help operating",
                m.place.directory
            ));
        }
    }
}

/// `would_block` for a caller that may not wait so long.
fn waits_too_long(left_ms: i64) -> Error {
    let message = format!(
        "the next id is available in {} ms, longer than this thread may wait; call again then",
        left_ms.saturating_add(1)
    );
    Error::new(Code::WouldBlock, message)
}

/// A source of leases never has a generator without one.
pub(crate) fn without_lease() -> Error {
    Error::new(Code::Internal, "a worker id of a lease source has no lease; report this")
}
