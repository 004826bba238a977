//! Whether the store answers, as the looks at it and the ranges that came say.
//!
//! While it does not, a request that finds no id is refused at once: clients that wait would only queue behind each
//! other. The fetches of tags wait for the store's return instead of failing, so that the first requests then find one
//! that is under way.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use leafid_core::{Code, Error, Result};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// An outage of the store, or none.
#[derive(Default)]
pub(crate) struct Outage {
    /// The error of the last look; `None` if the store has answered since.
    error: Arc<Mutex<Option<Error>>>,
    /// How often it has answered.
    answers: AtomicU64,
    back: Notify,
}

impl Outage {
    /// The error of the last look, for others to see.
    pub(crate) fn seen(&self) -> Arc<Mutex<Option<Error>>> {
        self.error.clone()
    }

    /// Errors: `segment_unavailable` with what the store said last.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.error.lock() {
            None => Ok(()),
            Some(error) => {
                let message = format!("the store does not answer: {}", error.message());
                Err(Error::new(Code::SegmentUnavailable, message))
            }
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.error.lock().is_none()
    }

    /// Looks whether the store answers, and returns what it says if it says it in time. A store that is late is away until
    /// it answers. Then it is asked once more each time: what was asked first may be lost on a way that works again. What
    /// is asked ends by itself, so that few are under way.
    pub(crate) async fn look<T, F: Future<Output = Result<T>>>(
        &self,
        late: Duration,
        ask: impl Fn() -> F,
    ) -> Option<T> {
        let (answers, mut is_in_time) = (self.answers(), true);
        let mut looks = FuturesUnordered::from_iter([ask()]);
        loop {
            match timeout(late, looks.next()).await {
                Ok(Some(Ok(said))) => {
                    self.answered();
                    return is_in_time.then_some(said);
                }
                Ok(failed) => {
                    if let Some(Err(error)) = failed {
                        self.missed(error, answers);
                    }
                    return None;
                }
                Err(_) => {
                    let message = format!("no answer within {} ms", late.as_millis());
                    self.missed(Error::new(Code::SegmentUnavailable, message), answers);
                    is_in_time = false;
                    looks.push(ask());
                }
            }
        }
    }

    /// How often the store has answered, for [`Outage::missed`].
    fn answers(&self) -> u64 {
        self.answers.load(Relaxed)
    }

    /// The store has answered.
    pub(crate) fn answered(&self) {
        self.answers.fetch_add(1, Relaxed);
        if self.error.lock().take().is_some() {
            log::info!("the store answers again");
            self.back.notify_waiters();
        }
    }

    /// A look that began when the store had answered so often has failed. If it has answered since, the look alone was
    /// slow.
    fn missed(&self, error: Error, answers: u64) {
        let mut last = self.error.lock();
        if self.answers() != answers {
            return;
        }
        if last.is_none() {
            log::error!("the store does not answer, buffered ids are served on: {error}");
        }
        *last = Some(error);
    }

    /// Waits until the store answers.
    pub(super) async fn ended(&self) {
        while !self.is_over() {
            let mut back = pin!(self.back.notified());
            back.as_mut().enable();
            if !self.is_over() {
                back.await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, sleep};

    fn away() -> Error {
        Error::new(Code::SegmentUnavailable, "the database failed: no route")
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_goes_on_once_the_store_answers() {
        let outage = Arc::new(Outage::default());
        outage.ended().await;
        outage.missed(away(), outage.answers());
        let error = outage.check().unwrap_err();
        assert_eq!(error.message(), "the store does not answer: the database failed: no route");
        assert!(timeout(Duration::from_secs(600), outage.ended()).await.is_err());
        let waits = tokio::spawn({
            let outage = outage.clone();
            async move { outage.ended().await }
        });
        tokio::task::yield_now().await;
        outage.answered();
        assert!(waits.await.is_ok() && outage.check().is_ok() && outage.seen().lock().is_none());
    }

    #[test]
    fn a_look_that_was_slow_while_ranges_came_is_no_outage() {
        let outage = Outage::default();
        let before = outage.answers();
        outage.answered();
        outage.missed(away(), before);
        assert!(outage.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_late_is_away_until_it_answers() {
        const LATE: Duration = Duration::from_secs(2);
        let (outage, asked, begun) = (Outage::default(), &AtomicU64::new(0), Instant::now());
        let slow = move || async move {
            asked.fetch_add(1, Relaxed);
            sleep(Duration::from_secs(3)).await;
            Ok(7)
        };
        assert_eq!(outage.look(Duration::from_secs(60), slow).await, Some(7));
        assert!(begun.elapsed() == Duration::from_secs(3) && asked.load(Relaxed) == 1);
        let sees = async {
            sleep(LATE * 5 / 4).await;
            assert!(outage.check().unwrap_err().message().ends_with(": no answer within 2000 ms"));
        };
        let (said, ()) = tokio::join!(outage.look(LATE, slow), sees);
        assert!(said.is_none() && outage.is_over(), "what it says late is no time of now");
        assert_eq!(begun.elapsed(), Duration::from_secs(6), "the first answer counts");
        // What was asked before the way to the store broke never comes back.
        let lost = move || async move {
            match asked.fetch_add(1, Relaxed) {
                3 => std::future::pending().await,
                _ => Ok(7),
            }
        };
        assert!(outage.look(LATE, lost).await.is_none() && outage.is_over());
        assert_eq!(begun.elapsed(), Duration::from_secs(8));
        assert_eq!(outage.look(LATE, || async { Err::<(), _>(away()) }).await, None);
        assert!(!outage.is_over());
    }
}
