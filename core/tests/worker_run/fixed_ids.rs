//! A fixed worker id, from the claim to the close.

use super::host::{CLOSE, Host, OPEN, settings};
use leafid_core::Action;
use leafid_core::run::{Answer, Need, RunCall, RunState, Workers};

const SEVEN: Workers = Workers::Within { first: 7, last: 7 };

#[test]
fn a_run_claims_issues_and_closes_in_order() {
    let mut host = Host::new(settings(SEVEN));
    assert_eq!(host.asked(OPEN), Answer::Look);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 7, lost: false });
    assert_eq!(host.calls, ["Disk LockHost", "Disk OpenRecord", "Disk WriteRecord", "Beside Names"]);
    let flake = host.run.generator().unwrap().clone();
    assert_eq!(flake.next(host.now_ms()), Err(Action::NeedSpan), "the first span waits for the first caller");
    assert_eq!(host.asked(Need::Span), Answer::Look);
    let first = flake.next(host.now_ms()).unwrap();
    host.drive_for(10_000);
    let later = flake.next(host.now_ms()).unwrap();
    assert!(later > first);
    let stats = host.run.stats(host.now_ms());
    assert_eq!((stats.ids, stats.claims, stats.lead_ms, stats.last_error.clone()), (2, 1, 0, None));
    assert!(stats.renewals > 0 && stats.reserved_until_ms > host.now_ms(), "{stats:?}");
    host.calls.clear();
    assert_eq!(host.asked(CLOSE), Answer::Look);
    assert_eq!(host.calls, ["Disk WriteRecord", "Disk CloseRecord", "Disk UnlockHost"]);
    assert_eq!((host.closed, host.run.state()), (Some(Ok(())), RunState::Closed));
    assert_eq!(flake.next(host.clocks.wall_ms), Err(Action::Sealed));
}

#[test]
fn a_look_at_other_names_that_hangs_delays_nothing() {
    let mut host = Host::new(settings(SEVEN));
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("Names");
    assert_eq!(host.run.answer(ticket), Answer::Look);
    host.id();
    host.drive_for(10_000);
    host.id();
    assert_eq!((host.asked(CLOSE), host.closed.clone()), (Answer::Look, Some(Ok(()))));
    let RunCall::Names(call) = call else { panic!("{call:?}") };
    host.done(id, call.end(vec!["payments".into()]));
    assert!(host.log.iter().any(|(_, text)| text.contains("\"payments\"")), "{:?}", host.log);
}

#[test]
fn a_call_that_became_ready_while_notices_were_pulled_is_pulled_at_once() {
    let mut host = Host::new(settings(SEVEN));
    host.disk.host_locks.insert(7);
    host.want(OPEN);
    let (id, call) = host.drive_to("LockHost");
    let RunCall::LockHost(call) = call else { panic!("{call:?}") };
    host.done(id, call.held());
    assert!(host.pull().is_none() && host.sleeps(), "it waits before it tries again");
    host.pass(3);
    host.notices();
    assert!(!host.sleeps());
    host.drive_to("LockHost");
    assert!(host.pull().is_none() && host.sleeps());
}
