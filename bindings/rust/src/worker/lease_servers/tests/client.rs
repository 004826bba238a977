//! Tests of the client: the meaning of each response to a renewal, and which clients are equal.

use crate::Snowflake;
use crate::worker::lease_client::{HttpLeases, Simulated};
use crate::worker::leases::WorkerLeases;
use leafid_core::wire::Response;
use leafid_core::{Code, Error, Lease};

/// A client whose servers always return this response, or none. `option` names the servers.
fn client(option: &'static str, url: &str, answer: Option<(u16, &'static str)>) -> HttpLeases {
    let options = Snowflake::builder().options.access.to(option, vec![url.into()], 1).unwrap();
    let url = url.to_owned();
    let exchange =
        move |_: &_| answer.map(|(status, body)| Response::new(&url, status, body.as_bytes(), option));
    let simulated = Simulated { exchange: Box::new(exchange), number: Box::new(|| 7) };
    HttpLeases::new(options, "shop".into()).unwrap().over(simulated)
}

#[test]
fn only_what_says_that_a_lease_is_lost_or_that_answers_are_mixed_up_is_more_than_a_text() {
    for (answer, code) in [
        (Some((409, r#"{"error":"worker_lost"}"#)), Some(Code::WorkerLost)),
        (Some((200, r#"{"until":9,"lease_ms":9,"token":"x","nonce":"8"}"#)), Some(Code::SourceInvalid)),
        (
            Some((200, r#"{"until":9,"lease_ms":0,"token":"x","nonce":"00000000000000000000000000000007"}"#)),
            None,
        ),
        (Some((400, r#"{"error":"invalid_argument"}"#)), None),
        (Some((409, r#"{"error":"worker_in_use"}"#)), None),
        (Some((503, "")), None),
        (None, None),
    ] {
        let error = client("worker", "http://a", answer).renew(&Lease::default(), 9).unwrap_err();
        let said = error.downcast_ref::<Error>().map(Error::code);
        assert_eq!(said, code, "{answer:?}: {error}");
    }
    let right = r#"{"until":9,"lease_ms":1,"token":"x","nonce":"00000000000000000000000000000007"}"#;
    let renewed = client("worker", "http://a", Some((200, right))).renew(&Lease::default(), 9).unwrap();
    assert_eq!(renewed.unwrap().lease_ms, Some(1));
}

#[test]
fn where_servers_are_named_makes_no_difference() {
    let one = client("worker", "http://a", None);
    assert!(one.is_same(&client("LEAFID_WORKER", "http://a", None)));
    assert!(!one.is_same(&client("worker", "http://b", None)));
}
