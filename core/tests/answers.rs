//! What servers of each protocol are sent, and the meaning of their answers.

use leafid_core::wire::leaf::LeafMode;
use leafid_core::wire::range::RangeRequest;
use leafid_core::wire::tinyid::TinyidRequest;
use leafid_core::wire::{Method, Response, Verdict, lease_server, percent_encoded, quoted};
use leafid_core::{Code, Error, Fetched, Lease, RenewalAnswer, Segment};
use serde_json::Value;

const URL: &str = "http://127.0.0.1";
const NONCE: u128 = 1;
const TAG: TinyidRequest<'_> = TinyidRequest { tag: "order", token: "" };

fn vectors(name: &str) -> Value {
    let path = format!("{}/../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn answer(status: u16, body: &str) -> Response {
    Response::new(URL, status, body.as_bytes(), "servers")
}

fn range(tag: &str, step: i64, after: i64) -> RangeRequest<'_> {
    RangeRequest { tag, step, after, ordered: true }
}

fn body() -> String {
    let nonce = format!("{NONCE:032x}");
    format!(r#"{{"tag":"order","start":"1000","end":"2000","stride":1,"step":1000,"nonce":"{nonce}"}}"#)
}

fn judged(reply: &Response) -> Verdict<Fetched> {
    range("order", 1_000, 900).judge(reply, NONCE)
}

#[test]
fn what_each_protocol_sends() {
    let leaf = LeafMode::Segment { block_size: 7 }.request("a/b", 7);
    let nonce = "00000000000000000000000000000007";
    assert_eq!((leaf.method, leaf.path), (Method::Get, format!("/api/segment/get/a%2Fb?nonce={nonce}")));
    assert!(LeafMode::Snowflake.request("x", 7).path.starts_with("/api/snowflake/get/x?"));
    let path = |step| range("a/b", step, 9).request(7).path;
    assert_eq!(path(0), format!("/api/segment/range/a%2Fb?after=9&nonce={nonce}"));
    assert_eq!(path(5), format!("/api/segment/range/a%2Fb?step=5&after=9&nonce={nonce}"));
    let tinyid = TinyidRequest { tag: "a/b", token: "s&t" };
    for (request, call) in [(tinyid.ids(7), "nextSegmentIdSimple"), (tinyid.reason(7), "nextSegmentId")] {
        assert_eq!(request.path, format!("/tinyid/id/{call}?nonce={nonce}"));
        let form = request.body.unwrap();
        assert_eq!(form.text, "bizType=a%2Fb&token=s%26t");
        assert_eq!(form.content_type, "application/x-www-form-urlencoded");
    }
    let held = Lease { worker_id: 3, token: Some("t".into()), ..Lease::default() };
    for (request, call, once, text) in [
        (
            lease_server::claim("shop", "x", 1, 2),
            "claim",
            false,
            r#"{"name":"shop","instance":"x","now":1,"until":2}"#,
        ),
        (
            lease_server::renewal("shop", &held, 9, "n"),
            "renew",
            true,
            r#"{"name":"shop","worker_id":3,"token":"t","until":9,"nonce":"n"}"#,
        ),
        (
            lease_server::release("shop", &held, 9),
            "release",
            true,
            r#"{"name":"shop","worker_id":3,"token":"t","until":9}"#,
        ),
    ] {
        assert_eq!(request.path, format!("/api/worker/{call}"));
        assert_eq!(
            (request.once, request.body.unwrap().text),
            (once, text.into()),
            "only a claim may be made again"
        );
    }
}

#[test]
fn tags_are_encoded_as_in_the_vectors() {
    for case in vectors("tags")["cases"].as_array().unwrap() {
        if let Some(path) = case["path"].as_str() {
            assert_eq!(percent_encoded(case["tag"].as_str().unwrap()), path, "{case}");
        }
    }
    assert_eq!(percent_encoded("a-Z_0.~/ \u{e9}?%"), "a-Z_0.~%2F%20%C3%A9%3F%25");
}

#[test]
fn what_is_quoted_is_short_and_has_no_control_characters() {
    assert_eq!(quoted(b"<html>\r\n\x1b[2J\"\xff"), "\"<html>\\r\\n\\u{1b}[2J\\\"\u{fffd}\"");
    assert_eq!(quoted("é".repeat(100).as_bytes()), format!("\"{}\"", "é".repeat(100)));
    assert_eq!(quoted("é".repeat(101).as_bytes()), format!("\"{}\"…", "é".repeat(100)));
}

#[test]
fn what_is_said_of_a_wrong_value_is_short() {
    let body = format!("{{\"until\": \"{}\", \"nonce\": \"n\"}}", "7".repeat(60_000));
    let Verdict::BadServer(error) = lease_server::judge_renewal(&answer(200, &body), "n") else {
        unreachable!()
    };
    let why = error.message();
    assert!(why.contains("invalid type: string \"777") && why.len() < 400, "{why}");
    assert_eq!(error.code(), Code::WorkerLost);
}

#[test]
fn wrong_ranges() {
    for (from, to, said) in [
        (r#""start":"1000""#, r#""start":"2000""#, "not above its start"),
        (r#""start":"1000""#, r#""start":"-1""#, "has start \"-1\""),
        (r#""start":"1000""#, r#""start":"01000""#, "has start \"01000\""),
        (r#""start":"1000""#, r#""start":"+1000""#, "has start \"+1000\""),
        (r#""start":"1000""#, r#""start":"""#, "has start \"\""),
        (r#""start":"1000""#, r#""start":1000"#, "is not a range"),
        (r#""end":"2000""#, r#""end":"9223372036854775808""#, "not a decimal number below 2^63"),
        (r#""end":"2000""#, r#""end":"2e3""#, "has end \"2e3\""),
        (r#""stride":1"#, r#""stride":0"#, "stride is below 1"),
        (r#""stride":1"#, r#""stride":"1""#, "is not a range"),
        (r#""stride":1"#, r#""stride":1.0"#, "is not a range"),
        (r#""stride":1,"#, "", "missing field `stride`"),
        (r#""step":1000"#, r#""step":-1"#, "has the step -1"),
        (r#""step":1000"#, r#""step":0"#, "has the step 0"),
        (r#""step":1000"#, r#""step":true"#, "is not a range"),
        (r#""tag":"order""#, r#""tag":"Order""#, "is for another tag than \"order\""),
        (r#""nonce":""#, r#""nonce":"0"#, "is to another request"),
        (r#""nonce":""#, r#""once":""#, "missing field `nonce`"),
        (r#""stride":1"#, r#""stride":1,"stride":1"#, "duplicate field"),
        ("{", "[{", "not a JSON object"),
        ("}", "}}", "trailing characters"),
        ("{", "<html>{", "not a JSON object"),
    ] {
        let wrong = body().replacen(from, to, 1);
        let Verdict::BadServer(error) = judged(&answer(200, &wrong)) else { panic!("{wrong}") };
        assert_eq!(error.code(), Code::SourceInvalid, "{to}: {error}");
        let message = error.message();
        assert!(message.contains(said), "{to}: {message}");
        assert!(message.starts_with("http://127.0.0.1 answered 200 \""), "{message}");
        assert!(message.contains("no id of it is used"), "{message}");
    }
    let list = format!(r#"["order","1000","2000",1,1000,"{NONCE:032x}"]"#);
    let error = judged(&answer(200, &list)).into_result().unwrap_err();
    assert!(error.message().contains("not a JSON object"), "{error}");
    for (from, to, step) in [
        ("", "", Some(1_000)),
        (r#""step":1000,"#, "", None),
        (r#""step":1000"#, r#""step":1"#, Some(1)),
        (r#""stride":1"#, r#""stride":1,"more":{"a":[null]}"#, Some(1_000)),
        (r#""tag":"order""#, r#""tag":"\u006frder""#, Some(1_000)),
    ] {
        let segment = Segment::new(1_000, 2_000, 1).unwrap();
        let right = answer(200, &body().replacen(from, to, 1));
        assert_eq!(judged(&right), Verdict::Answer(Fetched { segment, step }), "{to}");
    }
}

/// Whether the next server is tried, and whether the same answer would come again.
#[derive(Debug, PartialEq)]
enum Kind {
    Refused,
    Bad,
    Denied,
}

fn kind<T>(verdict: Verdict<T>) -> (Kind, Error) {
    match verdict {
        Verdict::Refused(error) => (Kind::Refused, error),
        Verdict::BadServer(error) => (Kind::Bad, error),
        Verdict::Denied(error) => (Kind::Denied, error),
        Verdict::Answer(_) | Verdict::TryNext(_) => unreachable!("it is wrong"),
    }
}

#[test]
fn wrong_statuses() {
    use Code::{InvalidArgument, SegmentRegressed, SegmentUnavailable, SourceInvalid, UnknownTag};
    let html = "<html>\r\n<b>busy</b>";
    let known = r#"{"error":"unknown_tag","message":"there is no tag order"}"#;
    let crossed = r#"{"error":"segment_regressed","message":"900 was given"}"#;
    let busy = r#"answered 500 "<html>\r\n<b>busy</b>"; it is asked again"#;
    for (status, body, wanted, code, said) in [
        (500, html, Kind::Bad, SegmentUnavailable, busy),
        (503, "", Kind::Bad, SegmentUnavailable, "answered 503 without a body"),
        (429, "", Kind::Bad, SegmentUnavailable, "answered 429"),
        (408, "", Kind::Bad, SegmentUnavailable, "answered 408"),
        (401, known, Kind::Denied, SourceInvalid, "see `token`"),
        (403, "", Kind::Denied, SourceInvalid, "see `token`"),
        (404, html, Kind::Denied, SourceInvalid, "see the URL in `servers`"),
        (404, known, Kind::Refused, UnknownTag, "there is no tag order"),
        (409, crossed, Kind::Refused, SegmentRegressed, "900 was given"),
        (409, html, Kind::Bad, SourceInvalid, "nor an error of leafid"),
        (400, r#"{"error":"invalid_argument"}"#, Kind::Refused, InvalidArgument, "answered 400"),
        (400, r#"{"error":"segment_unavailable"}"#, Kind::Bad, SegmentUnavailable, "answered 400"),
        (400, r#"{"error":"worker_lost"}"#, Kind::Bad, SourceInvalid, "unexpected error"),
        (400, r#"{"error":7}"#, Kind::Denied, SourceInvalid, "nor an error of leafid"),
        (204, "", Kind::Bad, SourceInvalid, "answered 204"),
        (201, known, Kind::Refused, UnknownTag, "answered 201"),
        (301, "", Kind::Denied, SourceInvalid, "redirects to nowhere"),
        (304, "", Kind::Denied, SourceInvalid, "redirects to nowhere"),
    ] {
        let (kind, error) = kind(judged(&answer(status, body)));
        assert_eq!((kind, error.code()), (wanted, code), "{status} {body}: {error}");
        assert!(error.message().contains(said), "{status}: {error}");
    }
    let moved = Response { location: Some(quoted(b"http://x/?a")), ..answer(302, "") };
    let error = kind(judged(&moved)).1;
    assert!(error.message().contains(r#"redirects to "http://x/?a", which is not followed"#), "{error}");
}

#[test]
fn a_first_range_at_the_end_of_all_ids_is_another_server_s_chance() {
    let above = |start: i64, end: i64, after| {
        let body = body().replacen("1000", &start.to_string(), 1).replacen("2000", &end.to_string(), 1);
        range("order", 0, after).judge(&answer(200, &body), NONCE).into_result()
    };
    for after in [0, 1_001] {
        let error = above(i64::MAX - 1_001, i64::MAX - 1, after).unwrap_err();
        assert_eq!(error.code(), Code::SourceInvalid, "after {after}");
    }
    above(i64::MAX - 1_001, i64::MAX - 1, i64::MAX - 1_001).unwrap();
    // A counter may start anywhere else.
    above(1 << 60, (1 << 60) + 5, 0).unwrap();
    assert_eq!(above(5, 9, 6).unwrap_err().code(), Code::SegmentRegressed);
}

#[test]
fn only_a_mode_that_is_switched_off_is_so_until_somebody_changes_it() {
    let verdict = |body: &str| LeafMode::Snowflake.judge(&answer(200, body), "order");
    assert!(matches!(verdict("0"), Verdict::Denied(_)));
    assert!(matches!(verdict("nonsense"), Verdict::BadServer(_)));
    assert_eq!(verdict("7"), Verdict::Answer(Segment::new(7, 8, 1).unwrap()));
    let failed = answer(500, r#"{"message":"Result{id=-1, status=EXCEPTION}"}"#);
    let Verdict::TryNext(error) = LeafMode::Snowflake.judge(&failed, "order") else { unreachable!() };
    assert!(error.message().contains("its clock went back"), "{error}");
}

#[test]
fn a_block_of_ids_lies_below_2_to_the_63() {
    let verdict = |body: &str| LeafMode::Segment { block_size: 100 }.judge(&answer(200, body), "order-x100");
    assert_eq!(verdict("3"), Verdict::Answer(Segment::new(300, 400, 1).unwrap()));
    for body in ["92233720368547758", "9223372036854775807"] {
        let (kind, error) = kind(verdict(body));
        assert_eq!(kind, Kind::Bad);
        assert!(error.message().contains("above what ids of 63 bits hold"), "{error}");
    }
}

#[test]
fn names_of_tags_of_blocks() {
    for (tag, says) in [
        ("order-x2", Some("set block_size to 2")),
        ("order-x1000000", Some("set block_size to 1000000")),
        ("order-x1", Some("of another name: one that ends")),
        ("order-x1000001", Some("of another name: one that ends")),
        ("order-x01", Some("of another name: one that ends")),
        ("order-x", None),
        ("order-xy", None),
        ("order-x1y", None),
        ("order", None),
        ("or.der", Some("cuts a tag there")),
        ("or/der", Some("a part of the path")),
    ] {
        match (LeafMode::Segment { block_size: 1 }.check_tag(tag), says) {
            (Ok(()), None) => {}
            (Err(error), Some(says)) => assert!(error.message().contains(says), "{error}"),
            (answer, _) => panic!("{tag}: {answer:?}"),
        }
    }
    let blocks = |tag| LeafMode::Segment { block_size: 100 }.check_tag(tag).is_ok();
    assert_eq!(["order-x100", "order-x10", "order"].map(blocks), [true, false, false]);
    assert!(LeafMode::Snowflake.check_tag("order-x2").is_ok());
}

#[test]
fn segments_of_tinyid_are_as_in_the_vectors() {
    let read = |body: &str| TAG.judge_ids(&answer(200, body)).into_result();
    let vectors = vectors("tinyid");
    for case in vectors["cases"].as_array().unwrap() {
        let segment = read(case["body"].as_str().unwrap()).unwrap();
        let ids: Vec<String> = (0..segment.len()).map(|n| segment.id(n).unwrap().to_string()).collect();
        assert_eq!(serde_json::json!(ids), case["ids"], "{case}");
    }
    let others = [
        "0,0,9223372036854775807,1,0",
        "0,0,1,5,3",
        "9223372036854775807,0,9223372036854775807,1,0",
        "1,3,11,1,-0",
        "01,3,11,1,0",
        "1,3,11,1,0\n",
    ];
    for body in vectors["refused"].as_array().unwrap().iter().filter_map(Value::as_str).chain(others) {
        read(body).unwrap_err();
    }
}

#[test]
fn why_a_tinyid_gives_no_ids() {
    assert!(matches!(TAG.judge_ids(&answer(200, "")), Verdict::TryNext(_)), "then it is asked why");
    let else_error = Error::new(Code::SegmentUnavailable, "as it said before");
    for (status, body, denied, code, says) in [
        (200, r#"{"code":5}"#, true, Code::SegmentUnavailable, "may not ask"),
        (200, r#"{"code":6,"message":"x"}"#, false, Code::SegmentUnavailable, "database fails"),
        (200, r#"{"code":6,"message":"can not find biztype"}"#, false, Code::UnknownTag, "tiny_id_info"),
        (200, r#"{"code":7}"#, false, Code::SegmentUnavailable, "as it said before"),
        (200, "5", false, Code::SegmentUnavailable, "as it said before"),
        (404, r#"{"code":5}"#, false, Code::SegmentUnavailable, "as it said before"),
    ] {
        let (is_denied, error) = match TAG.judge_reason::<()>(&answer(status, body), &else_error) {
            Verdict::Denied(error) => (true, error),
            Verdict::TryNext(error) => (false, error),
            _ => unreachable!("it is no answer"),
        };
        assert_eq!((is_denied, error.code()), (denied, code), "{status} {body}: {error}");
        assert!(error.message().contains(says), "{status} {body}: {error}");
    }
}

#[test]
fn what_a_lease_server_may_say_to_a_claim() {
    let right =
        r#"{"worker_id":3,"from":5,"until":9,"lease_ms":4,"peer_times":[1],"token":"t","instance":"i"}"#;
    let lease = Lease {
        worker_id: 3,
        from_ms: 5,
        until_ms: 9,
        lease_ms: Some(4),
        token: Some("t".into()),
        peer_times_ms: vec![1],
    };
    assert_eq!(lease_server::judge_claim(&answer(200, right), "shop", "i"), Verdict::Answer(lease));
    use Code::{InvalidArgument, SegmentUnavailable, SourceInvalid, WorkerInUse, WorkerLost};
    let full = r#"{"error":"worker_in_use"}"#;
    for (status, body, wanted, code) in [
        (200, right.replace(r#""i""#, r#""j""#), Kind::Bad, SourceInvalid),
        (200, right.replace("instance", "instant"), Kind::Bad, SourceInvalid),
        (200, right.replace(r#""i""#, "7"), Kind::Bad, SourceInvalid),
        (200, right.replace(":3", ":-3"), Kind::Bad, WorkerLost),
        (200, right.replace(":9", ":5"), Kind::Bad, WorkerLost),
        (200, right.replace(":4", ":0"), Kind::Bad, WorkerLost),
        (200, right.replace(r#""t""#, r#""""#), Kind::Bad, WorkerLost),
        (200, right.replace(r#""t""#, r#""\n""#), Kind::Bad, WorkerLost),
        (409, full.into(), Kind::Refused, WorkerInUse),
        (400, full.into(), Kind::Denied, SourceInvalid),
        (401, String::new(), Kind::Denied, SourceInvalid),
        (404, "<html>".into(), Kind::Denied, SourceInvalid),
        (302, String::new(), Kind::Denied, SourceInvalid),
        (429, String::new(), Kind::Bad, WorkerLost),
        (400, r#"{"error":"invalid_argument"}"#.into(), Kind::Refused, InvalidArgument),
        (500, full.into(), Kind::Bad, WorkerLost),
        (503, full.into(), Kind::Bad, SegmentUnavailable),
    ] {
        let reply = answer(status, &body);
        let (kind, error) = kind(lease_server::judge_claim(&reply, "shop", "i"));
        assert_eq!((kind, error.code()), (wanted, code), "{status} {body}: {error}");
        assert_eq!(lease_server::is_servers_own(&reply), status != 503);
        assert!(!error.message().contains(r#""token":"t""#), "a token is for its holder alone: {error}");
    }
}

#[test]
fn what_is_no_lease_is_said() {
    let right =
        r#"{"worker_id":3,"from":5,"until":9,"lease_ms":4,"peer_times":[1],"token":"t","instance":"i"}"#;
    let (longest, longer) = (format!(r#""{}""#, "x".repeat(1_024)), format!(r#""{}""#, "x".repeat(1_025)));
    let judged = |from: &str, to: &str| {
        let body = right.replacen(from, to, 1);
        assert_ne!(body, right, "{from}");
        lease_server::judge_claim(&answer(200, &body), "shop", "i")
    };
    for (from, to, says) in [
        (r#""worker_id":3,"#, "", "missing field `worker_id`"),
        (":3", r#":"7""#, "invalid type: string"),
        (":3", ":7.0", "invalid type: floating point"),
        (":3", ":-1", "worker_id -1, which is below 0"),
        (":3", ":9223372036854775808", "invalid value"),
        (r#""from":5,"#, "", "missing field `from`"),
        (":5", ":9000000000000", "not above from 9000000000000"),
        (r#""until":9,"#, "", "missing field `until`"),
        (":9", ":[]", "invalid type: sequence"),
        (":9", ":0", "until 0, which is not above from 5"),
        (r#""lease_ms":4,"#, "", "missing field `lease_ms`"),
        (":4", ":0", "lease_ms 0, which is below 1"),
        (":4", r#":"30s""#, "invalid type: string"),
        (r#""peer_times":[1],"#, "", "missing field `peer_times`"),
        ("[1]", "5", "invalid type: integer"),
        (r#""token":"t","#, "", "missing field `token`"),
        (r#""t""#, "5", "invalid type: integer"),
        (r#""t""#, r#""""#, "token of 0 bytes"),
        (r#""t""#, r#""x\n""#, "token with control characters"),
        (r#""t""#, &longer, "token of 1025 bytes"),
        (r#","instance""#, r#","instance":"i","instance""#, "duplicate field"),
    ] {
        let (kind, error) = kind(judged(from, to));
        assert_eq!((kind, error.code()), (Kind::Bad, Code::WorkerLost), "{to}: {error}");
        // Nothing of what was answered follows: it may hold a token.
        let whole = "answered 200: the answer";
        assert!(error.message().contains(says) && error.message().contains(whole), "{to}: {error}");
    }
    assert!(matches!(judged(r#""t""#, &longest), Verdict::Answer(_)));
    let list = kind(judged(right, r#"[3,5,9,4,[1],"t","i"]"#)).1;
    assert!(list.message().contains("it is not a JSON object"), "{list}");
}

#[test]
fn what_a_lease_server_may_say_of_a_held_lease() {
    let right = r#"{"until":9,"lease_ms":4,"token":"t","nonce":"n"}"#;
    let renewed = |status, body: &str| lease_server::judge_renewal(&answer(status, body), "n");
    let Verdict::Answer(RenewalAnswer::Renewed(renewal)) = renewed(200, right) else { unreachable!() };
    assert_eq!((renewal.until_ms, renewal.lease_ms, renewal.token), (9, Some(4), Some("t".into())));
    let lost = r#"{"error":"worker_lost","message":"b\u0007ell"}"#;
    let Verdict::Answer(RenewalAnswer::Lost(error)) = renewed(409, lost) else { unreachable!() };
    assert!(error.message().contains("held here: bell (http://127.0.0.1 answered 409)"), "{error}");
    for (status, body) in [(400, lost), (409, r#"{"error":"worker_in_use"}"#)] {
        let Verdict::Answer(RenewalAnswer::Failed(error)) = renewed(status, body) else { unreachable!() };
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        let refused = kind(lease_server::judge_release(&answer(status, body)));
        assert_eq!(refused, (Kind::Refused, error));
    }
    for (status, body, wanted, code) in [
        (200, right.replace(r#""n""#, r#""m""#), Kind::Bad, Code::SourceInvalid),
        (200, right.replace(":4", ":0"), Kind::Bad, Code::WorkerLost),
        (204, String::new(), Kind::Bad, Code::WorkerLost),
        (404, lost.into(), Kind::Denied, Code::SourceInvalid),
    ] {
        let (kind, error) = kind(renewed(status, &body));
        assert_eq!((kind, error.code()), (wanted, code), "{status}: {error}");
    }
    assert_eq!(lease_server::judge_release(&answer(204, "")), Verdict::Answer(()));
    assert_eq!(kind(lease_server::judge_release(&answer(409, lost))).1.code(), Code::WorkerLost);
    assert_eq!(kind(lease_server::judge_release(&answer(200, right))).1.code(), Code::WorkerLost);
}

#[test]
fn no_message_shows_the_token_of_a_lease() {
    let body = r#"{"nonce":"n","until":1,"lease_ms":9,"token":"s3cret"}"#;
    let flawed = Response { flaw: Some("comes from a cache".into()), ..answer(200, body) };
    for (reply, said) in [
        (flawed, "answered 200: the answer comes from a cache; no id of it is used"),
        (answer(200, body.trim_end_matches('}')), "answered 200: the answer is not a renewal: "),
        (answer(203, body), "answered 203: the answer is not from a lease server; "),
    ] {
        let Verdict::BadServer(error) = lease_server::judge_renewal(&reply, "n") else { panic!("{said}") };
        assert!(error.message().contains(said) && !error.message().contains("s3cret"), "{error}");
    }
}
