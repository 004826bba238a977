//! The end of a held worker id whose generator was sealed: the exact end is written, then the record is closed, then the
//! host lock is given back.
//!
//! | Stage | Event | Next stage |
//! | --- | --- | --- |
//! | `Writing` | an earlier write ended | `Writing` |
//! | `Writing` | the end is written, or could not be, or no record is kept | `Dropping` |
//! | `Dropping` | the cached lease is invalid, or there is none, or it took too long | `Unlocking` |
//! | `Unlocking` | nothing is locked any more | `Gone` |

use crate::run::cache_drop::CacheDropped;
use crate::run::cache_file::LeaseCache;
use crate::run::cache_write::CacheWritten;
use crate::run::call_end::End;
use crate::run::disk_time::DiskTime;
use crate::run::lanes::RunCall;
use crate::run::locks::Locks;
use crate::run::moment::Moment;
use crate::run::record_file::RecordFile;
use crate::run::record_write::{RecordWrite, RecordWritten};
use crate::run::seat::Seat;
use crate::{Error, Result};
use alloc::boxed::Box;
use alloc::format;
use core::mem::take;
use core::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leaving {
    pub(crate) worker_id: u32,
    /// The first tick without an id.
    first_unused: u64,
    file: RecordFile,
    locks: Locks,
    /// Whether the end was asked to be written.
    is_asked: bool,
    /// The cache of its lease. It is dropped while the record is locked: no process may use a lease that was released.
    cache: Option<LeaseCache>,
    /// Whether the cached lease was made invalid: only then the lease may be released.
    is_dropped: bool,
    /// Whether it is dropped before the end is written: its source has said that the lease is lost.
    drops_first: bool,
    /// How long it waits for that.
    drop_time: DiskTime,
    stage: LeavingStage,
    /// Whether the end is written.
    pub(crate) result: Result<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LeavingStage {
    Writing,
    Dropping,
    Unlocking,
    Gone,
}

impl Leaving {
    /// The generator was sealed: `first_unused` is its first tick without an id.
    /// `keeps_cache`: the cached lease stays as it is.
    pub(crate) fn new(seat: Seat, first_unused: u64, keeps_cache: bool) -> Leaving {
        let Seat { worker_id, file, locks, cache, drops_cache: drops_first, .. } = seat;
        let cache = cache.filter(|_| !keeps_cache);
        let (is_dropped, drop_time) = (cache.is_none(), DiskTime::default());
        let stage = LeavingStage::Writing;
        Leaving {
            worker_id,
            first_unused,
            file,
            locks,
            is_asked: false,
            cache,
            is_dropped,
            drops_first,
            drop_time,
            stage,
            result: Ok(()),
        }
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_gone(&self) -> bool {
        self.stage == LeavingStage::Gone
    }

    /// Goes on as far as no call is needed.
    pub(crate) fn poll(&mut self, m: &mut Moment<'_>, is_disk_free: bool) {
        if self.stage == LeavingStage::Writing && !m.settings.persist {
            self.write(m);
            self.drop_cache(m);
        }
        if self.stage == LeavingStage::Dropping {
            if self.is_dropped {
                self.stage = LeavingStage::Unlocking;
            } else if let Some(error) = self.drop_time.overdue(m) {
                self.not_dropped(&error, m);
            }
        }
        if self.stage == LeavingStage::Unlocking && is_disk_free && self.locks.are_free() {
            self.stage = LeavingStage::Gone;
        }
    }

    /// Whether its lease stays cached, and is not released.
    pub(crate) fn leaves_cache(&self) -> bool {
        !self.is_dropped && matches!(self.stage, LeavingStage::Unlocking | LeavingStage::Gone)
    }

    fn drop_cache(&mut self, m: &Moment<'_>) {
        self.stage = LeavingStage::Dropping;
        self.drop_time.begin(m.disk_bound(), m);
    }

    /// It goes on all the same.
    fn not_dropped(&mut self, why: &Error, m: &mut Moment<'_>) {
        m.notices.warn(format!(
            "worker id {} is not released, because its lease is still cached: {why}; it ends by itself",
            self.worker_id
        ));
        self.stage = LeavingStage::Unlocking;
    }

    /// When it goes on without an answer of the cache.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.drop_time.due().filter(|_| self.stage == LeavingStage::Dropping)
    }

    /// The call that drops the cached lease, on the lane of the cache, which is free.
    pub(crate) fn drop_call(&mut self) -> Option<RunCall> {
        let is_due = take(&mut self.drops_first) || self.stage == LeavingStage::Dropping;
        let cache = self.cache.as_ref().filter(|_| is_due && !self.is_dropped)?;
        Some(RunCall::DropLeaseCache(Box::new(cache.drop_lease())))
    }

    /// The cached lease was dropped, or could not be.
    pub(crate) fn dropped(&mut self, end: CacheDropped, m: &mut Moment<'_>) {
        match end.into_result() {
            Ok(()) => self.is_dropped = true,
            Err(error) if self.stage == LeavingStage::Dropping => self.not_dropped(&error, m),
            Err(_) => {}
        }
    }

    /// A write of the cache ended, which began before.
    pub(crate) fn cached(&mut self, end: CacheWritten) {
        if let Some(cache) = &mut self.cache {
            // What was written is dropped next.
            let _ = cache.written(end);
        }
    }

    /// The next call, on the lane of the disk, which is free.
    pub(crate) fn next_call(&mut self, m: &Moment<'_>) -> Option<RunCall> {
        match self.stage {
            LeavingStage::Writing => {
                self.is_asked = true;
                self.write(m).map(|write| RunCall::WriteRecord(Box::new(write)))
            }
            LeavingStage::Unlocking => self.locks.unlock(),
            LeavingStage::Dropping | LeavingStage::Gone => None,
        }
    }

    fn write(&mut self, m: &Moment<'_>) -> Option<RecordWrite> {
        let record = self.file.record();
        let closed = record.clone().ended(self.first_unused, m.now_ms);
        // Not after a step back, which the next start must detect.
        let writer =
            if closed.granted_at_ms > record.granted_at_ms { m.writer() } else { self.file.writer().clone() };
        self.file.ask(closed, writer)
    }

    /// A write ended: of the end, or of a span that was being written when the generator was sealed.
    pub(crate) fn written(&mut self, end: RecordWritten, m: &Moment<'_>) {
        // After an error the record covers more than was used, which is safe.
        let result = self.file.written(end);
        if self.is_asked {
            self.result = result;
            self.drop_cache(m);
        }
    }

    /// A lock was given back.
    pub(crate) fn ended(&mut self, end: End) {
        match end {
            End::RecordClosed => self.locks.record_closed(),
            End::HostUnlocked => self.locks.host_given_back(),
            _ => {}
        }
    }
}
