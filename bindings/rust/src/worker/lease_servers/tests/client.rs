//! Tests of the client: which clients are equal.

use crate::http::HttpOptions;
use crate::worker::lease_client::LeaseClient;
use std::time::Duration;

fn client(option: &'static str, url: &str) -> LeaseClient {
    let options = HttpOptions {
        option,
        servers: vec![url.into()],
        token: None,
        headers: Vec::new(),
        ca_file: None,
        request_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(1),
        connections: 1,
    };
    LeaseClient::new(options, "default".into()).unwrap()
}

#[test]
fn where_servers_are_named_makes_no_difference() {
    let one = client("worker", "http://a");
    assert!(one.is_same(&client("LEAFID_WORKER", "http://a")));
    assert!(!one.is_same(&client("worker", "http://b")));
}
