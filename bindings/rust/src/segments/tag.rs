//! The public handle of a tag, from which users take ids.

use super::call::{PendingTake, check_timeout};
use super::fetcher::{Fetcher, closed};
use super::handle::SharedSegments;
use super::stats::TagStats;
use super::tag_state::TagState;
use crate::os::{self, PerProcess};
use crate::tasks::interrupt::Interrupted;
use leafid_core::options::{MOST_IDS, allowed};
use leafid_core::{Code, Error, Result};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The ids of one tag, from any number of threads. A clone is cheap. Within one [`crate::Segments`], all handles of one
/// name share their ids.
///
/// A forked child issues no id that its parent had in memory. It fetches its own segments.
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

    /// Issues the next id, from memory. If both segments are used up, it waits for the next one, at most `timeout_ms`.
    ///
    /// Errors: `unknown_tag`, `segment_unavailable`, `segment_regressed`, `source_invalid`, `state_io`,
    /// `state_corrupt`, `closed`.
    #[inline]
    pub fn next(&self) -> Result<i64> {
        match self.quick() {
            Some(id) => Ok(id),
            None => self.next_slowly(),
        }
    }

    /// [`Tag::next`] with another `timeout_ms`, 1 to 3,600,000.
    pub fn next_within(&self, timeout_ms: i64) -> Result<i64> {
        self.next_unless(Some(timeout_ms), &mut || false)
    }

    /// Issues an id if one is in memory. Otherwise returns `None` and starts a fetch. Errors: `closed`, `unknown_tag`.
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

    /// Issues `n` ids, at most 2^24 of them, in order, over as many segments as needed.
    ///
    /// It asks the source for that many ids at once, if the source can return them. For `n` = 0 it sends no request.
    /// Errors: as [`Tag::next`], and `invalid_argument`. After an error the ids that it had are put back and issued
    /// later.
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.take_unless(n, None, &mut || false)
    }

    /// [`Tag::take`] with another `timeout_ms`, 1 to 3,600,000.
    pub fn take_within(&self, n: usize, timeout_ms: i64) -> Result<Vec<i64>> {
        self.take_unless(n, Some(timeout_ms), &mut || false)
    }

    /// Fills the slice as [`Tag::take`] does, or writes none on an error.
    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        self.fill_unless(out, None, &mut || false)
    }

    /// [`Tag::next`] as a future, for any executor. If it is dropped, no id is lost.
    ///
    /// Its waker is called mostly on a thread of leafid, otherwise on a thread that puts ids back or closes the
    /// segments.
    pub fn next_async(&self) -> impl Future<Output = Result<i64>> + Send + Unpin + use<> {
        // Of exactly one id.
        let first: fn(Vec<i64>) -> i64 = |mut ids| ids.swap_remove(0);
        IdsFuture { tag: self.clone(), n: 1, attempt: None, map: first }
    }

    /// [`Tag::take`] as a future. If it is dropped, it puts its ids back.
    pub fn take_async(&self, n: usize) -> impl Future<Output = Result<Vec<i64>>> + Send + Unpin + use<> {
        let all: fn(Vec<i64>) -> Vec<i64> = |ids| ids;
        IdsFuture { tag: self.clone(), n, attempt: None, map: all }
    }

    /// The name of the tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The statistics of the tag. Errors: `closed`.
    pub fn stats(&self) -> Result<TagStats> {
        let (fetcher, tag_state) = self.process()?;
        match fetcher.is_closed() {
            true => Err(closed()),
            false => Ok(TagStats::of(&tag_state)),
        }
    }

    /// As [`Tag::next`], but returns `would_block` if `interrupted` returns true during a wait.
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

    /// As [`Tag::take`], but returns `would_block` if `interrupted` returns true during a wait.
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

    /// As [`Tag::fill`], but returns `would_block` if `interrupted` returns true during a wait.
    #[doc(hidden)]
    pub fn fill_unless(
        &self,
        out: &mut [i64],
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
    ) -> Result<()> {
        self.complete(out.len(), timeout_ms, interrupted, |attempt| attempt.write(out))
    }

    /// Waits for `n` ids and writes them with `write`. In a forked child it starts again.
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

    /// For bindings: the next id, if one is in memory. It does nothing else.
    #[doc(hidden)]
    #[inline]
    pub fn at_hand(&self) -> Option<i64> {
        self.quick()
    }

    /// For bindings: the error of a call that has waited for this duration.
    #[doc(hidden)]
    pub fn late(&self, waited: Duration) -> Error {
        match self.process() {
            Ok((fetcher, tag_state)) => fetcher.late(&tag_state, waited),
            Err(error) => error,
        }
    }

    /// For event loops: a call for `n` ids that the caller polls. Errors: `invalid_argument`.
    #[doc(hidden)]
    pub fn attempt(&self, n: usize, timeout_ms: Option<i64>) -> Result<PendingTake> {
        check_n(n)?;
        let timeout = match timeout_ms {
            Some(ms) => check_timeout(ms)?,
            None => self.shared.settings.timeout,
        };
        Ok(PendingTake::new(self.clone(), n, timeout))
    }

    /// Issues one id without a wait and without an error.
    #[inline]
    fn quick(&self) -> Option<i64> {
        let ((_, tag_state), generation) = self.process.load()?;
        let watch = os::process::watch_generation();
        let (id, wants_fetch) = tag_state.buffer.take().ok()?;
        // Checked after the step: in a forked child the step changed a copy of the parent's buffer.
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
        // If this does not fetch, the next caller that finds the buffer empty does.
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

    /// Whether the segments of this tag were closed.
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// The tag's state in this process. Errors: `closed`; at the first call in a forked child also those of opening.
    pub(crate) fn process(&self) -> Result<(Arc<Fetcher>, Arc<TagState>)> {
        loop {
            if let Some((fetcher, tag_state)) = self.process.get() {
                return Ok((Arc::clone(fetcher), Arc::clone(tag_state)));
            }
            let generation = os::process::generation();
            let fetcher = self.shared.fetcher()?;
            // `None` with another generation: this is the child of a fork that came in between.
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

/// The future of a call for ids.
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
