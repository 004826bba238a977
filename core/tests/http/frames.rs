//! The head and the frame of responses.

use super::{Subject, World, error, told};
use leafid_core::http::{BodyEnd, Frame, HttpResult, LARGEST_BODY, ResponseHead};

const LENGTH: Frame<'_> = Frame::Read { is_http_1_0: false, content_lengths: 1, transfer_encodings: &[] };

/// The result of a Leaf's answer 1000 with this head and end.
fn result(of: Subject, head: ResponseHead<'_>, end: BodyEnd<'_>) -> HttpResult {
    let mut world = World::new(1);
    let mut exchange = world.exchange(of);
    let (call, _) = world.sent(&mut exchange);
    let body = super::Reply::good(of, 1).body;
    let (ended, keeps) = call.clone().end(&call.response(&head, body.into_bytes(), end));
    let result = exchange.ended(&mut world.health, ended, world.now);
    assert_eq!(result.is_some(), keeps, "a connection is kept only after a correct response");
    result.unwrap_or_else(|| world.over(&mut exchange))
}

fn head(frame: Frame<'_>) -> ResponseHead<'_> {
    ResponseHead { status: 200, location: None, age: None, frame }
}

#[track_caller]
fn check(of: Subject, frame: Frame<'_>, end: BodyEnd<'_>, said: &str) {
    let result = result(of, head(frame), end);
    match said {
        "" => assert!(error(&result).is_none(), "{of:?} {frame:?} {end:?}: {result:?}"),
        said => assert!(
            told(&result).1.contains(&format!(": the answer {said}; no id of it is used")),
            "{result:?}"
        ),
    }
}

#[test]
fn a_response_says_once_where_it_ends() {
    let read = |is_http_1_0, content_lengths, transfer_encodings| Frame::Read {
        is_http_1_0,
        content_lengths,
        transfer_encodings,
    };
    let two_ways = "gives its end in two ways, or in an unknown one (Content-Length, Transfer-Encoding)";
    for (frame, said) in [
        (read(false, 1, &[]), ""),
        (read(true, 1, &[]), ""),
        (read(false, 0, &[b"Chunked"]), ""),
        (read(true, 0, &[b"chunked"]), "is chunked, which HTTP/1.0 does not know"),
        (read(false, 0, &[]), "does not say where it ends (no Content-Length, not chunked)"),
        (read(false, 2, &[]), two_ways),
        (read(false, 1, &[b"chunked"]), two_ways),
        (read(false, 0, &[b"gzip, chunked"]), two_ways),
        (read(false, 0, &[b"chunked", b"chunked"]), two_ways),
    ] {
        for of in [Subject::Leaf, Subject::Range] {
            check(of, frame, BodyEnd::There, said);
        }
        assert_eq!(head(frame).is_wrong(), !said.is_empty(), "the rest of its body is not waited for");
    }
}

#[test]
fn a_response_without_content_needs_no_end() {
    let frame = Frame::Read { is_http_1_0: false, content_lengths: 0, transfer_encodings: &[] };
    let head = ResponseHead { status: 204, ..head(frame) };
    assert_eq!(result(Subject::Release, head, BodyEnd::There), HttpResult::Released(Ok(())));
}

#[test]
fn half_an_answer_and_one_that_goes_on_are_none() {
    for (end, said) in [
        (BodyEnd::Early, "ends before its end"),
        (BodyEnd::Continues, "continues after its end (Content-Length is too small)"),
        (BodyEnd::Long, "is longer than 65536 bytes"),
        (BodyEnd::Unframed("bad chunk"), "is not framed as HTTP requires (bad chunk)"),
    ] {
        for of in [Subject::Leaf, Subject::Range, Subject::Tinyid] {
            check(of, LENGTH, end, said);
        }
    }
    assert_eq!(LARGEST_BODY, 65_536);
}

#[test]
fn the_head_tells_more_than_the_body() {
    let head = ResponseHead { age: Some(b"7\n"), ..head(LENGTH) };
    assert!(head.is_wrong());
    let result = result(Subject::Leaf, head, BodyEnd::Early);
    assert!(
        told(&result).1.contains("comes from a cache (Age: \"7\\n\"): keep caches from this URL"),
        "{result:?}"
    );
}

#[test]
fn of_a_platform_that_hides_the_frame_only_what_shows_its_end_is_used() {
    let shown = |content_length, transfer_encoding, is_encoded| Frame::Shown {
        content_length,
        transfer_encoding,
        is_encoded,
    };
    let hidden = "does not say where it ends (no Content-Length, not chunked, or hidden from this origin)";
    let packed = "is compressed, so that a cut one is not noticed: keep compression from this URL";
    for (frame, of_leaf, of_range) in [
        (shown(None, None, false), hidden, ""),
        (shown(None, Some("Chunked"), false), "", ""),
        (shown(None, Some("gzip"), false), hidden, ""),
        (shown(Some("4"), None, true), packed, ""),
        (shown(None, Some("chunked"), true), packed, ""),
        (shown(Some("3"), None, false), "ends before its end", "ends before its end"),
        (shown(Some("4"), None, false), "", "ends before its end"),
    ] {
        check(Subject::Leaf, frame, BodyEnd::There, of_leaf);
        check(Subject::Range, frame, BodyEnd::There, of_range);
    }
    check(Subject::Tinyid, shown(None, None, false), BodyEnd::There, hidden);
}

#[test]
fn a_redirect_that_a_browser_hides_is_one() {
    let head = ResponseHead { status: 0, ..head(LENGTH) };
    let result = result(Subject::Range, head, BodyEnd::There);
    assert_eq!(told(&result).0, "source_invalid");
    assert!(told(&result).1.contains("answered 302 "), "{result:?}");
    assert!(told(&result).1.contains("redirects to nowhere, which is not followed"), "{result:?}");
}
