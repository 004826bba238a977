//! The wait of a caller, over generators as they are.

use crate::common::{NOW_MS as NOW, PLAIN, granted};
use leafid_core::call::{CallId, Clocks};
use leafid_core::place::Place;
use leafid_core::run::waiting::{Answer, Delay, DelayedBy, Pause, Waiting};
use leafid_core::run::{
    ClaimCall, Claimed, Need, ProcessLeases, RunCall, RunSettings, RunWait, WorkerRun, Workers,
};
use leafid_core::{
    Action, Code, Error, Layout, Lease, OnClockBackwards, OnExhausted, Rules, Snowflake, Span,
};
use std::sync::Arc;
use std::time::Duration;

const BOOT: Duration = Duration::from_secs(500);
const TIMEOUT: Duration = Duration::from_secs(2);
fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A generator of worker id 7 with a span of 3 s from the tick of `NOW` on.
fn flake_of(layout: Layout, rules: Rules) -> Snowflake {
    granted(layout, rules, 7, NOW, 3_000)
}

fn flake() -> Snowflake {
    flake_of(Layout::LEAF, PLAIN)
}

/// A caller of a thread that may wait.
fn patient() -> Waiting {
    Waiting::new(TIMEOUT, None)
}

/// One of a thread with an event loop.
fn of_loop() -> Waiting {
    Waiting::new(TIMEOUT, Some(ms(2)))
}

/// What a caller does that found no id at this time.
fn step_at(wait: &mut Waiting, flake: &Snowflake, now_ms: i64, boot: Duration) -> Pause {
    let action = flake.lacks(now_ms).expect("no id");
    assert_eq!(flake.reserve(now_ms, 1), Err(action), "the same without a look");
    wait.step(flake, None, action, now_ms, boot)
}

/// The code and the message of the error.
fn failed(pause: Pause) -> (Code, String) {
    match pause {
        Pause::Failed(error) => (error.code(), error.message().to_owned()),
        pause => panic!("{pause:?}"),
    }
}

fn pending(by: DelayedBy) -> Answer {
    Answer::Pending(Delay { by, before: None })
}

fn use_up_tick(flake: &Snowflake, now_ms: i64) {
    while flake.left_in_tick(now_ms) > 0 {
        flake.reserve(now_ms, 5_000).unwrap();
    }
}

#[test]
fn a_wait_for_the_clock_ends_before_it_begins_if_it_would_be_too_long() {
    let flake = flake_of(Layout::LEAF, Rules { on_clock_backwards: OnClockBackwards::Wait, ..PLAIN });
    flake.next(NOW + 2_000).unwrap();
    assert_eq!(step_at(&mut patient(), &flake, NOW + 1_999, BOOT), Pause::Until(NOW + 2_000));
    let far = Rules { on_clock_backwards: OnClockBackwards::Wait, max_backwards_ms: 5_000, ..PLAIN };
    let flake = flake_of(Layout::LEAF, far);
    flake.next(NOW + 2_500).unwrap();
    let mut wait = patient();
    assert_eq!(step_at(&mut wait, &flake, NOW + 500, BOOT), Pause::Until(NOW + 2_500));
    // The clock stands: of the time of the call, less is left than of the wait.
    let (code, said) = failed(step_at(&mut wait, &flake, NOW + 500, BOOT + ms(1)));
    assert_eq!(code, Code::ClockBackwards);
    assert_eq!(
        said,
        "the clock is behind the ids issued: the next id is available in 2000 ms, longer than timeout_ms (2000) allows; \
         call again then, or raise timeout_ms"
    );
    let flake = flake_of(Layout::LEAF, PLAIN);
    use_up_tick(&flake, NOW);
    step_at(&mut wait, &flake, NOW, BOOT);
    let (code, said) = failed(step_at(&mut wait, &flake, NOW, BOOT + TIMEOUT));
    assert_eq!(code, Code::WouldBlock);
    assert_eq!(
        said,
        "the ids of this tick are used up: the next id is available in 1 ms, longer than timeout_ms (2000) allows; call \
         again then, or raise timeout_ms"
    );
}

