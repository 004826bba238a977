//! What holds for every protocol.

use super::{Reply, SECOND, SUBJECTS, Subject, World, error, told};
use leafid_core::http::NoResponse;

/// The texts of a renewal say that it is one. The rest of the message is that of the server.
fn without_context(message: &str) -> &str {
    message.strip_prefix("the renewal of the lease failed: ").unwrap_or(message)
}

#[test]
fn a_wrong_answer_closes_the_connection_and_the_next_server_is_asked() {
    for of in SUBJECTS {
        for status in [200, 301, 302, 400, 401, 403, 404, 405, 407, 408, 418, 429, 500, 502, 503, 504] {
            let mut world = World::new(2);
            let mut exchange = world.exchange(of);
            let (call, _) = world.sent(&mut exchange);
            let (result, keeps) = world.respond(&mut exchange, call, &Reply::new(status, "<html>"));
            assert_eq!((result, keeps), (None, false), "{of:?} {status}");
            let (call, request) = world.sent(&mut exchange);
            assert_eq!(call.server, 1, "{of:?} {status}");
            assert!(!request.path.contains("00000001"), "{of:?}: a nonce of its own");
            // A claim is sent again as it was.
            let random = if of == Subject::Claim { 1 } else { 2 };
            let (result, keeps) = world.respond(&mut exchange, call, &Reply::good(of, random));
            assert!(error(&result.unwrap()).is_none() && keeps, "{of:?} {status}");
        }
    }
}

#[test]
fn what_a_wrong_answer_says() {
    use Subject::{Claim, Leaf, Range, Release, Renewal, Tinyid};
    let page = "the URL in `worker`, and what answers there";
    let (again, token) = ("it is asked again later; see the server's log", "see `token` and `headers`");
    let to =
        "redirects to \"http://other/\", which is not followed: put that into `servers`; no id of it is used";
    let leases = [Claim, Renewal, Release];
    for (subjects, status, code, said) in [
        (&leases[..], 200, "worker_lost", page),
        (&leases[..], 401, "source_invalid", token),
        (&leases[..], 403, "source_invalid", token),
        (&leases[..], 404, "source_invalid", page),
        (&leases[..], 302, "source_invalid", to),
        (&leases[..], 500, "worker_lost", again),
        (&leases[..], 429, "worker_lost", again),
        (&[Claim], 503, "worker_lost", again),
        (&[Release], 503, "segment_unavailable", again),
        (&[Range, Leaf, Tinyid], 401, "source_invalid", token),
        (&[Range, Leaf, Tinyid], 403, "source_invalid", token),
        (&[Range, Leaf, Tinyid], 302, "source_invalid", to),
        (&[Range, Leaf, Tinyid], 503, "segment_unavailable", again),
        (&[Range], 200, "source_invalid", "is not a range: it is not a JSON object"),
        (
            &[Range],
            404,
            "source_invalid",
            "is neither a range nor an error of leafid: see the URL in `servers`",
        ),
        (&[Leaf], 200, "source_invalid", "is not an id in decimal digits, as Leaf returns it"),
        (&[Leaf], 404, "source_invalid", "is not an id in decimal digits, as Leaf returns it"),
        (&[Tinyid], 200, "source_invalid", "is not a tinyid segment"),
        (&[Tinyid], 404, "source_invalid", "is not a tinyid segment"),
    ] {
        for &of in subjects {
            let result = World::new(1).result(of, &Reply::new(status, "<html>"));
            let (its_code, message) = told(&result);
            assert_eq!(its_code, code, "{of:?} {status}: {message}");
            assert!(message.contains(said), "{of:?} {status}: {message}");
            assert!(without_context(message).starts_with("http://s0/"), "{of:?} {status}: {message}");
            assert!(message.contains(&format!("answered {status} \"<html>\"")), "{of:?}: {message}");
        }
    }
}

#[test]
fn a_server_that_denies_is_not_asked_again_soon_and_one_that_is_busy_is_distinguished() {
    for (of, status, denies) in [
        (Subject::Range, 401, true),
        (Subject::Leaf, 403, true),
        (Subject::Tinyid, 404, true),
        (Subject::Range, 302, true),
        (Subject::Range, 503, false),
        (Subject::Leaf, 429, false),
        (Subject::Claim, 401, true),
        (Subject::Claim, 503, false),
    ] {
        let mut world = World::new(1);
        world.result(of, &Reply::new(status, "<html>"));
        let tag = if of == Subject::Claim { "" } else { "order" };
        assert_eq!(world.health.denies(tag), denies, "{of:?} {status}");
        let other = world.health.is_ready(0, "other", 100_000, true);
        assert_eq!(other, denies && of != Subject::Claim, "{of:?} {status}: of one tag, or of the server");
    }
}

#[test]
fn an_answer_from_a_cache_is_never_used() {
    for of in SUBJECTS {
        let mut world = World::new(1);
        let mut exchange = world.exchange(of);
        let (call, _) = world.sent(&mut exchange);
        let reply = Reply { age: Some(b"0"), ..Reply::good(of, 1) };
        assert_eq!(world.respond(&mut exchange, call, &reply), (None, false), "{of:?}");
        let result = world.over(&mut exchange);
        let (_, message) = told(&result);
        assert!(message.contains("comes from a cache (Age: \"0\"): keep caches from this URL"), "{message}");
    }
}

