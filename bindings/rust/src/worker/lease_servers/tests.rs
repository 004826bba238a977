//! Tests of the client and of its options: which clients are equal, and what names of lease servers are refused.

use crate::http::HttpOptions;
use crate::worker::lease_client::LeaseClient;
use crate::worker::settings::SnowflakeSettings;
use crate::{Snowflake, SnowflakeBuilder, Worker};
use leafid_core::Code;
use leafid_core::options::ServerOptions;
use std::time::Duration;

fn client(said: &'static str, url: &str) -> LeaseClient {
    let servers = ServerOptions {
        said,
        urls: vec![url.into()],
        token: None,
        headers: Vec::new(),
        ca_file: None,
        request_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(1),
        connections: 1,
    };
    LeaseClient::new(HttpOptions { servers, ca_file: None }, "default".into()).unwrap()
}

#[test]
fn where_servers_are_named_makes_no_difference() {
    let one = client("worker", "http://a");
    assert!(one.is_same(&client("LEAFID_WORKER", "http://a")));
    assert!(!one.is_same(&client("worker", "http://b")));
}

fn builder(worker: impl Into<Worker>) -> SnowflakeBuilder {
    Snowflake::builder().worker(worker).persist(false)
}

/// The error of a lazy opening.
fn refusal(builder: SnowflakeBuilder) -> String {
    let error = builder.lazy(true).open().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    error.message().into()
}

#[test]
fn urls_are_checked_at_once_by_the_name_of_the_option() {
    for (worker, says) in [
        (Worker::from("https://ids:0"), "worker is \"https://ids:0\""),
        ("http://a, http://b?c".into(), "worker is \"http://b?…\""),
        ("http://a,".into(), "worker is \"\""),
        (vec!["http://a", "7"].into(), "worker is \"7\""),
        (Vec::<String>::new().into(), "worker is 0 URLs"),
        ("http://ann:secret@ids".into(), "worker is a URL with a user or password"),
        ("http://ann:secret,1@ids".into(), "worker is a URL with a user or password"),
        ("ftp://ids".into(), "a lease server"),
    ] {
        let said = refusal(builder(worker.clone()));
        assert!(said.contains(says) && !said.contains("secret"), "{worker:?}: {said}");
    }
}

#[test]
fn the_same_servers_asked_in_the_same_way_are_one_source() {
    let key = |builder: SnowflakeBuilder| SnowflakeSettings::parse(&builder.options).unwrap();
    let one = || builder("http://a, http://b");
    assert!(key(one()).is_same(&key(builder(["http://a", "http://b"]).timeout_ms(7))));
    assert!(key(one()).is_same(&key(one().request_timeout_ms(1_000).connect_timeout_ms(300))));
    for other in [
        builder(["http://b", "http://a"]),
        builder(["http://a"]),
        one().token("x"),
        one().headers([("x", "y")]),
        one().request_timeout_ms(999),
        one().name("other"),
        builder(7),
    ] {
        assert!(!key(one()).is_same(&key(other.clone())), "{other:?}");
    }
}
