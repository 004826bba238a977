//! The jobs of all sources, and the threads that run them: whose job is next, and whether another thread is started.
//!
//! Construct: [`FetchThreads::new`]. Events: [`FetchThreads::push`], [`FetchThreads::remove`], [`FetchThreads::drain`],
//! [`FetchThreads::started`], [`FetchThreads::job_ended`], [`FetchThreads::ended`]. Polls: [`FetchThreads::take`], by each
//! idle thread, and [`FetchThreads::wants_thread`]. Queries: all others.
//!
//! The states of a thread:
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | none | it starts | idle |
//! | idle | it takes a job | busy |
//! | busy | the job takes longer than it may | held up: another thread may run beside it |
//! | busy, held up | the job ends | idle |
//! | busy, held up | the job panics | none |
//! | idle | it ends | none |

use crate::segment::fair_queue::FairQueue;
use alloc::collections::{BTreeMap, VecDeque};

/// Concurrent threads for all sources. The same number again is for sources for which no thread works.
const MOST_THREADS: usize = 4;
/// The largest number of further threads, one for each that is held up.
const MOST_HELD_UP: usize = 32;
/// Threads for one source. If they all hang, the other sources still have threads.
const MOST_PER_SOURCE: usize = 16;

/// The waiting jobs and the threads. A number identifies a source, and another one a thread. `T` is a time.
///
/// `requests` is the largest number of concurrent requests of an open source.
#[derive(Debug)]
pub struct FetchThreads<J, T> {
    jobs: FairQueue<J>,
    idle: usize,
    /// For each busy thread: when it starts to count as held up, and its source.
    busy: BTreeMap<u64, (T, usize)>,
}

impl<J, T> Default for FetchThreads<J, T> {
    fn default() -> FetchThreads<J, T> {
        FetchThreads::new()
    }
}

impl<J, T> FetchThreads<J, T> {
    /// Without jobs and threads.
    pub fn new() -> FetchThreads<J, T> {
        FetchThreads { jobs: FairQueue::default(), idle: 0, busy: BTreeMap::new() }
    }

    /// Queues a job of a source.
    pub fn push(&mut self, source: usize, job: J) {
        self.jobs.push(source, job);
    }

    /// Removes the waiting jobs of a source.
    pub fn remove(&mut self, source: usize) -> VecDeque<J> {
        self.jobs.take_all(source)
    }

    /// Removes all waiting jobs.
    pub fn drain(&mut self) -> impl Iterator<Item = J> + use<J, T> {
        self.jobs.drain()
    }

    /// A thread was started.
    pub fn started(&mut self) {
        self.idle += 1;
    }

    /// A job has ended. `panicked`: its thread has ended too.
    pub fn job_ended(&mut self, thread: u64, panicked: bool) {
        self.busy.remove(&thread);
        if !panicked {
            self.idle += 1;
        }
    }

    /// An idle thread has ended.
    pub fn ended(&mut self) {
        self.idle -= 1;
    }

    /// Whether jobs wait.
    pub fn has_jobs(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Whether more jobs wait than threads are idle.
    pub fn lacks_threads(&self) -> bool {
        self.jobs.len() > self.idle
    }

    /// The number of idle threads.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// The number of busy threads.
    pub fn busy(&self) -> usize {
        self.busy.len()
    }

    fn busy_for(&self, source: usize) -> usize {
        self.busy.values().filter(|(_, of)| *of == source).count()
    }
}

impl<J, T: Copy + Ord> FetchThreads<J, T> {
    /// The next job for this idle thread, which is busy then. `held_up_from` says when it starts to count as held up.
    ///
    /// `None` if no job waits, or only those of sources that have as many threads as they may.
    pub fn take(
        &mut self,
        thread: u64,
        now: T,
        requests: usize,
        held_up_from: impl FnOnce(&J) -> T,
    ) -> Option<J> {
        let source = self.next_source(now, requests)?;
        let job = self.jobs.take(source)?;
        self.idle -= 1;
        self.busy.insert(thread, (held_up_from(&job), source));
        Some(job)
    }

    /// Whether another thread must be started.
    pub fn wants_thread(&self, now: T, requests: usize) -> bool {
        self.lacks_threads()
            && self.next_source(now, requests).is_some_and(|next| {
                let more = if self.busy_for(next) == 0 { MOST_THREADS } else { 0 };
                self.idle + self.busy.len() < self.for_all(now, requests) + more
            })
    }

    /// When the first busy thread counts as held up.
    pub fn first_held_up(&self) -> Option<T> {
        self.busy.values().map(|(from, _)| *from).min()
    }

    /// The source of the next job: the one with the fewest busy threads, within its limit. While the threads for all
    /// are busy, only a source without a thread gets one: no source can take the threads that are reserved for the
    /// others.
    fn next_source(&self, now: T, requests: usize) -> Option<usize> {
        let is_free = self.busy.len() < self.for_all(now, requests);
        let most = if is_free { MOST_PER_SOURCE.max(requests) } else { 1 };
        self.jobs.next(|source| Some(self.busy_for(source)).filter(|busy| *busy < most))
    }