#[test]
fn a_thread_with_an_event_loop_waits_for_the_clock_only_shortly() {
    let (flake, sonyflake) = (flake(), flake_of(Layout::SONYFLAKE, PLAIN));
    use_up_tick(&flake, NOW);
    use_up_tick(&sonyflake, NOW);
    assert_eq!(step_at(&mut of_loop(), &flake, NOW, BOOT), Pause::Until(NOW + 1));
    let (code, said) = failed(step_at(&mut of_loop(), &sonyflake, NOW, BOOT));
    assert_eq!(code, Code::WouldBlock);
    assert_eq!(said, "the next id is available in 10 ms, longer than this thread may wait; call again then");
    assert_eq!(step_at(&mut patient(), &sonyflake, NOW, BOOT), Pause::Until(NOW + 10));
    let (code, _) = failed(step_at(&mut Waiting::new(TIMEOUT, Some(ms(0))), &flake, NOW, BOOT));
    assert_eq!(code, Code::WouldBlock, "a platform that cannot wait at all");
}

#[test]
fn a_clock_that_is_behind_is_read_once_more() {
    let (flake, mut wait) = (flake(), patient());
    flake.grant(Span { from: flake.until(), until: flake.until() + 10_000 });
    flake.next(NOW + 6_000).unwrap();
    assert_eq!(step_at(&mut wait, &flake, NOW, BOOT), Pause::Again);
    let (code, said) = failed(step_at(&mut wait, &flake, NOW, BOOT));
    assert_eq!(code, Code::ClockBackwards);
    assert!(said.contains("6000 ms behind the last id's"), "{said}");
    wait.progressed();
    assert_eq!(step_at(&mut wait, &flake, NOW, BOOT), Pause::Again, "each step of a batch, once");
}

#[test]
fn without_a_record_nothing_is_issued_before_its_time() {
    let (flake, mut wait) = (flake(), patient());
    let begins_ms = Some(NOW + 1_500);
    let begins =
        |wait: &mut Waiting, now_ms, boot| wait.step(&flake, begins_ms, Action::NeedSpan, now_ms, boot);
    assert_eq!(begins(&mut wait, NOW, BOOT), Pause::Until(NOW + 1_500));
    assert_eq!(begins(&mut wait, NOW + 1_500, BOOT + ms(1_500)), Pause::Want);
    let (code, said) = failed(begins(&mut patient(), NOW - 501, BOOT));
    assert_eq!(code, Code::ClockBackwards);
    assert_eq!(
        said,
        "no record of worker id 7 was found, so nothing is issued before 2023-11-14T22:13:21.500Z \
         (no_record_wait_ms): call again in 2001 ms, or raise timeout_ms (2000)"
    );
    let (code, said) = failed(begins(&mut of_loop(), NOW, BOOT));
    assert_eq!(
        (code, said.contains("in 1500 ms, longer than this thread")),
        (Code::WouldBlock, true),
        "{said}"
    );
    // A lost lease is claimed meanwhile.
    flake.seal();
    assert_eq!(patient().step(&flake, begins_ms, flake.lacks(NOW).unwrap(), NOW, BOOT), Pause::Want);
}

#[test]
fn what_does_not_come_in_time_is_an_error_that_says_what_is_waited_for() {
    let flake = flake();
    let late = |by, before| {
        let mut wait = patient();
        step_at(&mut wait, &flake, NOW + 3_000, BOOT);
        let answer = Answer::Pending(Delay { by, before });
        failed(wait.answered(&flake, answer, NOW, BOOT + TIMEOUT))
    };
    let before = Some(Error::new(Code::SegmentUnavailable, "connection refused"));
    let disk = "the next span of worker id 7 was not durable in time; the disk is slow: see the state directory, or raise \
                timeout_ms";
    assert_eq!(late(DelayedBy::Disk, None), (Code::StateIo, disk.to_owned()));
    let lease = "within timeout_ms (2000) the lease of worker id 7 was not renewed, nor another one claimed (before: \
         segment_unavailable: connection refused); leafid goes on with that: call again";
    assert_eq!(late(DelayedBy::Servers, before), (Code::WorkerLost, lease.to_owned()));
    assert_eq!(late(DelayedBy::Callback, None).0, Code::WorkerLost);
}

#[test]
fn a_thread_with_an_event_loop_never_waits_for_what_needs_it() {
    let flake = flake();
    let answered = |mut wait: Waiting, by| {
        step_at(&mut wait, &flake, NOW + 3_000, BOOT);
        wait.answered(&flake, pending(by), NOW + 3_000, BOOT)
    };
    assert_eq!(answered(of_loop(), DelayedBy::Disk), Pause::Sleep(TIMEOUT), "it ends without the loop");
    let told = [
        (
            DelayedBy::DiskOfLoop,
            "the next span of worker id 7 is being written; await ready(), or return to the event loop, and call again",
        ),
        (
            DelayedBy::Servers,
            "the lease of worker id 7 is being renewed, or another one claimed, and its server has not answered yet; \
             return to the event loop and call again",
        ),
        (
            DelayedBy::Callback,
            "the lease of worker id 7 is being renewed, or another one claimed, by code that runs on this thread's event \
             loop; return to the event loop and call again",
        ),
    ];
    for (by, text) in told {
        assert_eq!(failed(answered(of_loop(), by)), (Code::WouldBlock, text.to_owned()));
        assert_eq!(answered(patient(), by), Pause::Sleep(TIMEOUT), "{by:?}");
    }
}

