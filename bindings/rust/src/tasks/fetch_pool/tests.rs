//! Tests of the pool, each with its own threads.

use super::*;
use crate::SegmentsBuilder;
use crate::hang::HANG;
use crate::os::simulated;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, Sender, channel};

const PATIENCE: Duration = HANG;

/// An owner that no longer exists.
fn dropped_owner() -> Weak<dyn Owner> {
    struct Dropped;
    impl Owner for Dropped {
        fn close_idle(&self) {}
    }
    Weak::<Dropped>::new()
}

fn once(of: usize, action: Box<dyn FnOnce() + Send>) -> Job {
    Job::new(of, STUCK, |_| {
        action();
        None
    })
}

impl Pool {
    fn push_all(self: &Arc<Self>, jobs: impl Iterator<Item = (usize, Box<dyn FnOnce() + Send>)>) {
        self.with_lock(|work| {
            for (of, job) in jobs {
                work.push(once(of, job));
            }
        });
    }
}

/// A job that signals its start and hangs until its sender is dropped.
fn hang(begun: &Sender<()>) -> (Sender<()>, Box<dyn FnOnce() + Send>) {
    let (release, released) = channel::<()>();
    let begun = begun.clone();
    let job = move || {
        begun.send(()).unwrap();
        let _ = released.recv();
    };
    (release, Box::new(job))
}

/// A job that signals its end.
fn says() -> (Receiver<()>, Box<dyn FnOnce() + Send>) {
    let (done, said) = channel();
    (said, Box::new(move || done.send(()).unwrap()))
}

fn until(pool: &Arc<Pool>, what: &str, done: impl Fn(&mut PoolState) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while pool.with_lock(|work| done(work)) != Some(true) {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn what_waits_behind_jobs_that_hang_is_done_once_these_are_held_up() {
    let pool = Pool::new();
    pool.with_lock(|work| work.owners.push((dropped_owner(), 0)));
    let (say, begun) = channel();
    let began = Instant::now();
    let (released, jobs): (Vec<_>, Vec<_>) = (0..6).map(|_| hang(&say)).unzip();
    let (seventh, last) = says();
    for (number, job) in jobs.into_iter().chain([last]).enumerate() {
        pool.push_all(std::iter::once((9, job)));
        pool.ensure_threads(false);
        if number < 4 {
            begun.recv_timeout(PATIENCE).unwrap();
        }
        if number == 3 {
            assert_eq!(pool.with_lock(|work| (work.fetches.busy(), work.timer)), Some((4, false)));
            let is_later = |work: &mut PoolState| work.fetches.first_held_up() >= Some(began + STUCK);
            assert_eq!(pool.with_lock(is_later), Some(true), "none is held up yet");
        }
    }
    // Each of two more is held up for at most a second, which is found within a tenth of a second.
    let seventh = seventh.recv_timeout(PATIENCE);
    drop(released);
    pool.stop(PATIENCE, false);
    seventh.unwrap();
}

#[test]
fn no_thread_is_begun_before_there_is_something_to_do_nor_stays_without_an_owner() {
    let pool = Pool::new();
    pool.ensure_threads(true);
    assert_eq!(pool.with_lock(|work| work.threads.len()), Some(0));
    let (done, job) = says();
    pool.push_all(std::iter::once((9, job)));
    pool.with_lock(|work| work.stop = true);
    pool.ensure_threads(true);
    assert_eq!(pool.with_lock(|work| work.threads.len()), Some(0), "threads are being ended");
    pool.with_lock(|work| work.stop = false);
    pool.ensure_threads(false);
    done.recv_timeout(PATIENCE).unwrap();
    until(&pool, "nothing is open for which it could have more to do", |work| {
        work.reap();
        work.threads.is_empty()
    });
}

#[test]
fn threads_are_ended_once_what_they_are_at_is_done_and_where_only_idle_ones_matter_at_once() {
    let pool = Pool::new();
    pool.with_lock(|work| work.owners.push((dropped_owner(), 0)));
    let (say, begun) = channel();
    let (release, job) = hang(&say);
    pool.push_all(std::iter::once((9, job)));
    pool.ensure_threads(false);
    begun.recv_timeout(PATIENCE).unwrap();
    let at = Instant::now();
    pool.stop(PATIENCE, true);
    assert_eq!(pool.with_lock(|work| (work.threads.len(), work.stop)), Some((1, false)), "it is at work");
    let released = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        drop(release);
    });
    pool.stop(PATIENCE, false);
    assert_eq!(pool.with_lock(|work| (work.threads.len(), work.fetches.idle())), Some((0, 0)));
    released.join().unwrap();
    assert!(at.elapsed() < PATIENCE);
}

#[test]
fn a_job_that_panics_ends_its_thread_and_is_not_counted_on() {
    let pool = Pool::new();
    pool.with_lock(|work| work.owners.push((dropped_owner(), 0)));
    let panics: fn() = || std::panic::resume_unwind(Box::new("as asked"));
    pool.push_all(std::iter::once((9, Box::new(panics) as Box<dyn FnOnce() + Send>)));
    pool.ensure_threads(false);
    until(&pool, "a thread that panicked ends", |work| {
        work.reap();
        work.threads.is_empty()
    });
    assert_eq!(pool.with_lock(|work| (work.fetches.idle(), work.fetches.busy())), Some((0, 0)));
    let (done, job) = says();
    pool.push_all(std::iter::once((9, job)));
    pool.ensure_threads(false);
    done.recv_timeout(PATIENCE).unwrap();
    until(&pool, "it is idle", |work| (work.fetches.idle(), work.threads.len()) == (1, 1));
    pool.stop(PATIENCE, false);
}

