//! Iteration, handles of one thread's, lazy ones, and the coarse clock.
#![allow(clippy::unwrap_used)]

mod common;
use common::{Place, sorted_and_distinct};
use leafid::{ClockSource, Code, Layout, TickRun, TickRuns};
use std::sync::mpsc::channel;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

fn at_ms(id: i64) -> i64 {
    Layout::LEAF.decode(id).unwrap().timestamp_ms
}

#[test]
fn iteration_goes_on_and_tells_of_the_end() {
    let place = Place::new();
    let flake = place.builder().worker(1).open().unwrap();
    let ids: Vec<i64> = flake.iter().take(5_000).map(Result::unwrap).collect();
    assert!(ids.is_sorted() && sorted_and_distinct(ids));
    let mut made = 0;
    for id in &flake {
        id.unwrap();
        made += 1;
        if made == 3 {
            break;
        }
    }
    flake.close().unwrap();
    assert_eq!(flake.iter().next().unwrap().unwrap_err().code(), Code::Closed);
}

#[test]
fn what_is_at_hand_is_taken_without_a_wait() {
    let place = Place::new();
    let flake = place.builder().worker(1).lazy(true).open().unwrap();
    assert!(flake.is_unclaimed());
    assert_eq!(flake.try_run(10).unwrap(), None);
    let mut ids = vec![flake.next().unwrap()];
    assert!(!flake.is_unclaimed());
    while ids.len() < 10_000 {
        let Some(run) = flake.try_run(10_000).unwrap() else { continue };
        let from = ids.len();
        ids.resize(from + run.count, 0);
        leafid::Run::write_all(&[run], &mut ids[from..]);
        assert_eq!(at_ms(ids[from]), at_ms(*ids.last().unwrap()), "of one tick");
    }
    assert!(ids.is_sorted() && sorted_and_distinct(ids));
    assert_eq!(flake.try_run(0).unwrap(), None);
    assert_eq!(flake.try_run((1 << 24) + 1).unwrap_err().code(), Code::InvalidArgument);
    flake.close().unwrap();
    assert_eq!(flake.try_run(1).unwrap(), None);
    assert!(!flake.is_unclaimed(), "it claims none any more");
}

#[test]
fn runs_are_watched_and_no_id_of_another_handle_comes_between() {
    for clock_source in [ClockSource::System, ClockSource::Coarse] {
        let place = Place::new();
        let open = || place.builder().worker(1).clock_source(clock_source).open().unwrap();
        let (flake, other) = (open(), open());
        let mut runs = TickRuns::new(flake.layout());
        let (mut ids, mut watched) = (Vec::new(), 0);
        for round in 0..20_000 {
            let TickRun { run, watch } = flake.next_run(&mut runs, 0).unwrap();
            assert_eq!(run.count > 1, watch.is_some());
            let (first, last) = (run.first, run.first + (run.count as i64 - 1) * run.stride);
            if let Some(watch) = watch {
                assert!(watch.tick_ms.contains(&at_ms(first)) && watch.tick_ms.contains(&at_ms(last)));
                assert_eq!(watch.after as i64 & 4095, ((last & 4095) + 1) & 4095);
                watched += 1;
            }
            ids.extend((0..run.count as i64).map(|i| first + i * run.stride));
            if round % 100 == 0 {
                ids.push(other.next().unwrap());
            }
        }
        assert_eq!(watched > 0, clock_source == ClockSource::System);
        assert!(ids.is_sorted() && sorted_and_distinct(ids));
        flake.close().unwrap();
        assert_eq!(flake.next_run(&mut runs, 0).unwrap_err().code(), Code::Closed);
    }
}

#[test]
fn handles_of_threads_and_batches_share_no_id() {
    let place = Place::new();
    let flake = place.builder().worker(2).open().unwrap();
    let mut all = flake.take(1_000).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|kind| {
                let flake = &flake;
                scope.spawn(move || {
                    let mut local = flake.local();
                    let mut next = || if kind == 3 { flake.next() } else { local.next() };
                    (0..50_000).map(|_| next().unwrap()).collect::<Vec<i64>>()
                })
            })
            .collect();
        for thread in threads {
            let ids = thread.join().unwrap();
            assert!(ids.is_sorted(), "each handle's own rise");
            all.extend(ids);
        }
    });
    all.extend(flake.take(1_000).unwrap());
    assert_eq!(all.len(), 202_000);
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_handle_of_a_thread_says_when_its_ids_are_made() {
    let place = Place::new();
    let flake = place.builder().worker(3).open().unwrap();
    let mut local = flake.local();
    local.next().unwrap();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(60));
        let before = now_ms();
        assert!(before - at_ms(local.next().unwrap()) <= 20, "the rest of an old run is given up");
    }
}

#[test]
fn a_handle_of_a_thread_ends_with_its_generator_s_lease_of_life() {
    let place = Place::new();
    let flake = place.builder().worker(4).open().unwrap();
    let mut local = flake.local();
    local.next().unwrap();
    // Another handle: the generator lives on.
    flake.close().unwrap();
    local.next().unwrap();
    drop(local);
    place.builder().worker(4).max_backwards_ms(200).open().unwrap();
}

#[test]
fn a_handle_takes_128_ids_of_a_tick() {
    let place = Place::new();
    let flake = place.builder().worker(4).random_start(0).open().unwrap();
    // Two ids of one tick, of a handle each: now and then a tick ends between them.
    let apart = (0..100).map(|_| {
        let (mut one, mut other) = (flake.local(), flake.local());
        other.next().unwrap() - one.next().unwrap()
    });
    assert!(apart.map(i64::abs).any(|apart| apart == 128));
}

