//! A tag: what users take ids from.

use super::call::{PendingTake, check_timeout};
use super::fetcher::{Fetcher, closed};
use super::handle::SharedSegments;
use super::stats::TagStats;
use super::tag_state::TagState;
use crate::config::allowed::allowed;
use crate::config::checks::MOST_IDS;
use crate::os::{self, PerProcess};
use crate::tasks::interrupt::Interrupted;
use leafid_core::{Code, Error, Result};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The ids of one tag, from any number of threads. Cheap to clone; every tag of the same name of one
/// [`crate::Segments`] is the same.
///
/// In a forked child nothing of what its parent had at hand is issued: it fetches segments of its own.
#[derive(Clone)]
pub struct Tag {
    shared: Arc<SharedSegments>,
    name: Arc<str>,
    pub(super) process: Arc<PerProcess<(Arc<Fetcher>, Arc<TagState>)>>,
}

impl Tag {
    pub(crate) fn new(shared: Arc<SharedSegments>, name: Arc<str>) -> Tag {
        Tag { shared, name, process: Arc::new(PerProcess::new()) }
    }

    /// Issues the next id. From memory, unless both segments are used up: then it waits, at most `timeout_ms`, for the
    /// next one.
    ///
    /// Errors: `unknown_tag`, `segment_unavailable`, `segment_regressed`, `source_invalid`, `state_io`, `state_corrupt`,
    /// `closed`.
    #[inline]
    pub fn next(&self) -> Result<i64> {
        match self.quick() {
            Some(id) => Ok(id),
            None => self.next_slowly(),
        }
    }

    /// [`Tag::next`] with a `timeout_ms` of its own, 1 to 3,600,000.
    pub fn next_within(&self, timeout_ms: i64) -> Result<i64> {
        self.next_unless(Some(timeout_ms), &mut || false)
    }

    /// An id if one is at hand; if not, none, and the next segment is fetched. Errors: `closed`, `unknown_tag`.
    pub fn try_next(&self) -> Result<Option<i64>> {
        if let Some(id) = self.quick() {
            return Ok(Some(id));
        }
        let mut attempt = self.attempt(1, None)?;
        match attempt.try_step()? {
            false => Ok(None),
            true => Ok(self.one(&mut attempt)),
        }
    }

