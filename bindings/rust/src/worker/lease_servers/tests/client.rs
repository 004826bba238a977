//! Tests of the client: which clients are equal.

use crate::Snowflake;
use crate::worker::lease_client::LeaseClient;

fn client(option: &'static str, url: &str) -> LeaseClient {
    let options = Snowflake::builder().options.access.to(option, vec![url.into()], 1).unwrap();
    LeaseClient::new(options, "default".into()).unwrap()
}

#[test]
fn where_servers_are_named_makes_no_difference() {
    let one = client("worker", "http://a");
    assert!(one.is_same(&client("LEAFID_WORKER", "http://a")));
    assert!(!one.is_same(&client("worker", "http://b")));
}
