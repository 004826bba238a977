//! tests/vectors/options.json, and what else holds for each row of the table of options.

use crate::common::openings::{EMPTY, URL, base, of, opened, parsed, with_variable};
use crate::common::{entries, option_vectors, text};
use leafid_core::options::{
    FileTag, OPTIONS, OptionKind, OptionOf, OptionValue, OptionValues, RunOptions, SupplyOptions,
    options_of_json,
};
use leafid_core::{Code, Error, LayoutFields, Order, Result};
use serde_json::Value;

fn assert_refused(answer: Result<()>, begins: &str, what: &str) {
    let Err(error) = answer else { panic!("{what} is taken") };
    assert_eq!(error.code(), Code::InvalidArgument, "{what}: {error}");
    let message = error.message();
    assert!(message.starts_with(begins) && message.contains("; allowed: "), "{what}: {message}");
}

/// How the message of a refusal begins.
fn begins(row: &Value) -> String {
    row["message"].as_str().map_or_else(|| format!("{} is ", text(row, "option")), Into::into)
}

#[test]
fn every_option_takes_and_refuses_what_the_vector_says() {
    for row in entries(&option_vectors(), "options") {
        let option = text(row, "option");
        for value in entries(row, "bad") {
            // The disk says so, and the core has none.
            if value == "/nowhere/at.all" {
                continue;
            }
            assert_refused(opened(row, value), &begins(row), &format!("{option}: {value}"));
        }
        for value in row["good"].as_array().into_iter().flatten() {
            assert_eq!(opened(row, value), Ok(()), "{option}: {value}");
        }
    }
}

