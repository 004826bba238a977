//! The calls for the ids of a tag: those that wait, those that do not, and futures.

use super::call::PendingTake;
use super::reserved_run::ReservedRun;
use super::tag::Tag;
use crate::tasks::interrupt::Interrupted;
use leafid_core::Result;
use leafid_core::options::{check_n, milliseconds, no_memory};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

impl Tag {
    /// Issues the next id, from memory. If both segments are used up, it waits for the next one, at most `timeout_ms`.
    ///
    /// Errors: `unknown_tag`, `segment_unavailable`, `segment_regressed`, `source_invalid`, `state_io`,
    /// `state_corrupt`, `closed`.
    #[inline]
    pub fn next(&self) -> Result<i64> {
        match self.next_in_memory() {
            Some(id) => Ok(id),
            None => self.next_slowly(),
        }
    }

    /// [`Tag::next`] with another `timeout_ms`, 1 to 3,600,000.
    pub fn next_within(&self, timeout_ms: i64) -> Result<i64> {
        self.next_unless(Some(timeout_ms), &mut || false)
    }

    /// Issues an id if one is in memory. Otherwise returns `None` and starts a fetch. Errors: `closed`, `unknown_tag`.
    #[inline]
    pub fn try_next(&self) -> Result<Option<i64>> {
        if let Some(id) = self.next_in_memory() {
            return Ok(Some(id));
        }
        let mut pending = self.pending_take(1, None)?;
        match pending.try_step()? {
            false => Ok(None),
            true => Ok(self.one(&mut pending)),
        }
    }

    /// Issues `n` ids, at most 2^24 of them, in order, over as many segments as needed.
    ///
    /// It asks the source for that many ids at once, if the source can return them. For `n` = 0 it sends no request.
    /// Errors: as [`Tag::next`], and `invalid_argument`. After an error the ids that it had are put back and issued
    /// later.
    #[inline]
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.take_unless(n, None, &mut || false)
    }

    /// [`Tag::take`] with another `timeout_ms`, 1 to 3,600,000.
    #[inline]
    pub fn take_within(&self, n: usize, timeout_ms: i64) -> Result<Vec<i64>> {
        self.take_unless(n, Some(timeout_ms), &mut || false)
    }

    /// Fills the slice as [`Tag::take`] does, or writes none on an error.
    #[inline]
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
        IdsFuture { tag: self.clone(), n: 1, pending: None, map: first }
    }

    /// [`Tag::take`] as a future. If it is dropped, it puts its ids back.
    pub fn take_async(&self, n: usize) -> impl Future<Output = Result<Vec<i64>>> + Send + Unpin + use<> {
        let all: fn(Vec<i64>) -> Vec<i64> = |ids| ids;
        IdsFuture { tag: self.clone(), n, pending: None, map: all }
    }

    /// As [`Tag::next`], but returns `would_block` if `interrupted` returns true during a wait.
    #[doc(hidden)]
    pub fn next_unless(&self, timeout_ms: Option<i64>, interrupted: Interrupted<'_>) -> Result<i64> {
        if timeout_ms.is_none()
            && let Some(id) = self.next_in_memory()
        {
            return Ok(id);
        }
        loop {
            let mut pending = self.pending_take(1, timeout_ms)?;
            pending.complete(interrupted)?;
            if let Some(id) = self.one(&mut pending) {
                return Ok(id);
            }
        }
    }

    /// As [`Tag::take`], but returns `would_block` if `interrupted` returns true during a wait.
    #[doc(hidden)]
    #[inline]
    pub fn take_unless(
        &self,
        n: usize,
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
    ) -> Result<Vec<i64>> {
        check_n(n)?;
        let mut ids: Vec<i64> = Vec::new();
        ids.try_reserve_exact(n).map_err(|_| no_memory(n))?;
        self.complete(n, timeout_ms, interrupted, |pending| {
            ids.clear();
            pending.append(&mut ids)
        })?;
        Ok(ids)
    }

    /// As [`Tag::fill`], but returns `would_block` if `interrupted` returns true during a wait.
    #[doc(hidden)]
    #[inline]
    pub fn fill_unless(
        &self,
        out: &mut [i64],
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
    ) -> Result<()> {
        self.complete(out.len(), timeout_ms, interrupted, |pending| pending.write(out))
    }

    /// Waits for `n` ids and writes them with `write`. In a forked child it starts again.
    // Inlined: the bindings are optimised for speed, the host for size.
    #[inline]
    fn complete(
        &self,
        n: usize,
        timeout_ms: Option<i64>,
        interrupted: Interrupted<'_>,
        mut write: impl FnMut(&mut PendingTake) -> bool,
    ) -> Result<()> {
        loop {
            let mut pending = self.pending_take(n, timeout_ms)?;
            pending.complete(interrupted)?;
            if write(&mut pending) {
                return Ok(());
            }
        }
    }

    /// For event loops: a call for `n` ids that the caller polls. Errors: `invalid_argument`.
    #[doc(hidden)]
    pub fn pending_take(&self, n: usize, timeout_ms: Option<i64>) -> Result<PendingTake> {
        check_n(n)?;
        Ok(PendingTake::new(self.clone(), n, self.timeout(timeout_ms)?))
    }

    /// As [`Tag::pending_take`], for a caller that holds the first of the `n` ids, but not all. All are put back as one, in
    /// their order. After an error the caller still holds them.
    #[doc(hidden)]
    pub fn pending_take_after(
        &self,
        held: ReservedRun,
        n: usize,
        timeout_ms: Option<i64>,
    ) -> Result<PendingTake> {
        let mut pending = self.pending_take(n, timeout_ms)?;
        pending.begin_with(held.run, held.generation);
        Ok(pending)
    }

    /// For event loops that serve their calls from memory: a call that is complete once there are ids, and takes none.
    /// Errors: `invalid_argument`.
    #[doc(hidden)]
    pub fn pending_ids(&self, timeout_ms: Option<i64>) -> Result<PendingTake> {
        Ok(PendingTake::of_none(self.clone(), self.timeout(timeout_ms)?))
    }

    fn timeout(&self, timeout_ms: Option<i64>) -> Result<Duration> {
        match timeout_ms {
            Some(ms) => milliseconds("timeout_ms", ms, 1),
            None => Ok(self.shared.settings.options.timeout),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_slowly(&self) -> Result<i64> {
        self.next_unless(None, &mut || false)
    }

    fn one(&self, pending: &mut PendingTake) -> Option<i64> {
        let mut id = [0];
        pending.write(&mut id).then_some(id[0])
    }
}

/// The future of a call for ids.
struct IdsFuture<F> {
    tag: Tag,
    n: usize,
    pending: Option<PendingTake>,
    map: F,
}

impl<T, F: Fn(Vec<i64>) -> T + Unpin> Future for IdsFuture<F> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        loop {
            if self.pending.is_none() {
                self.pending = Some(self.tag.pending_take(self.n, None)?);
            }
            let Some(pending) = &mut self.pending else { continue };
            let waker = context.waker().clone();
            if !pending.poll(move || waker.wake())? {
                return Poll::Pending;
            }
            let mut ids = vec![0; self.n];
            let written = self.pending.take().is_some_and(|mut pending| pending.write(&mut ids));
            if written {
                return Poll::Ready(Ok((self.map)(ids)));
            }
        }
    }
}