    /// The number of threads for all sources. Threads that are held up do not count.
    fn for_all(&self, now: T, requests: usize) -> usize {
        let held_up = self.busy.values().filter(|(from, _)| *from <= now).count().min(MOST_HELD_UP);
        MOST_THREADS.max(requests) + held_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const NOW: i64 = 1_000;
    const LATER: i64 = 2_000;

    /// Busy threads for the sources of `busy` and waiting jobs for those of `jobs`.
    fn threads(busy: &[usize], jobs: &[usize], held_up_from: i64) -> FetchThreads<usize, i64> {
        let busy = busy.iter().zip(0..).map(|(of, thread)| (thread, (held_up_from, *of))).collect();
        let mut threads = FetchThreads { busy, ..FetchThreads::new() };
        for of in jobs {
            threads.push(*of, *of);
        }
        threads
    }

    fn next_and_thread(threads: &FetchThreads<usize, i64>, now: i64) -> (Option<usize>, bool) {
        (threads.next_source(now, 0), threads.wants_thread(now, 0))
    }

    #[test]
    fn who_has_threads_has_none_of_those_left_for_others() {
        let three = threads(&[7, 7, 7], &[7], LATER);
        assert_eq!(next_and_thread(&three, NOW), (Some(7), true));
        let mut four = threads(&[7, 7, 7, 7], &[7, 7], LATER);
        assert_eq!(next_and_thread(&four, NOW), (None, false));
        four.idle = 4;
        assert_eq!(next_and_thread(&four, LATER), (Some(7), false));
        four.push(8, 8);
        assert_eq!(four.next_source(NOW, 0), Some(8));
        assert_eq!(next_and_thread(&threads(&[1, 2, 3, 7], &[7], LATER), NOW), (None, false));
        let mut idle = threads(&[7, 7, 7], &[7, 7], LATER);
        idle.idle = 1;
        assert_eq!(next_and_thread(&idle, NOW), (Some(7), false), "four are there");
    }

    #[test]
    fn a_source_without_a_thread_gets_one_at_once_of_four_more() {
        for busy in [&[1, 2, 3, 4][..], &[7, 7, 7, 7], &[1, 2, 3, 4, 5, 6, 7]] {
            let fifth = threads(busy, &[8, 8], LATER);
            assert_eq!(next_and_thread(&fifth, NOW), (Some(8), true), "{busy:?}");
        }
        let ninth = threads(&[1, 2, 3, 4, 5, 6, 7, 8], &[9], LATER);
        assert!(!ninth.wants_thread(NOW, 0));
        assert!(ninth.wants_thread(LATER, 0), "those that are held up do not count");
    }

    #[test]
    fn sixteen_of_one_source_may_hang() {
        assert_eq!(threads(&[7; 15], &[7], NOW).next_source(NOW, 0), Some(7));
        assert_eq!(threads(&[7; 16], &[7], NOW).next_source(NOW, 0), None);
        assert_eq!(threads(&[7; 16], &[7, 8], NOW).next_source(NOW, 0), Some(8));
    }

    #[test]
    fn thirty_two_that_are_held_up_do_not_count() {
        let sources: Vec<usize> = (100..140).collect();
        assert!(threads(&sources[..39], &[7], NOW).wants_thread(NOW, 0));
        assert!(!threads(&sources, &[7], NOW).wants_thread(NOW, 0));
    }

    #[test]
    fn a_source_with_more_requests_has_more_threads() {
        let busy = threads(&[7; 19], &[7], LATER);
        let next = |requests| (busy.next_source(NOW, requests), busy.wants_thread(NOW, requests));
        assert_eq!([19, 20].map(next), [(None, false), (Some(7), true)]);
        assert_eq!(threads(&[7; 19], &[7], NOW).next_source(NOW, 20), Some(7));
    }

    /// Jobs that may take 100 ms.
    fn take(threads: &mut FetchThreads<&'static str, i64>, thread: u64, now: i64) -> Option<&'static str> {
        threads.take(thread, now, 0, |_| now + 100)
    }

    #[test]
    fn a_thread_is_idle_then_busy_then_idle_again() {
        let mut threads = FetchThreads::new();
        assert!(!threads.wants_thread(0, 0) && !threads.has_jobs(), "there is nothing to do");
        threads.push(7, "a");
        assert!(threads.wants_thread(0, 0) && threads.lacks_threads() && threads.has_jobs());
        threads.started();
        assert!(!threads.wants_thread(0, 0) && !threads.lacks_threads(), "the idle one takes it");
        assert_eq!((threads.idle(), threads.busy(), threads.first_held_up()), (1, 0, None));
        assert_eq!((take(&mut threads, 1, 0), take(&mut threads, 1, 0)), (Some("a"), None));
        assert_eq!((threads.idle(), threads.busy(), threads.first_held_up()), (0, 1, Some(100)));
        threads.job_ended(1, false);
        assert_eq!((threads.idle(), threads.busy(), threads.first_held_up()), (1, 0, None));
        threads.ended();
        assert_eq!((threads.idle(), threads.busy()), (0, 0));
    }
}
