//! Renewals and releases of leases.

use super::{Reply, Subject, World};
use leafid_core::http::HttpResult;
use leafid_core::{Code, RenewalAnswer};

/// What a renewal came to, with this response.
fn renewed(reply: &Reply) -> RenewalAnswer {
    let HttpResult::Renewed(answer) = World::new(1).result(Subject::Renewal, reply) else { unreachable!() };
    answer
}

#[test]
fn the_answer_to_another_renewal_is_none() {
    let right = Reply::good(Subject::Renewal, 1).body;
    for (from, to, said) in [
        ("01\"", "02\"", "has the nonce of another request"),
        ("nonce", "once", "does not repeat the nonce of its request"),
    ] {
        let RenewalAnswer::Failed(error) = renewed(&Reply::new(200, &right.replacen(from, to, 1))) else {
            panic!("{said}")
        };
        assert_eq!(error.code(), Code::SourceInvalid);
        assert!(
            error.message().starts_with("http://s0/api/worker/renew answered 200: the answer "),
            "{error}"
        );
        assert!(error.message().contains(said), "{error}");
    }
}
