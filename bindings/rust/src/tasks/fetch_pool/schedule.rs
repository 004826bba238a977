//! The state of the pool: its jobs and threads, and whose job is next.

use super::fair_queue::FairQueue;
use super::{Job, Owner, RunningThread, TimerKey, TimerTask};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc, Weak};
use std::time::Instant;

/// Concurrent fetching threads for all sources. The same number again is for sources for which no thread works.
const MOST_THREADS: usize = 4;
/// The largest number of further threads, one for each that is held up.
const MOST_HELD_UP: usize = 32;
/// Threads for one source. If they all hang, the other sources still have threads.
const MOST_PER_OWNER: usize = 16;

#[derive(Default)]
pub(crate) struct PoolState {
    pub(crate) jobs: FairQueue<Job>,
    pub(crate) due: BTreeMap<TimerKey, TimerTask>,
    pub(crate) number: u64,
    pub(crate) idle: usize,
    /// For each busy thread: when it starts to count as held up, and the address of its owner, to compare.
    pub(crate) busy: BTreeMap<u64, (Instant, usize)>,
    pub(crate) threads: Vec<RunningThread>,
    pub(crate) timer: bool,
    /// Threads end as soon as they can, and none is started.
    pub(crate) stop: bool,
    /// No thread is started for work that no caller waits for.
    pub(crate) paused: bool,
    /// The open owners, each with its number of concurrent requests.
    pub(crate) owners: Vec<(Weak<dyn Owner>, usize)>,
}

impl PoolState {
    pub(crate) fn open_owners(&self) -> Vec<Arc<dyn Owner>> {
        self.owners.iter().filter_map(|(owner, _)| owner.upgrade()).collect()
    }

    /// The source of the next job: the one with the fewest busy threads, within its limit. While the threads for all
    /// are busy, only a source without a thread gets one: no source can take the threads that are reserved for the
    /// others.
    pub(crate) fn next_owner(&self, now: Instant) -> Option<usize> {
        let most = if self.busy.len() < self.for_all(now) { self.most(MOST_PER_OWNER) } else { 1 };
        self.jobs.next(|owner| Some(self.busy_for(owner)).filter(|busy| *busy < most))
    }

    /// Whether another thread must be started.
    pub(crate) fn wants_thread(&self, now: Instant) -> bool {
        self.jobs.len() > self.idle
            && self.next_owner(now).is_some_and(|next| {
                let more = if self.busy_for(next) == 0 { MOST_THREADS } else { 0 };
                self.idle + self.busy.len() < self.for_all(now) + more
            })
    }

    /// The number of threads for all sources. Threads that are held up do not count.
    fn for_all(&self, now: Instant) -> usize {
        let held_up = self.busy.values().filter(|(from, _)| *from <= now).count().min(MOST_HELD_UP);
        self.most(MOST_THREADS) + held_up
    }

    /// `least`, or more if a source has more concurrent requests.
    fn most(&self, least: usize) -> usize {
        self.owners.iter().map(|(_, threads)| *threads).fold(least, usize::max)
    }

    fn busy_for(&self, owner: usize) -> usize {
        self.busy.values().filter(|(_, of)| *of == owner).count()
    }

    /// Joins the threads that have ended.
    pub(crate) fn reap(&mut self) {
        self.threads
            .extract_if(.., |running| running.ended.load(Acquire))
            .for_each(|running| running.thread.join());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn job(of: usize) -> Job {
        Job::new(of, Duration::ZERO, |_| None)
    }

    /// A pool with busy threads for the sources of `busy` and waiting jobs for those of `jobs`.
    fn work(busy: &[usize], jobs: &[usize], held_up_from: Instant) -> PoolState {
        let busy = busy.iter().zip(0..).map(|(of, thread)| (thread, (held_up_from, *of))).collect();
        let mut work = PoolState { busy, ..PoolState::default() };
        for of in jobs {
            work.jobs.push(*of, job(*of));
        }
        work
    }

    #[test]
    fn who_has_threads_has_none_of_those_left_for_others() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        let three = work(&[7, 7, 7], &[7], later);
        assert_eq!((three.next_owner(now), three.wants_thread(now)), (Some(7), true));
        let mut four = work(&[7, 7, 7, 7], &[7, 7], later);
        assert_eq!((four.next_owner(now), four.wants_thread(now)), (None, false));
        four.idle = 4;
        assert_eq!((four.next_owner(later), four.wants_thread(later)), (Some(7), false));
        four.jobs.push(8, job(8));
        assert_eq!(four.next_owner(now), Some(8));
    }

    #[test]
    fn whom_nobody_works_for_has_a_thread_at_once_of_four_more() {
        let now = Instant::now();
        let later = now + Duration::from_secs(1);
        for busy in [&[1, 2, 3, 4][..], &[7, 7, 7, 7], &[1, 2, 3, 4, 5, 6, 7]] {
            let fifth = work(busy, &[8, 8], later);
            assert_eq!((fifth.next_owner(now), fifth.wants_thread(now)), (Some(8), true), "{busy:?}");
        }
        let ninth = work(&[1, 2, 3, 4, 5, 6, 7, 8], &[9], later);
        assert!(!ninth.wants_thread(now));
        assert!(ninth.wants_thread(later), "those that are held up do not count");
    }

    #[test]
    fn sixteen_of_one_source_may_hang() {
        let now = Instant::now();
        assert_eq!(work(&[7; 15], &[7], now).next_owner(now), Some(7));
        assert_eq!(work(&[7; 16], &[7], now).next_owner(now), None);
        assert_eq!(work(&[7; 16], &[7, 8], now).next_owner(now), Some(8));
    }
}