#[test]
fn a_process_that_was_stopped_gets_a_second_chance() {
    let flake = flake();
    let stopped = BOOT + TIMEOUT + ms(1_001);
    let wanting = || {
        let mut wait = patient();
        step_at(&mut wait, &flake, NOW + 3_000, BOOT);
        wait
    };
    let lost = || Answer::Failed(Error::new(Code::WorkerLost, "the lease ended"));
    for answer in [pending(DelayedBy::Disk), pending(DelayedBy::Servers), lost()] {
        let mut wait = wanting();
        assert_eq!(wait.answered(&flake, answer.clone(), NOW, stopped), Pause::Again, "{answer:?}");
        assert_eq!(step_at(&mut wait, &flake, NOW + 3_000, stopped), Pause::Want);
        assert_eq!(
            wait.answered(&flake, pending(DelayedBy::Disk), NOW, stopped),
            Pause::Sleep(TIMEOUT),
            "with all of its time"
        );
        let again = wait.answered(&flake, answer, NOW, stopped + TIMEOUT + ms(1_001));
        assert!(matches!(again, Pause::Failed(_)), "but once: {again:?}");
    }
    let mut wait = wanting();
    let at_once = wait.answered(&flake, lost(), NOW, stopped - ms(1));
    assert!(matches!(at_once, Pause::Failed(_)), "a second late, it was only slow: {at_once:?}");
    let closed = Answer::Failed(Error::new(Code::Closed, "closed"));
    assert!(matches!(wanting().answered(&flake, closed, NOW, stopped), Pause::Failed(_)), "it stays closed");
}

#[test]
fn the_deadline_begins_with_the_first_wait_and_again_with_each_step_of_a_batch() {
    let (flake, mut wait) = (flake(), patient());
    let left = |wait: &mut Waiting, boot| {
        assert_eq!(step_at(wait, &flake, NOW + 3_000, boot), Pause::Want);
        wait.answered(&flake, pending(DelayedBy::Disk), NOW + 3_000, boot)
    };
    assert_eq!(left(&mut wait, BOOT), Pause::Sleep(TIMEOUT));
    assert_eq!(left(&mut wait, BOOT + ms(1_900)), Pause::Sleep(ms(100)));
    wait.progressed();
    assert_eq!(left(&mut wait, BOOT + ms(1_950)), Pause::Sleep(TIMEOUT));
}

#[test]
fn a_batch_fits_into_one_tick_where_the_next_one_is_too_far() {
    let flake = flake_of(Layout::SONYFLAKE, PLAIN);
    let size = flake.layout().max_sequence() as usize + 1;
    assert_eq!(of_loop().check_batch(&flake, size - size / 8, NOW), Ok(()));
    let error = of_loop().check_batch(&flake, size - size / 8 + 1, NOW).unwrap_err();
    assert_eq!(
        error.message(),
        "n is 225; allowed: 1 to 224 on this thread, which may not wait for the next tick of 10ms"
    );
    flake.reserve(NOW, 100).unwrap();
    assert_eq!(of_loop().check_batch(&flake, size - 100, NOW), Ok(()));
    let error = of_loop().check_batch(&flake, size - 99, NOW).unwrap_err();
    assert_eq!(
        (error.code(), error.message()),
        (
            Code::WouldBlock,
            "the next id is available in 10 ms, longer than this thread may wait; call again then"
        )
    );
    assert_eq!(patient().check_batch(&flake, size, NOW), Ok(()));
    let borrows = flake_of(Layout::SONYFLAKE, Rules { on_exhausted: OnExhausted::Borrow, ..PLAIN });
    assert_eq!(of_loop().check_batch(&borrows, size, NOW), Ok(()));
    assert_eq!(of_loop().check_batch(&self::flake(), 1_000_000, NOW), Ok(()), "a tick of 1 ms is waited for");
}

