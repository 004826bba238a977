//! The threads that run the jobs of sources, from their start to their end.

use leafid_core::FetchThreads;

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

#[test]
fn a_job_that_panics_ends_its_thread() {
    let mut threads = FetchThreads::new();
    threads.push(7, "a");
    threads.started();
    take(&mut threads, 1, 0);
    threads.job_ended(1, true);
    assert_eq!((threads.idle(), threads.busy()), (0, 0));
}

#[test]
fn the_first_thread_that_is_held_up_counts() {
    let mut threads = FetchThreads::new();
    for (thread, now) in [(1, 50), (2, 20), (3, 90)] {
        threads.push(thread as usize, "a");
        threads.started();
        take(&mut threads, thread, now);
    }
    assert_eq!(threads.first_held_up(), Some(120));
}

#[test]
fn sources_take_turns_and_one_that_is_closed_has_no_jobs() {
    let mut threads = FetchThreads::new();
    for (source, job) in [(7, "a"), (7, "b"), (7, "c"), (8, "d"), (9, "e")] {
        threads.push(source, job);
    }
    assert_eq!(threads.remove(9), ["e"]);
    (0..3).for_each(|_| threads.started());
    let taken = [1, 2, 3].map(|thread| take(&mut threads, thread, 0));
    assert_eq!(taken, [Some("a"), Some("d"), Some("b")]);
    assert_eq!(threads.drain().collect::<Vec<_>>(), ["c"]);
    assert!(!threads.has_jobs());
}