#[test]
fn two_that_are_due_at_once_are_two_and_one_that_is_gone_is_forgotten_with_the_next() {
    let ids = SegmentsBuilder::default().persist(false).name("due").fetch(|_| Ok(None)).open().unwrap();
    let time = Instant::now() + PATIENCE;
    let due = [(); 2].map(|()| schedule(time, Box::new(|| ())));
    assert!(due[0] != due[1] && due.iter().all(|due| is_scheduled(*due)));
    due.into_iter().for_each(cancel);
    assert!(!due.iter().any(|due| is_scheduled(*due)));
    let gone = dropped_owner();
    pool().with_lock(|work| work.owners.push((Weak::clone(&gone), 0)));
    ids.close().unwrap();
    let is_there = pool().with_lock(|work| work.owners.iter().any(|(fetcher, _)| fetcher.ptr_eq(&gone)));
    assert_eq!(is_there, Some(false));
}

#[test]
fn what_no_caller_waits_for_is_left_while_threads_are_held() {
    let pool = Pool::new();
    pool.with_lock(|work| {
        work.owners.push((dropped_owner(), 0));
        work.due.insert((Instant::now() + PATIENCE, 1), Box::new(|| ()));
    });
    pool.ensure_threads(false);
    assert_eq!(pool.with_lock(|work| (work.timer, work.threads.len())), Some((true, 1)));
    pool.with_lock(|work| work.paused = true);
    let (done, job) = says();
    pool.push_all(std::iter::once((9, job)));
    pool.ensure_threads(false);
    pool.timer_wake.notify_one();
    assert!(done.recv_timeout(Duration::from_millis(300)).is_err(), "the timer has nothing to see to yet");
    pool.ensure_threads(true);
    done.recv_timeout(PATIENCE).unwrap();
    pool.stop(PATIENCE, false);
}

#[test]
fn the_user_s_code_counts_as_held_up_sooner_than_what_leafid_asks_itself() {
    let dir = tempfile::tempdir().unwrap();
    let may_take = |builder: SegmentsBuilder| {
        let ids = builder.persist(false).name("held-up").open().unwrap();
        let (driver, _) = ids.tag("order").unwrap().process().unwrap();
        driver.job().may_take
    };
    let file = format!("file:{}", dir.path().join("counters").display());
    let builder = SegmentsBuilder::default;
    assert_eq!(may_take(builder().fetch(|_| Ok(None))), STUCK / 10);
    assert_eq!(may_take(builder().servers([file]).create(true)), STUCK);
}

/// Counts its calls, for which there is no thread. Of the first one there is more to do.
fn told(of: usize, calls: &Arc<AtomicUsize>) -> Job {
    let calls = Arc::clone(calls);
    Job::new(of, STUCK, move |ready| {
        assert_eq!(ready.unwrap_err().code(), Code::StateIo);
        (calls.fetch_add(1, SeqCst) == 0).then(|| told(of, &calls))
    })
}

#[test]
fn jobs_fail_where_the_system_gives_no_thread_and_none_is_there() {
    // A simulated process has none.
    simulated::play(1 << 47);
    let (pool, calls) = (Pool::new(), Arc::new(AtomicUsize::new(0)));
    pool.with_lock(|work| {
        work.push(once(9, Box::new(|| {})));
        work.fetches.started();
        let now = Instant::now();
        drop(work.fetches.take(1, now, 0, |_| now + PATIENCE));
        [7, 8].into_iter().for_each(|of| work.push(told(of, &calls)));
        work.fetches.started();
    });
    pool.ensure_threads(false);
    pool.with_lock(|work| work.fetches.ended());
    pool.ensure_threads(false);
    assert_eq!(calls.load(SeqCst), 0, "a thread is idle, or at work, and does them");
    pool.with_lock(|work| work.fetches.job_ended(1, true));
    pool.ensure_threads(false);
    assert_eq!((calls.load(SeqCst), pool.with_lock(|work| work.fetches.has_jobs())), (3, Some(false)));
    simulated::play(0);
}

#[test]
fn a_job_that_idle_threads_leave_is_done_once_those_at_work_are_held_up() {
    let pool = Pool::new();
    pool.with_lock(|work| work.owners.push((dropped_owner(), 0)));
    // Eight threads: four for all, and four for sources without a thread.
    let (say, begun) = channel();
    let (released, jobs): (Vec<_>, Vec<_>) = (0..8).map(|_| hang(&say)).unzip();
    for job in (1..).zip(jobs) {
        pool.push_all(std::iter::once(job));
        pool.ensure_threads(false);
        begun.recv_timeout(PATIENCE).unwrap();
    }
    drop(released);
    until(&pool, "all are idle", |work| work.fetches.idle() == 8);
    assert_eq!(pool.with_lock(|work| work.timer), Some(false), "there is nothing to see to");
    // Five jobs of one source at once: the idle threads leave the fifth.
    let (released, mut jobs): (Vec<_>, Vec<_>) = (0..4).map(|_| hang(&say)).unzip();
    let (fifth, job) = says();
    jobs.push(job);
    pool.push_all(jobs.into_iter().map(|job| (9, job)));
    pool.worker_wake.notify_all();
    // Threads that have been idle for long check once more before they end.
    let fifth = fifth.recv_timeout(PATIENCE);
    drop(released);
    pool.stop(PATIENCE, false);
    fifth.unwrap();
}
