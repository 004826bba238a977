//! The head and the frame of responses.

use super::{Subject, World, error, told};
use leafid_core::http::{BodyEnd, Frame, FrameCheck, HttpResult, LARGEST_BODY, ResponseHead};

const LENGTH: Frame<'_> =
    Frame::Read { is_http_1_0: false, content_lengths: &[b"4"], transfer_encodings: &[] };

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
    let four: &[&[u8]] = &[b"4"];
    for (frame, said) in [
        (read(false, four, &[]), ""),
        (read(true, four, &[]), ""),
        (read(false, &[b"0"], &[]), ""),
        (read(false, &[], &[b"Chunked"]), ""),
        (read(true, &[], &[b"chunked"]), "is chunked, which HTTP/1.0 does not know"),
        (read(false, &[], &[]), "does not say where it ends (no Content-Length, not chunked)"),
        (read(false, &[b"4", b"4"], &[]), two_ways),
        (read(false, &[b"4, 4"], &[]), two_ways),
        (read(false, &[b"04"], &[]), two_ways),
        (read(false, &[b"+4"], &[]), two_ways),
        (read(false, &[b"0x4"], &[]), two_ways),
        (read(false, &[b""], &[]), two_ways),
        (read(false, four, &[b"chunked"]), two_ways),
        (read(false, &[], &[b"gzip, chunked"]), two_ways),
        (read(false, &[], &[b"chunked", b"chunked"]), two_ways),
    ] {
        for of in [Subject::Leaf, Subject::Range] {
            check(of, frame, BodyEnd::There, said);
        }
        assert_eq!(head(frame).is_wrong(), !said.is_empty(), "the rest of its body is not waited for");
    }
}

#[test]
fn a_response_without_content_needs_no_end() {
    let frame = Frame::Read { is_http_1_0: false, content_lengths: &[], transfer_encodings: &[] };
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
        (
            BodyEnd::Ambiguous("a CR stands within a line"),
            "is framed so that another reader of HTTP may read another one (a CR stands within a line): see the \
             server, and the proxies before it",
        ),
    ] {
        for of in [Subject::Leaf, Subject::Range, Subject::Tinyid] {
            check(of, LENGTH, end, said);
        }
    }
    assert_eq!(LARGEST_BODY, 65_536);
}

/// What is wrong with these bytes; the same whatever pieces they come in.
fn ambiguity(bytes: &[u8]) -> Option<&'static str> {
    let mut check = FrameCheck::default();
    let whole = check.read(bytes).err();
    let mut check = FrameCheck::default();
    let by_one = bytes.chunks(1).find_map(|byte| check.read(byte).err());
    assert_eq!(by_one, whole, "{:?}", String::from_utf8_lossy(bytes));
    whole
}

#[test]
fn every_reader_finds_the_same_lines_and_chunks() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-ENCODING:chunked\r\n\r\n";
    for (head, rest) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "1\n\r0"),
        ("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.0 200\r\n\r\n", "\n"),
        ("HTTP/1.1 101 Another protocol\r\n\r\n", "\n"),
        (chunked, "4\r\n1\n\r0\r\n0000000A\r\n0123456789\r\n0\r\n\r\n"),
        // What follows the end is not looked at here.
        (chunked, "0\r\n\r\n\n"),
    ] {
        assert_eq!(ambiguity((head.to_owned() + rest).as_bytes()), None, "{head} {rest}");
    }
    let lf = "a line ends with LF alone";
    let cr = "a CR stands within a line";
    let size = "the size of a chunk is not 1 to 8 hexadecimal digits";
    for (bytes, said) in [
        ("\r\nHTTP/1.1 200 OK\r\n\r\n", "an empty line stands before it"),
        ("HTTP/1.1 200 OK\nContent-Length: 4\r\n\r\n1000", lf),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\n\r\n1000", lf),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\n1000", lf),
        ("HTTP/1.1 200 OK\r\nX: y\rContent-Length: 4\r\n\r\n", cr),
        ("HTTP/1.1 200 OK\r\r\nContent-Length: 4\r\n\r\n", cr),
        ("HTTP/1.1 100 Go on\r\n\nHTTP/1.1 200 OK\r\n\r\n", lf),
    ] {
        assert_eq!(ambiguity(bytes.as_bytes()), Some(said), "{bytes}");
    }
    for (rest, said) in [
        ("2\n10\r\n0\r\n\r\n", lf),
        ("2;4`\n\r\n10\r\n0\r\n\r\n", lf),
        ("2\r\n10\n0\r\n\r\n", lf),
        ("2\r\n10\r\n0\n\r\n", lf),
        ("2\r\n10\r\n0\r\n\n", lf),
        ("2\r;\r\n10\r\n0\r\n\r\n", cr),
        ("2;x=y\r\n10\r\n0\r\n\r\n", size),
        ("2 \r\n10\r\n0\r\n\r\n", size),
        (" 2\r\n10\r\n0\r\n\r\n", size),
        ("\t2\r\n10\r\n0\r\n\r\n", size),
        ("+2\r\n10\r\n0\r\n\r\n", size),
        ("-0\r\n\r\n", size),
        ("0x2\r\n10\r\n0\r\n\r\n", size),
        ("1_0\r\n10\r\n0\r\n\r\n", size),
        ("100000002\r\n10\r\n0\r\n\r\n", size),
        ("000000002\r\n10\r\n0\r\n\r\n", size),
        ("\r\n0\r\n\r\n", size),
        ("zz\r\n", size),
        ("2\r\n1000\r\n0\r\n\r\n", "a chunk is longer than its size"),
        ("2\r\n10\r\n0\r\nAge: 1\r\n\r\n", "a trailer follows its last chunk"),
    ] {
        let bytes = format!("HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
        assert_eq!(ambiguity(bytes.as_bytes()), Some(said), "{rest}");
    }
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
