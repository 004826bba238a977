//! Threads of a pool of their own.

use super::*;
use crate::segments::jobs::Helper;
use std::sync::Weak;
use std::sync::mpsc::channel;

const PATIENCE: Duration = Duration::from_secs(20);

struct Once(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Helper for Once {
    fn help(self: Arc<Self>, _ready: leafid_core::Result<()>) -> bool {
        let deed = self.0.lock().unwrap().take();
        deed.into_iter().for_each(|deed| deed());
        false
    }
}

impl Pool {
    fn push_all(self: &Arc<Self>, jobs: impl Iterator<Item = (usize, Box<dyn FnOnce() + Send>)>) {
        self.locked(|work| {
            for (of, job) in jobs {
                work.jobs.push(of, Job::Help(of, Arc::new(Once(Mutex::new(Some(job))))));
            }
        });
    }
}

#[test]
fn a_job_that_idle_threads_leave_is_done_once_those_at_work_are_held_up() {
    let pool = Pool::new();
    pool.locked(|work| work.offices.push((Weak::new(), 0)));
    // Eight threads: four for all, and four for whom nobody works.
    let (say, begun) = channel();
    let hang = || {
        let (release, released) = channel::<()>();
        let say = say.clone();
        let job: Box<dyn FnOnce() + Send> = Box::new(move || {
            say.send(()).unwrap();
            let _ = released.recv();
        });
        (release, job)
    };
    let (released, jobs): (Vec<_>, Vec<_>) = (0..8).map(|_| hang()).unzip();
    for job in (1..).zip(jobs) {
        pool.push_all(std::iter::once(job));
        pool.tend(false);
        begun.recv_timeout(PATIENCE).unwrap();
    }
    drop(released);
    let deadline = Instant::now() + PATIENCE;
    while pool.locked(|work| work.idle) != Some(8) {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    // Five at once of one source: the fifth is left by those that are idle.
    let (released, mut jobs): (Vec<_>, Vec<_>) = (0..4).map(|_| hang()).unzip();
    let (done, fifth) = channel();
    jobs.push(Box::new(move || done.send(()).unwrap()));
    pool.push_all(jobs.into_iter().map(|job| (9, job)));
    pool.fetch.notify_all();
    // Those that have idled for long look once more as they go.
    let fifth = fifth.recv_timeout(IDLE / 2);
    drop(released);
    pool.stop(PATIENCE, false);
    fifth.unwrap();
}