    /// As many ids as asked for, up to 2^24; in order, over as many segments as it takes. The source is asked for that
    /// many at once where it can give them, and not for no ids. Errors: as [`Tag::next`] and `invalid_argument`; what it had
    /// is put back then, and issued later.
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.take_unless(n, None, &mut || false)
    }

    /// [`Tag::take`] with a `timeout_ms` of its own.
    pub fn take_within(&self, n: usize, timeout_ms: i64) -> Result<Vec<i64>> {
        self.take_unless(n, Some(timeout_ms), &mut || false)
    }

    /// Fills the slice as [`Tag::take`] does: all of it, or none on an error.
    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        self.fill_unless(out, None, &mut || false)
    }

    /// [`Tag::next`] as a future, of any executor: it wakes whoever polls it, mostly from a thread of leafid's, else from
    /// one that puts ids back or closes. Dropped, it loses no id.
    pub fn next_async(&self) -> impl Future<Output = Result<i64>> + Send + Unpin + use<> {
        // Of one id.
        let first: fn(Vec<i64>) -> i64 = |mut ids| ids.swap_remove(0);
        IdsFuture { tag: self.clone(), n: 1, attempt: None, map: first }
    }

    /// [`Tag::take`] as a future. Dropped, it puts back what it had.
    pub fn take_async(&self, n: usize) -> impl Future<Output = Result<Vec<i64>>> + Send + Unpin + use<> {
        let all: fn(Vec<i64>) -> Vec<i64> = |ids| ids;
        IdsFuture { tag: self.clone(), n, attempt: None, map: all }
    }

    /// The tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the tag stands. Errors: `closed`.
    pub fn stats(&self) -> Result<TagStats> {
        let (fetcher, tag_state) = self.process()?;
        match fetcher.is_closed() {
            true => Err(closed()),
            false => Ok(TagStats::of(&tag_state)),
        }
    }

    /// [`Tag::next`], given up with `would_block` when `interrupted` answers true during a wait.
    #[doc(hidden)]
    pub fn next_unless(&self, timeout_ms: Option<i64>, interrupted: Interrupted<'_>) -> Result<i64> {
        if timeout_ms.is_none()
            && let Some(id) = self.quick()
        {
            return Ok(id);
        }
        loop {
            let mut attempt = self.attempt(1, timeout_ms)?;
            attempt.complete(interrupted)?;
            if let Some(id) = self.one(&mut attempt) {
                return Ok(id);
            }
        }
    }

    /// [`Tag::take`], likewise.
    #[doc(hidden)]
    pub fn take_unless(
        &self,
        n: usize,
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
    ) -> Result<Vec<i64>> {
        check_n(n)?;
        let mut ids: Vec<i64> = Vec::new();
        let no_memory = |_| Error::new(Code::Internal, format!("no memory for {n} ids; take fewer"));
        ids.try_reserve_exact(n).map_err(no_memory)?;
        self.complete(n, timeout_ms, interrupted, |attempt| {
            ids.clear();
            attempt.append(&mut ids)
        })?;
        Ok(ids)
    }

    /// [`Tag::fill`], likewise.
    #[doc(hidden)]
    pub fn fill_unless(
        &self,
        out: &mut [i64],
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
    ) -> Result<()> {
        self.complete(out.len(), timeout_ms, interrupted, |attempt| attempt.write(out))
    }

    /// Has so many ids written, in a forked child anew.
    fn complete(
        &self,
        n: usize,
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
        mut write: impl FnMut(&mut PendingTake) -> bool,
    ) -> Result<()> {
        loop {
            let mut attempt = self.attempt(n, timeout_ms)?;
            attempt.complete(interrupted)?;
            if write(&mut attempt) {
                return Ok(());
            }
        }
    }

    /// For bindings: the next id, if one is at hand; nothing else is done.
    #[doc(hidden)]
    #[inline]
    pub fn at_hand(&self) -> Option<i64> {
        self.quick()
    }

    /// For bindings: the error of a call that has waited so long.
    #[doc(hidden)]
    pub fn late(&self, waited: Duration) -> Error {
        match self.process() {
            Ok((fetcher, tag_state)) => fetcher.late(&tag_state, waited),
            Err(error) => error,
        }
    }

    /// For event loops: a call for `n` ids, to be polled. Errors: `invalid_argument`.
    #[doc(hidden)]
    pub fn attempt(&self, n: usize, timeout_ms: Option<i64>) -> Result<PendingTake> {
        check_n(n)?;
        let timeout = match timeout_ms {
            Some(ms) => check_timeout(ms)?,
            None => self.shared.settings.timeout,
        };
        Ok(PendingTake::new(self.clone(), n, timeout))
    }

    /// One id without a wait and without an error.
    #[inline]
    fn quick(&self) -> Option<i64> {
        let ((_, tag_state), generation) = self.process.load()?;
        let watch = os::process::watch_generation();
        let (id, wants_fetch) = tag_state.buffer.take().ok()?;
        // After the step: in a forked child it was made on a copy of the parent's buffer.
        if !watch.is_still(generation) {
            return None;
        }
        if wants_fetch {
            self.fetch_ahead();
        }
        Some(id)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn fetch_ahead(&self) {
        // Whoever finds the buffer empty asks for it otherwise.
        if os::check_may_wait().is_ok()
            && let Ok((fetcher, tag_state)) = self.process()
        {
            fetcher.want(&tag_state, None);
        }
    }

    #[cold]
    #[inline(never)]
    fn next_slowly(&self) -> Result<i64> {
        self.next_unless(None, &mut || false)
    }

    fn one(&self, attempt: &mut PendingTake) -> Option<i64> {
        let mut id = [0];
        attempt.write(&mut id).then_some(id[0])
    }

    /// Whether its segments were closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// What this process has of the tag. Errors: `closed`; in a forked child's first call those of opening.
    pub(crate) fn process(&self) -> Result<(Arc<Fetcher>, Arc<TagState>)> {
        loop {
            if let Some((fetcher, tag_state)) = self.process.get() {
                return Ok((Arc::clone(fetcher), Arc::clone(tag_state)));
            }
            let generation = os::process::generation();
            let fetcher = self.shared.fetcher()?;
            // None, and another generation, in the child of a fork that came between.
            if let Some(tag_state) = fetcher.tag_state(&self.name) {
                let _ = self.process.install((fetcher, tag_state?), generation);
            }
        }
    }
}

/// Errors: `invalid_argument`.
fn check_n(n: usize) -> Result<()> {
    match n {
        ..=MOST_IDS => Ok(()),
        _ => Err(Error::invalid("n", n, allowed("n"))),
    }
}

/// Ids to come.
struct IdsFuture<F> {
    tag: Tag,
    n: usize,
    attempt: Option<PendingTake>,
    map: F,
}

impl<T, F: Fn(Vec<i64>) -> T + Unpin> Future for IdsFuture<F> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        loop {
            if self.attempt.is_none() {
                self.attempt = Some(self.tag.attempt(self.n, None)?);
            }
            let Some(attempt) = &mut self.attempt else { continue };
            let waker = context.waker().clone();
            if !attempt.poll(move || waker.wake())? {
                return Poll::Pending;
            }
            let mut ids = vec![0; self.n];
            let written = self.attempt.take().is_some_and(|mut attempt| attempt.write(&mut ids));
            if written {
                return Poll::Ready(Ok((self.map)(ids)));
            }
        }
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tag").field(&self.name).finish()
    }
}
