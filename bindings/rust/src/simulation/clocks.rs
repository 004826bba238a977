//! Tests of clocks that step back and leap.

use super::*;

#[test]
fn a_clock_an_hour_back_is_refused_with_both_times() {
    let world = World::new();
    world.process().open(builder()).unwrap().next().unwrap();
    world.set_clock(-3_600_000);
    let error = world.process().open(builder()).err().unwrap();
    assert_eq!(error.code(), Code::ClockBackwards);
    for part in ["1700000000000 ms", "1699996400000 ms", "3600000 ms behind", "correct the clock"] {
        assert!(error.message().contains(part), "{error}");
    }
    world.set_clock(3_600_000);
    world.process().open(builder()).unwrap().next().unwrap();
}

#[test]
fn a_process_refused_during_a_step_back_goes_on_when_the_clock_returns() {
    let world = World::new();
    world.process().open(builder()).unwrap().next().unwrap();
    world.pass(1_000);
    let waits = world.process();
    // A clock that is moved all the time: no reading lasts.
    for back_ms in [3_600_000, 3_500_000, 86_400_000, 3_600_000] {
        world.set_clock(-back_ms);
        let refused = waits.open(builder()).err().unwrap();
        assert_eq!(refused.code(), Code::ClockBackwards);
        world.pass(3_000);
        world.set_clock(back_ms);
        world.pass(3_000);
    }
    waits.open(builder()).unwrap().next().unwrap();
}

#[test]
fn a_clean_close_during_a_step_back_hides_it_from_nobody() {
    let world = World::new();
    let closes = world.process();
    let open = closes.open(builder()).unwrap();
    let last = open.next_ms();
    // Idle for longer than the size of a leap: both clocks of the record must be of the time of its grant.
    world.pass(120_000);
    world.set_clock(-3_600_000);
    closes.close(open);
    // Otherwise it would open, and its first id would be an hour away.
    assert_eq!(world.process().open(builder()).err().unwrap().code(), Code::ClockBackwards);
    world.pass(60_000);
    // The clock's return is not a leap either.
    world.set_clock(3_600_000);
    let next = world.process().open(builder()).unwrap().next_ms();
    assert!((180_000..185_000).contains(&(next - last)), "{next} {last}");
}

#[test]
fn a_step_survived_at_run_time_does_not_forbid_the_restart() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    for _ in 0..5_000 {
        open.next().unwrap();
        world.pass(1);
    }
    world.set_clock(-4_000);
    let mut last = open.next_ms();
    for _ in 0..50 {
        let next = open.next_ms();
        assert!(next >= last);
        last = next;
        world.pass(1);
    }
    let restarted = world.process();
    assert!(restarted.open(builder()).unwrap().next_ms() > last);
}

#[test]
fn a_leap_of_the_clock_poisons_no_record() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let ten_years = 10 * 365 * 86_400_000;
    let first = open.next_ms();
    for _ in 0..100 {
        world.pass(10);
        open.next_ms();
    }
    world.set_clock(ten_years);
    for _ in 0..100 {
        world.pass(100);
        assert!((0..20_000).contains(&(open.next_ms() - first)), "the leap is not followed");
    }
    world.set_clock(-ten_years);
    world.pass(1_000);
    let last = open.next_ms();
    let restarted = world.process();
    let open = restarted.open(builder()).unwrap();
    assert!((1..10_000).contains(&(open.next_ms() - last)), "a restart works");
    drop(open);
    // A process that starts during a leap detects it by the record.
    world.set_clock(ten_years);
    let started = world.process();
    let open = started.open(builder()).unwrap();
    assert!((1..10_000).contains(&(open.next_ms() - last)), "a start during a leap follows it no more");
    world.set_clock(-ten_years);
    world.pass(1_000);
    let last = open.next_ms();
    let restarted = world.process();
    let open = restarted.open(builder()).unwrap();
    assert!((1..10_000).contains(&(open.next_ms() - last)), "nor is the record poisoned");
    // A leap that lasts is followed after a minute.
    world.set_clock(ten_years);
    for _ in 0..59 {
        world.pass(1_000);
        assert!(open.next_ms() - last < 100_000);
    }
    world.pass(2_000);
    open.next_ms();
    world.pass(2_000);
    assert!(open.next_ms() - last >= ten_years);
}

#[test]
fn wait_starts_once_the_record_has_passed() {
    let world = World::new();
    let wait = || builder().on_clock_backwards(OnClockBackwards::Wait);
    let process = world.process();
    let open = process.open(wait()).unwrap();
    for _ in 0..10_000 {
        open.next().unwrap();
        world.pass(1);
    }
    let last = open.next_ms();
    let until = open.generator.core.layout().tick_start_ms(open.generator.core.until());
    let before = world.now_ns().div_euclid(1_000_000);
    let restarted = world.process();
    let first = restarted.open(wait()).unwrap().next_ms();
    assert!(first >= until && first > last);
    assert!(
        (until - 1..=until + 200).contains(&first) && until - before <= 3_000,
        "{first} {until} {before}"
    );
}

#[test]
fn a_record_of_another_start_of_the_machine_says_nothing_of_the_clock() {
    let world = World::new();
    world.pass(10_000);
    let process = world.process();
    let open = process.open(builder()).unwrap();
    open.next().unwrap();
    process.close(open);
    world.0.starts.fetch_add(1, SeqCst);
    // Off for an hour, which no clock counted.
    world.set_clock(3_600_000);
    world.pass(10_000);
    assert!(world.process().open(builder()).unwrap().next_ms() >= START_MS + 3_620_000);
}

#[test]
fn a_clean_close_notes_the_clock_so_that_a_step_back_since_is_noticed() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    open.next().unwrap();
    world.pass(60_000);
    process.close(open);
    world.set_clock(-6_000);
    assert_eq!(world.process().open(builder()).err().unwrap().code(), Code::ClockBackwards);
    world.set_clock(2_000);
    world.process().open(builder()).unwrap();
}