#[test]
fn nothing_of_a_run_is_issued_in_a_forked_child() {
    let place = Place::new();
    let flake = place.builder().worker(0..=31).open().unwrap();
    let mut local = flake.local();
    let mut mine: Vec<i64> = (0..5).map(|_| local.next().unwrap()).collect();
    let mut ends = [0; 2];
    // SAFETY: two descriptors are written.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: the child runs this test's own code, and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let ids: Vec<u8> = (0..64).flat_map(|_| local.next().unwrap_or(0).to_ne_bytes()).collect();
        // SAFETY: writes what lies there, and ends the child.
        unsafe {
            libc::write(ends[1], ids.as_ptr().cast(), ids.len());
            libc::_exit(0);
        }
    }
    let mut bytes = [0u8; 512];
    // SAFETY: reads at most what fits, and waits for the child.
    let read = unsafe {
        let read = libc::read(ends[0], bytes.as_mut_ptr().cast(), bytes.len());
        libc::waitpid(child, std::ptr::null_mut(), 0);
        read
    };
    assert_eq!(read, 512);
    mine.extend((0..64).map(|_| local.next().unwrap()));
    let theirs = bytes.chunks(8).map(|id| i64::from_ne_bytes(id.try_into().unwrap()));
    mine.extend(theirs.inspect(|id| assert!(*id > 0)));
    assert!(sorted_and_distinct(mine));
}

#[test]
fn a_lazy_one_claims_at_its_first_id() {
    let place = Place::new();
    let held = place.builder().worker(5).open().unwrap();
    let lazy = place.builder().state_dir(place.dir.path().join("other")).worker(5).lazy(true);
    let lazy = lazy.open().unwrap();
    assert!(!place.dir.path().join("other").exists(), "nothing is made yet");
    assert_eq!(lazy.next().unwrap_err().code(), Code::WorkerInUse);
    held.close().unwrap();
    lazy.next().unwrap();
    assert_eq!(place.builder().worker(4_096).lazy(true).open().unwrap_err().code(), Code::InvalidArgument);
    // Closed before its first use: there is nothing to let go.
    let unused = place.builder().worker(6).lazy(true).open().unwrap();
    unused.close().unwrap();
    assert_eq!(unused.next().unwrap_err().code(), Code::Closed);
    assert!(!place.file(6).exists());
    // Many threads at once are one claim.
    let shared = place.builder().worker(7).lazy(true).open().unwrap();
    let ids: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| shared.next().unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(sorted_and_distinct(ids));
    assert_eq!(shared.stats().unwrap().handles, 1);
}

#[test]
fn the_coarse_clock_is_late_by_little_and_never_ahead() {
    let place = Place::new();
    let flake = place.builder().worker(8).clock_source(ClockSource::Coarse).open().unwrap();
    let lag_ms = flake.stats().unwrap().clock_lag_ms;
    assert!((1..=20).contains(&lag_ms), "{lag_ms}");
    let (mut last, mut late) = (0, 0);
    for _ in 0..300 {
        let before = now_ms();
        let id = flake.next().unwrap();
        let (at, after) = (at_ms(id), now_ms());
        assert!(id > last && at <= after, "{before} {at} {after}");
        late += i32::from(before - at > lag_ms + 40);
        last = id;
        std::thread::sleep(Duration::from_micros(300));
    }
    // The timer's interrupt may itself be late on a busy machine.
    assert!(late < 100, "{late} of 300 are late by more than {lag_ms} ms");
    let exact = place.builder().worker(9).open().unwrap();
    assert_eq!(exact.stats().unwrap().clock_lag_ms, 0);
}

#[test]
fn no_record_no_directory_and_no_range() {
    let place = Place::new();
    let builder = || place.builder().persist(false);
    let flake = builder().worker(10).open().unwrap();
    let last = flake.next().unwrap();
    assert!(place.dir.path().read_dir().unwrap().next().is_none());
    assert_eq!(builder().worker(10).random_start(5).open().unwrap_err().code(), Code::WorkerInUse);
    drop(flake);
    assert!(builder().worker(10).open().unwrap().next().unwrap() > last, "of a later tick");
    for (refused, says) in [
        (builder().worker(0..=3), "persist is false"),
        (builder().worker("hostname:x*4"), "hostname:x*4"),
        (builder().worker(1).on_exhausted(leafid::OnExhausted::Borrow), "on_exhausted is \"borrow\""),
    ] {
        let error = refused.open().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains(says), "{error}");
    }
}

#[test]
fn an_opening_that_joined_another_one_does_not_fail_by_its_settings() {
    let place = Place::new();
    let (begins, begun) = channel();
    let first = place.builder().worker(1).peer_times(move || {
        begins.send(()).unwrap();
        // The other opening joins meanwhile; if it does not, it opens alone, which shows nothing.
        std::thread::sleep(Duration::from_millis(100));
        Ok(vec![now_ms() + 60_000; 3])
    });
    let first = std::thread::spawn(move || first.open().map(|_| ()));
    begun.recv().unwrap();
    let second = place.builder().worker(1).peer_times(|| Ok(vec![now_ms(); 3])).open().unwrap();
    assert_eq!(first.join().unwrap().unwrap_err().code(), Code::ClockBackwards);
    second.next().unwrap();
    assert!(begun.recv().is_err(), "its callback was called once");
}