#[test]
fn options_in_json_are_taken_and_refused_as_well() {
    for row in entries(&option_vectors(), "options") {
        let option = text(row, "option");
        let opened = |value: &Value| {
            let mut all = serde_json::Map::new();
            if option != "fetch" {
                all.insert("servers".into(), URL.into());
            }
            if of(row) == OptionOf::Snowflake {
                all = [("worker".into(), 7.into())].into_iter().collect();
            }
            all.extend(row["with"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
            all.insert(option.into(), value.clone());
            let json = serde_json::to_vec(&all).unwrap();
            parsed(of(row), &options_of_json(of(row), &json)?, &EMPTY)
        };
        for value in entries(row, "bad").iter().filter(|value| **value != "/nowhere/at.all") {
            assert_refused(opened(value), &begins(row), &format!("{option}: {value}"));
        }
        for value in row["good"].as_array().into_iter().flatten() {
            assert_eq!(opened(value), Ok(()), "{option}: {value}");
        }
    }
}

#[test]
fn each_kind_of_value_is_read_from_json() {
    let run = |json: &str| options_of_json(OptionOf::Snowflake, json.as_bytes());
    let same = |json: &str, name: &str, value: OptionValue| {
        let mut set = OptionValues::new(OptionOf::Snowflake);
        set.set(name, value).unwrap();
        assert!(run(json).unwrap() == set, "{json}");
    };
    same(r#"{"worker": {"first": 0, "last": 31}}"#, "worker", OptionValue::Range(0, 31));
    same(r#"{"worker": {"callback": true}, "token": null}"#, "worker", OptionValue::Callback);
    same(r#"{"worker": {"leases": true}}"#, "worker", OptionValue::Leases);
    same(r#"{"peer_times": {"callback": true}}"#, "peer_times", OptionValue::Callback);
    same(r#"{"start_after": 9223372036854775807}"#, "start_after", OptionValue::Int(i64::MAX));
    same(
        r#"{"layout": {"worker_bits": 4, "order": "sequence-worker"}}"#,
        "layout",
        OptionValue::Layout(LayoutFields {
            worker_bits: 4,
            order: Order::SequenceWorker,
            ..Default::default()
        }),
    );
    let tags = options_of_json(OptionOf::Segments, br#"{"tags": {"a": {"start": 5}, "b": {}}}"#).unwrap();
    let mut set = OptionValues::new(OptionOf::Segments);
    let how = FileTag::default();
    set.set("tags", OptionValue::Tags(vec![("a".into(), FileTag { start: 5, ..how }), ("b".into(), how)]))
        .unwrap();
    assert!(tags == set);
    for (json, begins) in [
        (r#"{"worker": {"first": 0}}"#, "worker is an object; "),
        (r#"{"worker": {"first": 0, "last": 1, "step": 2}}"#, "worker is an object; "),
        (r#"{"worker": {"callback": false}}"#, "worker is an object; "),
        (r#"{"worker": [7]}"#, "worker is a list; "),
        (r#"{"layout": {"bits": 4}}"#, "layout is an object; "),
        (r#"{"epoch_ms": 1.5}"#, "epoch_ms is 1.5; "),
        (r#"{"token": {"a": "s3cret"}}"#, "token is a value that is not shown; "),
        (r#"{"nam": 1}"#, "\"nam\" is an unknown option; "),
        ("[]", "options is "),
        ("", "options is "),
    ] {
        let Err(error) = run(json) else { panic!("{json} is taken") };
        assert!(error.message().starts_with(begins) && !error.message().contains("s3cret"), "{error}");
    }
}

#[test]
fn the_vectors_have_each_option_of_the_table_and_no_other() {
    let vectors = option_vectors();
    let mut rows: Vec<_> =
        entries(&vectors, "options").iter().map(|row| (text(row, "of"), text(row, "option"))).collect();
    let kinds = [(OptionOf::Snowflake, "snowflake"), (OptionOf::Segments, "segments")];
    let mut table: Vec<_> = kinds
        .iter()
        .flat_map(|(of, word)| {
            OPTIONS.iter().filter(|row| row.of.includes(*of)).map(move |row| (*word, row.name))
        })
        .collect();
    rows.sort_unstable();
    rows.dedup();
    table.sort_unstable();
    assert_eq!(rows, table);
    let mut variables: Vec<_> =
        entries(&vectors, "environment").iter().map(|row| text(row, "variable")).collect();
    let mut known: Vec<_> = OPTIONS.iter().filter_map(|row| row.variable).collect();
    variables.sort_unstable();
    known.sort_unstable();
    assert_eq!(variables, known);
}

#[test]
fn every_variable_takes_and_refuses_what_the_vector_says() {
    for row in entries(&option_vectors(), "environment") {
        let name = text(row, "variable");
        let option = OPTIONS.iter().find(|row| row.variable == Some(name)).unwrap();
        for of in [OptionOf::Snowflake, OptionOf::Segments].into_iter().filter(|of| option.of.includes(*of)) {
            let set = base(of, option.name);
            let parsed =
                |value: &[u8]| with_variable(name, value, |environment| parsed(of, &set, environment));
            for value in row["bad"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert_refused(
                    parsed(value.as_bytes()),
                    &format!("{name} is "),
                    &format!("{name}={value:?}"),
                );
            }
            for value in row["good"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert_eq!(parsed(value.as_bytes()), Ok(()), "{name}={value:?}");
            }
        }
    }
}

#[test]
fn an_option_goes_before_its_variable() {
    let of = OptionOf::Snowflake;
    for (name, option, value, bad) in [
        ("LEAFID_WORKER", "worker", OptionValue::Int(7), "x"),
        ("LEAFID_STATE_DIR", "state_dir", OptionValue::Path(b"/a".to_vec()), ""),
        ("LEAFID_SHARED_GROUP", "shared_group", OptionValue::Flag(false), "yes"),
        ("LEAFID_EXCLUSIVE_RANGE", "exclusive_range", OptionValue::Flag(false), "yes"),
        ("LEAFID_NO_RECORD_WAIT_MS", "no_record_wait_ms", OptionValue::Int(0), "yes"),
    ] {
        let mut set = base(of, "");
        set.set(option, value).unwrap();
        assert_eq!(with_variable(name, bad.as_bytes(), |environment| parsed(of, &set, environment)), Ok(()));
    }
}

#[test]
fn a_variable_that_is_no_text_is_refused_and_shown_by_its_bytes() {
    let set = base(OptionOf::Snowflake, "");
    for name in ["LEAFID_SHARED_GROUP", "LEAFID_EXCLUSIVE_RANGE", "LEAFID_NO_RECORD_WAIT_MS"] {
        let error =
            with_variable(name, b"a\xff", |environment| RunOptions::parse(&set, environment)).unwrap_err();
        assert!(error.message().starts_with(&format!("{name} is \"a\\xFF\"; allowed: ")), "{error}");
    }
    // A path need not be text.
    let of = |path: &[u8]| {
        with_variable("LEAFID_STATE_DIR", path, |environment| RunOptions::parse(&set, environment))
    };
    let named = of(b"/a\xff").unwrap().state_dir.unwrap();
    assert_eq!((named.said, named.path.as_slice()), ("LEAFID_STATE_DIR", &b"/a\xff"[..]));
    assert!(of(b"/a\0").unwrap_err().message().starts_with("LEAFID_STATE_DIR is \"/a\\0\"; "));
}

/// A value as the page writes it.
fn written(kind: OptionKind, default: &str) -> Option<OptionValue> {
    match kind {
        OptionKind::Int => default.parse().ok().map(OptionValue::Int),
        OptionKind::Flag => default.parse().ok().map(OptionValue::Flag),
        OptionKind::Text | OptionKind::Word(_) | OptionKind::Layout if default != "none" => {
            Some(OptionValue::Text(default.into()))
        }
        _ => None,
    }
}

#[test]
fn what_is_not_set_is_as_the_table_says() {
    let mut tried = 0;
    for row in OPTIONS {
        for of in [OptionOf::Snowflake, OptionOf::Segments].into_iter().filter(|of| row.of.includes(*of)) {
            let Some(value) = written(row.kind, row.default) else { continue };
            let mut plain = base(of, "");
            if of == OptionOf::Snowflake && row.name.ends_with("timeout_ms") {
                plain.set("worker", OptionValue::Text(URL.into())).unwrap();
            }
            let mut said = plain.clone();
            said.set(row.name, value).unwrap();
            match of {
                OptionOf::Segments => {
                    assert_eq!(SupplyOptions::parse(&plain, &EMPTY), SupplyOptions::parse(&said, &EMPTY))
                }
                _ => assert_eq!(
                    RunOptions::parse(&plain, &EMPTY),
                    RunOptions::parse(&said, &EMPTY),
                    "{}",
                    row.name
                ),
            }
            tried += 1;
        }
    }
    assert!(tried > 25, "{tried}");
}

#[test]
fn a_value_of_another_kind_is_refused_where_it_is_set() {
    let values = [
        OptionValue::Int(7),
        OptionValue::Text("s3cret".into()),
        OptionValue::Flag(true),
        OptionValue::Path(b"s3cret".to_vec()),
        OptionValue::Texts(vec!["s3cret".into()]),
        OptionValue::Headers(vec![("x".into(), "s3cret".into())]),
        OptionValue::Range(0, 31),
        OptionValue::Layout(Default::default()),
        OptionValue::Tags(vec![("order".into(), FileTag::default())]),
        OptionValue::Callback,
        OptionValue::Leases,
        OptionValue::Other("s3cret".into()),
    ];
    for row in OPTIONS {
        let mut set = OptionValues::new(if row.of == OptionOf::Both { OptionOf::Segments } else { row.of });
        let refused: Vec<Error> =
            values.iter().filter_map(|value| set.set(row.name, value.clone()).err()).collect();
        let taken = values.iter().filter(|value| value.is_of(row.kind)).count();
        assert!(taken > 0 && refused.len() == values.len() - taken, "{}", row.name);
        for error in refused {
            let message = error.message();
            assert!(message.starts_with(&format!("{} is ", row.name)), "{message}");
            assert!(message.ends_with(&format!("; allowed: {}", row.allowed)), "{message}");
            assert!(!row.is_secret || !message.contains("s3cret"), "{message}");
        }
        assert!(!row.is_secret || !format!("{set:?}").contains("s3cret"), "{set:?}");
    }
}

#[test]
fn the_last_value_of_an_option_counts() {
    let mut set = base(OptionOf::Snowflake, "");
    for name in ["a", "b", "c"] {
        set.set("name", OptionValue::Text(name.into())).unwrap();
    }
    assert_eq!(RunOptions::parse(&set, &EMPTY).unwrap().name, "c");
}

/// What the message says of the option that is meant.
fn meant(row: &Value) -> String {
    let said = [("called", "; here it is "), ("nearest", "; the nearest is ")];
    said.iter().filter_map(|(key, said)| Some(format!("{said}{}", row[key].as_str()?))).collect()
}

#[test]
fn an_option_of_the_other_kind_and_an_unknown_one_are_refused() {
    for row in entries(&option_vectors(), "unknown") {
        let (of, name) = (of(row), text(row, "name"));
        let error = OptionValues::new(of).set(name, OptionValue::Int(1)).unwrap_err();
        let known = OPTIONS.iter().filter(|row| row.of.includes(of)).map(|row| row.name);
        let known = known.collect::<Vec<_>>().join(", ");
        let said = format!("\"{name}\" is an unknown option{}; allowed: {known}", meant(row));
        assert_eq!((error.code(), error.message()), (Code::InvalidArgument, said.as_str()));
    }
}
