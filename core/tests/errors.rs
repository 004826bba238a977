//! The error codes are those of tests/vectors/errors.json, no more and no fewer; and what the errors of claims say.

use crate::common::{entries, error_vectors, number, text};
use leafid_core::snowflake::{HeldId, unusable_lease};
use leafid_core::{Code, Error, Layout, Lease, Rules};

#[test]
fn the_table_and_the_code_agree() {
    let vectors = error_vectors();
    let table = entries(&vectors, "errors");
    for code in Code::ALL {
        let found = table.iter().filter(|entry| text(entry, "code") == code.name()).count();
        assert_eq!(found, 1, "{code:?} stands once in the table");
    }
    for entry in table {
        let code = Code::ALL.into_iter().find(|code| code.name() == text(entry, "code"));
        let code = code.unwrap_or_else(|| panic!("no code for {entry}"));
        assert_eq!(i64::from(code.number()), number(entry, "number"), "{code:?}");
        assert_eq!(Some(code.can_retry()), entry["retry"].as_bool(), "{code:?}");
        assert!(text(entry, "sentence").ends_with('.'), "{code:?}");
    }
}

#[test]
fn every_language_names_a_code_alike() {
    for entry in entries(&error_vectors(), "errors") {
        let code = text(entry, "code");
        let shouted = code.to_uppercase();
        let camel: String = code
            .split('_')
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .chain(["Error".to_string()])
            .collect();
        assert_eq!(text(entry, "c"), format!("LEAFID_{shouted}"));
        assert_eq!(text(entry, "node"), format!("ERR_LEAFID_{shouted}"));
        assert_eq!(text(entry, "python"), camel);
    }
}

#[test]
fn numbers_run_from_one_and_lead_back() {
    for (at, code) in Code::ALL.into_iter().enumerate() {
        assert_eq!(code.number(), at as i32 + 1);
        assert_eq!(Code::from_number(code.number()), Some(code));
    }
    for none in [0, -1, Code::ALL.len() as i32 + 1, i32::MAX, i32::MIN] {
        assert_eq!(Code::from_number(none), None);
    }
}

#[test]
fn an_error_says_code_and_message() {
    let error = Error::invalid("worker", 1_024, "0 to 1023").context("option");
    assert_eq!(error.code(), Code::InvalidArgument);
    assert_eq!(error.to_string(), "invalid_argument: option: worker is 1024; allowed: 0 to 1023");
    let long = "é".repeat(100);
    assert_eq!(Error::invalid("name", &long, "less").message(), format!("name is {long}; allowed: less"));
    let cut = Error::invalid("name", format!("-{long}"), "less");
    assert_eq!(cut.message(), format!("name is -{}…; allowed: less", "é".repeat(99)));
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn a_long_value_is_cut_at_a_character() {
    let error = Error::invalid("name", "ä".repeat(5_000), "at most 64 bytes");
    assert!(error.message().len() < 300, "{} bytes", error.message().len());
    assert!(error.message().contains("ä…; allowed: at most 64 bytes"), "{error}");
}

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
