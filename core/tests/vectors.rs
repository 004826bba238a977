//! Compose and decode do what tests/vectors/snowflake.json says, for every layout and every refusal.

use crate::common::{entries, layout_named, number, snowflake_vectors, text};
use leafid_core::{Layout, Parts, parse_id};
use serde_json::Value;

fn compose(vectors: &Value, entry: &Value) -> leafid_core::Result<i64> {
    let part = |key| u32::try_from(number(entry, key)).unwrap_or_else(|_| panic!("{key} in {entry}"));
    let layout = layout_named(vectors, text(entry, "layout"));
    layout.compose(number(entry, "timestamp_ms"), part("worker_id"), part("sequence"))
}

fn parts(entry: &Value, time: &str) -> Parts {
    let part = |key| u32::try_from(number(entry, key)).unwrap_or_else(|_| panic!("{key} in {entry}"));
    Parts { timestamp_ms: number(entry, time), worker_id: part("worker_id"), sequence: part("sequence") }
}

#[test]
fn presets_are_the_layouts_of_the_vectors() {
    let vectors = snowflake_vectors();
    for (name, layout) in Layout::PRESETS {
        assert_eq!(layout_named(&vectors, name), layout, "{name}");
        assert_eq!(Layout::parse(name), Ok(layout));
        assert_eq!(layout.to_string(), name);
        // What is checked for a custom layout holds for the presets too.
        assert_eq!(Layout::new(layout.fields()), Ok(layout), "{name}");
    }
}

#[test]
fn valid_parts_make_the_id_and_come_back() {
    let vectors = snowflake_vectors();
    for entry in entries(&vectors, "valid") {
        let id = number(entry, "id");
        assert_eq!(compose(&vectors, entry), Ok(id), "{entry}");
        let layout = layout_named(&vectors, text(entry, "layout"));
        assert_eq!(layout.decode(id), Ok(parts(entry, "timestamp_ms")), "{entry}");
        assert_eq!(parse_id(text(entry, "id")), Ok(id), "{entry}");
    }
}

#[test]
fn a_time_within_a_tick_is_floored() {
    let vectors = snowflake_vectors();
    for entry in entries(&vectors, "compose_floors") {
        let id = number(entry, "id");
        assert_eq!(compose(&vectors, entry), Ok(id), "{entry}");
        let layout = layout_named(&vectors, text(entry, "layout"));
        assert_eq!(layout.decode(id), Ok(parts(entry, "floored_ms")), "{entry}");
    }
}

#[test]
fn the_ids_of_a_tick_have_ends() {
    let vectors = snowflake_vectors();
    for entry in entries(&vectors, "id_ranges") {
        let layout = layout_named(&vectors, text(entry, "layout"));
        let time = number(entry, "timestamp_ms");
        assert_eq!(layout.first_id_at(time), Ok(number(entry, "first")), "{entry}");
        assert_eq!(layout.last_id_at(time), Ok(number(entry, "last")), "{entry}");
    }
    for entry in entries(&vectors, "id_ranges_refused") {
        let layout = layout_named(&vectors, text(entry, "layout"));
        let time = number(entry, "timestamp_ms");
        for refused in [layout.first_id_at(time), layout.last_id_at(time)] {
            assert_eq!(refused.map_err(|error| error.code().name()), Err(text(entry, "error")), "{entry}");
        }
    }
}

#[test]
fn parts_outside_the_layout_are_refused() {
    let vectors = snowflake_vectors();
    for entry in entries(&vectors, "refused") {
        match compose(&vectors, entry) {
            Ok(id) => panic!("{entry} made {id}"),
            Err(error) => assert_eq!(error.code().name(), text(entry, "error"), "{entry}: {error}"),
        }
    }
}

#[test]
fn text_of_an_id_is_read() {
    let vectors = snowflake_vectors();
    for entry in entries(&vectors, "decode_accepted_text") {
        let parts = parts(entry, "timestamp_ms");
        assert_eq!(
            parse_id(text(entry, "text")).and_then(|id| Layout::LEAF.decode(id)),
            Ok(parts),
            "{entry}"
        );
    }
}

#[test]
fn text_that_is_no_id_is_refused() {
    let vectors = snowflake_vectors();
    for section in ["decode_refused", "decode_refused_counted_text"] {
        for entry in entries(&vectors, section) {
            match parse_id(text(entry, "id")).and_then(|id| Layout::LEAF.decode(id)) {
                Ok(parts) => panic!("{entry} was read as {parts:?}"),
                Err(error) => assert_eq!(error.code().name(), text(entry, "error"), "{entry}"),
            }
        }
    }
}

#[test]
fn an_id_with_too_many_bits_is_refused() {
    let vectors = snowflake_vectors();
    for entry in entries(&vectors, "decode_refused_in_layout") {
        let layout = layout_named(&vectors, text(entry, "layout"));
        match layout.decode(number(entry, "id")) {
            Ok(parts) => panic!("{entry} was read as {parts:?}"),
            Err(error) => assert_eq!(error.code().name(), text(entry, "error"), "{entry}"),
        }
    }
    for (name, layout) in Layout::PRESETS {
        for id in [-1, i64::MIN] {
            assert!(layout.decode(id).is_err(), "{id} in {name}");
        }
    }
}

#[test]
fn text_of_a_layout_is_read_or_refused() {
    let texts = &snowflake_vectors()["layout_text"];
    for text in entries(texts, "accepted").iter().filter_map(Value::as_str) {
        assert!(Layout::parse(text).is_ok(), "{text:?}: {:?}", Layout::parse(text));
    }
    for text in entries(texts, "refused").iter().filter_map(Value::as_str) {
        match Layout::parse(text) {
            Ok(layout) => panic!("{text:?} was read as {layout:?}"),
            Err(error) => assert_eq!(error.code().name(), "invalid_argument", "{text:?}"),
        }
    }
}
