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
