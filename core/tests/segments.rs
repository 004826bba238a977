//! Segments, the step, and the guard against ranges that were given before.

use leafid_core::segment::{AdaptiveStep, Guard};
use leafid_core::{Code, IdOrder, Segment};
use serde_json::Value;

fn vectors(name: &str) -> Value {
    let path = format!("{}/../tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> i64 {
    value.as_str().map_or_else(|| value.as_i64().unwrap(), |text| text.parse().unwrap())
}

#[test]
fn the_step_follows_the_age_of_the_fetch_before() {
    for case in vectors("adaptive_step")["cases"].as_array().unwrap() {
        let source = case["db_step"].as_i64().unwrap();
        let mut step = AdaptiveStep::new(source, true);
        let (mut now_ms, mut next) = (1_000, number(&case["max_id"]));
        for fetch in case["fetches"].as_array().unwrap() {
            now_ms += fetch["previous_fetch_age_ms"].as_i64().unwrap_or(1);
            let wanted = step.wanted(now_ms);
            assert_eq!(wanted, fetch["step"].as_i64().unwrap(), "{} {fetch}", case["name"]);
            let segment = Segment::new(next, next + wanted, 1).unwrap();
            assert_eq!((segment.start(), segment.end()), (number(&fetch["start"]), number(&fetch["end"])));
            next = segment.end();
            step.fetched(wanted, source, now_ms);
        }
    }
}

#[test]
fn a_jump_that_no_counter_makes_is_refused_and_not_remembered() {
    const MOST: i64 = 1 << 48;
    let high = segment(i64::MAX - 1_000, i64::MAX, 1);
    for order in [IdOrder::Ascending, IdOrder::Ranges, IdOrder::Sparse] {
        let mut guard = Guard::new(order);
        guard.offer(segment(1, 1_001, 1), 0).unwrap();
        let before = guard.clone();
        let error = guard.offer(high, 1_001).unwrap_err();
        assert_eq!((error.code(), &guard), (Code::SourceInvalid, &before), "{order:?}");
        for said in ["9223372036854774806 above", "1001", "leafid marks forget", "281474976710656"] {
            assert!(error.message().contains(said), "{error} does not say {said}");
        }
        guard.offer(segment(1_001, 2_001, 1), 1_001).unwrap();
        // The longest jump that a counter may make, and one id more.
        guard.offer(segment(MOST, MOST + 2_001, 1), 2_001).unwrap();
        let more = guard.offer(segment(2 * MOST + 2_001, 2 * MOST + 2_002, 1), MOST + 2_001);
        assert_eq!(more.is_err(), order == IdOrder::Ascending, "several counters lie anywhere");
    }
    // A tag may begin anywhere.
    Guard::new(IdOrder::Ascending).offer(high, 0).unwrap();
    // Of several counters none may leave the others less than such a jump.
    for (end, refused) in [(i64::MAX - MOST, false), (i64::MAX - MOST + 1, true)] {
        let mut guard = Guard::new(IdOrder::Ranges);
        guard.offer(segment(1, 1_001, 1), 0).unwrap();
        assert_eq!(guard.offer(segment(end - 10, end, 1), 1_001).is_err(), refused, "{end}");
    }
}

#[test]
fn a_segment_holds_what_it_says() {
    for (start, end, stride, ids) in [
        (0, 3, 1, vec![0, 1, 2]),
        (1, 8, 3, vec![1, 4, 7]),
        (1, 9, 3, vec![1, 4, 7]),
        (1, 7, 3, vec![1, 4]),
        (5, 6, i64::MAX, vec![5]),
        (i64::MAX - 1, i64::MAX, 1, vec![i64::MAX - 1]),
    ] {
        let segment = Segment::new(start, end, stride).unwrap();
        let all: Vec<i64> = (0..segment.len()).map(|n| segment.id(n).unwrap()).collect();
        assert_eq!((&all, segment.last()), (&ids, ids[ids.len() - 1]));
        assert_eq!(segment.id(segment.len()), None);
        assert_eq!(segment.id(u64::MAX), None);
    }
    assert_eq!(Segment::new(0, i64::MAX, 1).unwrap().len(), i64::MAX as u64);
    for (start, end, stride, says) in [
        (-1, 5, 1, "negative"),
        (5, 5, 1, "not above its start"),
        (5, 4, 1, "not above its start"),
        (i64::MAX, i64::MIN, 1, "not above its start"),
        (i64::MIN, i64::MAX, 1, "negative"),
        (1, 5, 0, "stride is below 1"),
        (1, 5, -2, "stride is below 1"),
    ] {
        let error = Segment::new(start, end, stride).unwrap_err();
        assert_eq!(error.code(), Code::SourceInvalid);
        assert!(error.message().contains(says), "{error}");
    }
}

fn segment(start: i64, end: i64, stride: i64) -> Segment {
    Segment::new(start, end, stride).unwrap()
}

#[test]
fn strides_that_interleave_are_no_crossing() {
    let mut guard = Guard::new(IdOrder::Ranges);
    guard.offer(segment(1, 1_001, 2), 0).unwrap();
    guard.offer(segment(2, 1_002, 2), 0).unwrap();
    assert!(guard.offer(segment(999, 1_999, 2), 0).is_err());
    guard.offer(segment(1_001, 2_001, 2), 0).unwrap();
    guard.offer(segment(1_002, 2_002, 2), 0).unwrap();
    assert_eq!(guard.spans().len(), 2, "each goes on where one of its kind ended");
    // A later one may be lower: nodes behind a balancer.
    guard.offer(segment(9_000, 9_100, 1), 9_000).unwrap();
    guard.offer(segment(5_000, 5_100, 1), 9_100).unwrap();
    assert!(guard.offer(segment(5_099, 5_200, 1), 0).is_err());
}

#[test]
fn counters_far_apart_all_go_on_however_little_is_remembered() {
    // Five nodes of one source, each with a range of its own, of which others take ids too.
    let mut guard = Guard::resume(IdOrder::Ranges, 0, Vec::new(), 8);
    for turn in 0..1_000 {
        for node in 0..5 {
            let start = node * 1_000_000 + turn * 7;
            guard.offer(segment(start, start + 3, 1), guard.mark()).unwrap();
        }
        assert!(guard.spans().len() <= 8);
    }
    // Of an ordered source the lowest are joined: what others ask for meanwhile stays free.
    let mut guard = Guard::resume(IdOrder::Ascending, 0, Vec::new(), 8);
    for turn in 0..100 {
        guard.offer(segment(turn * 7, turn * 7 + 3, 1), 0).unwrap();
    }
    guard.offer(segment(99 * 7 - 4, 99 * 7, 1), 98 * 7 + 3).unwrap();
}

#[test]
fn what_is_late_is_still_taken_where_others_take_ids_between() {
    // Single ids of one counter, some of which go to others; four requests under way, so that they come out of order.
    let mut guard = Guard::resume(IdOrder::Ranges, 0, Vec::new(), 32);
    let mut gap = 1u64;
    let mut id = 0;
    for _ in 0..2_000 {
        let mut four = Vec::new();
        for _ in 0..4 {
            gap = gap.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            id += 1 + (gap >> 60) as i64;
            four.push(id);
        }
        for id in [four[3], four[1], four[2], four[0]] {
            guard.offer(segment(id, id + 1, 1), 0).unwrap();
        }
        assert!(guard.offer(segment(four[2], four[2] + 1, 1), 0).is_err());
    }
}

#[test]
fn ids_with_gaps_are_remembered_as_they_were_and_forgotten_in_the_end() {
    // Two nodes that make ids of the time, one of which is a second behind.
    let mut guard = Guard::resume(IdOrder::Sparse, 0, Vec::new(), 32);
    for ms in 2_000..3_000i64 {
        for id in [ms << 22 | 1 << 12, (ms - 1_000) << 22 | 2 << 12] {
            guard.offer(segment(id, id + 1, 1), 0).unwrap();
            assert!(guard.offer(segment(id, id + 1, 1), 0).is_err());
        }
        assert!(guard.spans().len() <= 32);
    }
}
