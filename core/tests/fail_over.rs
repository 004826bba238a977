//! One request over several servers: whom it asks, for how long, and what it returns; and when one that failed is asked
//! again. No socket and no thread.

use leafid_core::server::{FailOver, FailOverAction, RequestEnd, ServerFailure, ServersHealth};
use leafid_core::{BackOff, Code, Error};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const CONNECT: Duration = Duration::from_millis(300);

fn error(message: &str) -> Error {
    Error::new(Code::SegmentUnavailable, message)
}

fn failure(message: &str) -> ServerFailure {
    ServerFailure { error: error(message), of_server: error(message), is_whole: true, is_denied: false }
}

fn request(servers: usize) -> FailOver<&'static str> {
    FailOver::new("a", true, false, 7, servers, CONNECT)
}

/// The server, the nonce, the time in milliseconds, and whether it reconnects; or the error.
fn poll(
    request: &mut FailOver<&str>,
    health: &mut ServersHealth,
    left: Duration,
) -> Result<(usize, u128, u128, bool), String> {
    match request.poll(health, 0, left) {
        FailOverAction::Send { server, nonce, within, reconnect } => {
            Ok((server, nonce, within.as_millis(), reconnect))
        }
        FailOverAction::Stop(error) => Err(error.message().to_owned()),
    }
}

#[test]
fn each_server_is_asked_once_and_the_last_error_is_returned() {
    let (mut request, mut health) = (request(3), ServersHealth::new(3));
    for server in 0..3 {
        let sent = poll(&mut request, &mut health, SECOND).unwrap();
        assert_eq!((sent.0, sent.1), (server, 7 + server as u128), "each request has a nonce of its own");
        let end = RequestEnd::None(failure(&format!("{server} is down")));
        assert_eq!(request.ended(&mut health, end, 0), None);
        let ready = [200, 201].map(|now_ms| health.is_ready(server, "a", now_ms, true));
        assert_eq!(ready, [false, true], "its back-off is never shorter than 200 ms");
    }
    assert_eq!(poll(&mut request, &mut health, SECOND).unwrap_err(), "2 is down");
}

#[test]
fn after_the_time_no_server_is_asked_and_a_probe_may_be_made_by_others() {
    let (mut request, mut health) = (request(1), ServersHealth::new(1));
    let failing = health.choose("a", &[0], 0, true).unwrap();
    health.failed(failing, "a", -1_000, 0, failure("down"));
    // The probe of a failed server meets a closed connection, and there is no time to try again.
    poll(&mut request, &mut health, SECOND).unwrap();
    request.ended(&mut health, RequestEnd::Stale(failure("closed")), 0);
    assert_eq!(poll(&mut request, &mut health, Duration::ZERO).unwrap_err(), "down");
    assert!(health.choose("a", &[0], 0, true).is_some_and(|attempt| attempt.probes));
    // No time at all.
    let (mut request, mut health) = (self::request(1), ServersHealth::new(1));
    let told = poll(&mut request, &mut health, Duration::ZERO).unwrap_err();
    assert_eq!(told, "no server could be asked in time");
}

fn back_offs(failures: u32, urgent: bool, seed: u64) -> i64 {
    let mut back_off = BackOff::new();
    for _ in 0..failures {
        back_off.failed(1_000, seed);
    }
    back_off.ready_at_ms(urgent).unwrap() - 1_000
}

#[test]
fn rests_grow_up_to_a_bound_that_is_lower_while_somebody_waits() {
    let urgent: Vec<i64> = (1..=8).map(|failures| back_offs(failures, true, 0)).collect();
    assert_eq!(urgent, [200, 400, 400, 400, 400, 400, 400, 400]);
    let calm: Vec<i64> = (1..=8).map(|failures| back_offs(failures, false, 0)).collect();
    assert_eq!(calm, [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
}

#[test]
fn no_server_is_asked_more_than_five_times_a_second_nor_all_at_once() {
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..1_024 {
        for failures in 1..=20 {
            for urgent in [true, false] {
                let back_off = back_offs(failures, urgent, seed);
                assert!((200..=if urgent { 400 } else { 10_000 }).contains(&back_off), "{back_off}");
                assert!(back_off * 4 >= back_offs(failures, urgent, 0) * 3);
            }
        }
        seen.insert(back_offs(3, true, seed));
    }
    assert!(seen.len() > 50, "{} different back-offs", seen.len());
}

#[test]
fn an_answer_ends_the_rests() {
    let mut back_off = BackOff::new();
    assert_eq!(back_off.ready_at_ms(true), None);
    back_off.failed(5, 0);
    assert_eq!((back_off.failures(), back_off.ready_at_ms(true)), (1, Some(205)));
    back_off.succeeded();
    assert_eq!((back_off.failures(), back_off.ready_at_ms(true)), (0, None));
    back_off.failed(i64::MAX, 0);
    assert_eq!(back_off.ready_at_ms(false), Some(i64::MAX));
}