#[test]
fn a_slow_server_leaves_time_for_the_next_one_unless_only_it_can_answer() {
    for of in SUBJECTS {
        let mut world = World::new(2);
        let mut exchange = world.exchange(of);
        let (call, _) = world.sent(&mut exchange);
        let once = matches!(of, Subject::Renewal | Subject::Release);
        assert_eq!(call.within.as_millis(), if once { 1_000 } else { 300 }, "{of:?}");
        assert_eq!(call.connect_within.as_millis(), 300, "{of:?}");
        world.now += SECOND / 4;
        world.fail(&mut exchange, call, NoResponse::TimedOut, false);
        let (call, _) = world.sent(&mut exchange);
        assert_eq!((call.server, call.within.as_millis()), (1, 750), "{of:?}: the last one has what is left");
    }
}

#[test]
fn after_its_time_no_server_is_asked() {
    for of in SUBJECTS {
        let mut world = World::new(2);
        let mut exchange = world.exchange(of);
        let (call, _) = world.sent(&mut exchange);
        world.now += SECOND;
        assert_eq!(world.fail(&mut exchange, call, NoResponse::TimedOut, false), None);
        let result = world.over(&mut exchange);
        let (_, message) = told(&result);
        let said = "did not answer in time; see whether it is overloaded or this process was stopped, or raise \
                    request_timeout_ms";
        assert!(message.contains(said), "{message}");
        // No server was asked at all.
        let mut exchange = world.exchange(of);
        world.now += SECOND;
        let mut untouched = World { now: world.now, ..World::new(2) };
        let result = untouched.over(&mut exchange);
        assert!(told(&result).1.contains("no server could be asked in time"), "{of:?}");
    }
}

#[test]
fn a_response_to_a_request_that_was_not_made_is_none() {
    for of in SUBJECTS {
        let mut world = World::new(1);
        let mut exchange = world.exchange(of);
        let call = world.call(&mut exchange);
        assert_eq!(world.respond(&mut exchange, call, &Reply::good(of, 0)), (None, false), "{of:?}");
        let result = world.over(&mut exchange);
        let said = "a response came to a request that was not made; report this";
        assert!(told(&result).1.contains(said), "{of:?}");
    }
}

#[test]
fn only_the_last_request_of_a_call_is_answered() {
    for of in [Subject::Claim, Subject::Renewal, Subject::Range] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(of);
        let (mut call, _) = world.sent(&mut exchange);
        call.request(2);
        let (result, _) = world.respond(&mut exchange, call, &Reply::good(of, 1));
        assert_eq!(result, None, "{of:?}");
        assert_eq!(told(&world.over(&mut exchange)).0, "source_invalid", "{of:?}");
    }
}

#[test]
fn an_end_without_a_call_tells_nothing() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(Subject::Claim);
    let (call, _) = world.sent(&mut exchange);
    world.fail(&mut exchange, call.clone(), NoResponse::Closed, false);
    world.respond(&mut exchange, call, &Reply::new(500, ""));
    assert!(exchange.is_unreachable(&world.health));
}

#[test]
fn what_is_closed_ends_and_a_probe_may_be_made_by_others() {
    for of in SUBJECTS {
        let mut world = World::new(1);
        world.result(of, &Reply::new(503, "busy"));
        world.now += SECOND;
        let mut exchange = world.exchange(of);
        world.sent(&mut exchange);
        let result = exchange.close(&mut world.health);
        assert!(told(&result).1.contains("the source was closed while it was asked"), "{of:?}: {result:?}");
        let mut exchange = world.exchange(of);
        assert_eq!(world.call(&mut exchange).server, 0, "{of:?}");
    }
}

#[test]
fn a_host_that_does_not_report_an_end_is_not_waited_for() {
    for of in SUBJECTS {
        let mut world = World::new(2);
        let mut exchange = world.exchange(of);
        assert_eq!(exchange.overdue_at(), None);
        let (call, _) = world.sent(&mut exchange);
        let at = world.now + call.within + SECOND / 2;
        assert_eq!(exchange.overdue_at(), Some(at), "{of:?}: after the host's own report");
        assert_eq!(exchange.overdue(&mut world.health, at - SECOND / 1_000), None);
        let result = exchange.overdue(&mut world.health, at).unwrap();
        assert!(told(&result).1.contains("did not answer in time"), "{of:?}: {result:?}");
        assert!(world.health.last_errors().next().unwrap().is_some(), "{of:?}");
        // The end that comes after all changes nothing.
        let (result, _) = world.respond(&mut exchange, call, &Reply::good(of, 1));
        assert_eq!(result, None, "{of:?}");
    }
}

/// Whatever is wrong with the answer to a claim or a renewal: it may hold a token.
#[test]
fn no_message_shows_a_token() {
    for of in [Subject::Claim, Subject::Renewal] {
        let right = Reply::good(of, 1);
        let cut = right.body.trim_end_matches('}');
        let late = right.body.replace("lease_ms", "other");
        for (status, body) in [(200, cut), (200, &late), (203, &right.body), (201, cut)] {
            let result = World::new(1).result(of, &Reply::new(status, body));
            let said = format!(" answered {status}: the answer ");
            assert!(told(&result).1.contains(&said), "{of:?}: {result:?}");
        }
        let result = World::new(1).result(of, &Reply { age: Some(b"1"), ..right });
        assert!(
            told(&result).1.contains(" answered 200: the answer comes from a cache"),
            "{of:?}: {result:?}"
        );
    }
}
