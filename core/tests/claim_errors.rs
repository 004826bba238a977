//! The errors of claims: who holds a worker id, and what to do.

use leafid_core::snowflake::{HeldId, unusable_lease};
use leafid_core::{Code, Error, Layout, Lease, Rules};

const HELD: HeldId<'_> = HeldId {
    space: "shop",
    worker_id: 7,
    record: None,
    holder: None,
    is_ours: false,
    is_strangers: false,
    is_leased: false,
};

#[test]
fn an_id_that_is_held_says_by_whom_and_what_to_do() {
    let path = Some("/state/worker-7.state".to_owned());
    for (held, text) in [
        (
            HELD,
            "worker id 7 of \"shop\" is held by another process of this host; end that process, or use a range such as \
             0-31, which has an id for each process",
        ),
        (
            HeldId { record: path.clone(), holder: Some("this process".into()), is_ours: true, ..HELD },
            "worker id 7 of \"shop\" (/state/worker-7.state) is held by this process; close that generator, or give \
             this one the same options",
        ),
        (
            HeldId { record: path, holder: Some("user 5".into()), is_strangers: true, ..HELD },
            "worker id 7 of \"shop\" (/state/worker-7.state) is held by user 5, which cannot open this record, but may \
             have one in another directory; end that process, or use a range such as 0-31, which has an id for each process",
        ),
        (
            HeldId { is_leased: true, is_ours: true, ..HELD },
            "worker id 7 of \"shop\" is held by another process of this host; its lease has ended, as the server says: end \
             that process, or let it continue",
        ),
    ] {
        assert_eq!(held.error(), Error::new(Code::WorkerInUse, text));
    }
}

#[test]
fn a_lease_of_servers_is_never_an_invalid_argument_of_the_user() {
    let servers = ["http://a".to_owned(), "http://b".to_owned()];
    let error = unusable_lease(Error::invalid("until_ms", 3, "more"), &servers);
    let text = "http://a, http://b returned a lease that cannot be used: until_ms is 3; allowed: more; see the server";
    assert_eq!(error, Error::new(Code::WorkerLost, text));
    for code in [Code::WorkerLost, Code::WorkerInUse] {
        assert_eq!(unusable_lease(Error::new(code, "said"), &servers), Error::new(code, "said"));
    }
}

#[test]
fn a_lease_whose_span_begins_too_far_ahead_is_not_held_here() {
    let now_ms = 1_800_000_000_000;
    let lease = |from_ms| Lease { worker_id: 7, from_ms, until_ms: now_ms + 90_000, ..Lease::default() };
    for (code, from_ms, held) in [
        (Code::WorkerInUse, now_ms, true),
        (Code::WorkerInUse, now_ms + 60_000, false),
        (Code::WorkerLost, now_ms, false),
    ] {
        let error = Error::new(code, "said");
        assert_eq!(lease(from_ms).is_held_here(&error, &Layout::LEAF, &Rules::default(), now_ms), held);
    }
}