#[test]
fn it_is_ready_when_a_call_finds_an_id_in_this_tick_and_the_next() {
    let (flake, mut wait) = (flake(), Waiting::for_ready(TIMEOUT));
    assert_eq!(wait.ready(&flake, None, NOW, BOOT), None);
    assert_eq!(wait.ready(&flake, None, NOW + 2_999, BOOT), Some(Pause::Want), "the last tick of its span");
    assert_eq!(wait.ready(&flake, None, NOW + 2_998, BOOT), None);
    assert_eq!(flake.first_unused(), flake.layout().tick_at(NOW), "nothing was issued");
    use_up_tick(&flake, NOW);
    assert_eq!(wait.ready(&flake, None, NOW, BOOT), Some(Pause::Until(NOW + 1)));
    flake.seal();
    assert_eq!(wait.ready(&flake, None, NOW, BOOT), Some(Pause::Want));
}

#[test]
fn an_opening_waits_for_a_begin_of_up_to_four_seconds_and_then_for_the_span() {
    let flake = flake();
    for (begins_ms, soon) in
        [(None, false), (Some(NOW), false), (Some(NOW + 4_000), true), (Some(NOW + 4_001), false)]
    {
        assert_eq!(Waiting::begins_soon(begins_ms, NOW), soon, "{begins_ms:?}");
    }
    let mut wait = Waiting::for_ready(TIMEOUT);
    let begins_ms = Some(NOW + 4_000);
    assert_eq!(wait.ready(&flake, begins_ms, NOW, BOOT), Some(Pause::Until(NOW + 4_000)));
    let (now_ms, boot) = (NOW + 4_000, BOOT + ms(4_000));
    assert_eq!(wait.ready(&flake, begins_ms, now_ms, boot), Some(Pause::Want));
    assert_eq!(wait.answered(&flake, pending(DelayedBy::DiskOfLoop), now_ms, boot), Pause::Sleep(TIMEOUT));
    let far = Waiting::for_ready(TIMEOUT).ready(&flake, Some(NOW + 4_001), NOW, BOOT);
    assert_eq!(failed(far.unwrap()).0, Code::ClockBackwards);
}

#[test]
fn an_interrupted_caller_may_call_again() {
    let error = Waiting::interrupted();
    assert_eq!(error.to_string(), "would_block: interrupted while waiting; call again");
}

const CLOCKS: Clocks = Clocks { wall_ms: NOW, boot: BOOT };

/// A run whose first claim is under way, and that claim.
fn claiming(leases: &mut ProcessLeases) -> (WorkerRun, CallId, ClaimCall) {
    let settings = RunSettings {
        name: "orders".into(),
        layout: Layout::LEAF,
        rules: PLAIN,
        workers: Workers::Callback { leases: true },
        persist: false,
        locks_host: false,
        start_after: 0,
        timeout: TIMEOUT,
        lazy: false,
        peer_times: false,
        disk_needs_loop: false,
        leases_end: true,
    };
    let mut run = WorkerRun::new(settings, Place::without_files(Arc::default()), 7);
    run.want(Need::Open { longest: None, loops: true }, CLOCKS);
    match run.next_call(CLOCKS, leases) {
        Some((id, _, RunCall::Claim(call))) => (run, id, call),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wish_is_kept_until_its_answer_and_may_be_left_to_another_caller() {
    let (flake, mut leases) = (flake(), ProcessLeases::new());
    let (mut run, id, call) = claiming(&mut leases);
    let look = |wait: &mut RunWait, run: &mut WorkerRun| wait.wish(run, CLOCKS, &flake, NOW, BOOT);
    let mut first = RunWait::new(patient());
    assert_eq!(look(&mut first, &mut run), Pause::Sleep(TIMEOUT));
    let wish = first.wished();
    assert_eq!((look(&mut first, &mut run), first.wished()), (Pause::Sleep(TIMEOUT), wish), "one wish");
    let mut second = RunWait::new(patient());
    second.take_over(first.leave(), &run);
    assert_eq!((first.wished(), second.wished()), (None, wish));
    let until_ms = NOW + 3_600_000;
    let lease = Lease { worker_id: 7, until_ms, token: Some("one".into()), ..Lease::default() };
    run.done(id, call.end(Ok(Some(Claimed::Lease(lease, Duration::ZERO)))), CLOCKS);
    run.next_call(CLOCKS, &mut leases);
    assert_eq!((look(&mut second, &mut run), second.leave()), (Pause::Again, None));
    let mut third = RunWait::new(patient());
    third.take_over(wish, &run);
    assert_eq!(third.wished(), None, "the span that it asked for may be used up");
}
