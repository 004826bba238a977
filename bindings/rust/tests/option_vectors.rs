//! tests/vectors/options.json: which values of options and of the environment are refused, as in every language.

#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use leafid::{
    ClockSource, Code, Layout, OnClockBackwards, OnExhausted, Prewarm, Result, Segments, SegmentsBuilder,
    Snowflake, SnowflakeBuilder, Worker,
};
use serde_json::Value;

fn vector() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/options.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(Into::into)).collect()
}

/// The headers, if the value is some.
fn headers(value: &Value) -> Option<Vec<(String, String)>> {
    value.as_object()?.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.into()))).collect()
}

/// `None` for a value of a type that the option does not have in Rust.
fn snowflake(to: SnowflakeBuilder, option: &str, value: &Value) -> Option<Result<SnowflakeBuilder>> {
    let (text, number, flag) = (value.as_str(), value.as_i64(), value.as_bool());
    Some(Ok(match option {
        "worker" => match (text, number, texts(value)) {
            (Some(text), ..) => to.worker(text),
            (_, Some(id), _) => to.worker(Worker::Id(id)),
            (.., Some(urls)) => to.worker(urls),
            _ => return None,
        },
        "name" => to.name(text?),
        "state_dir" => to.state_dir(text?),
        "persist" => to.persist(flag?),
        "shared_fs" => to.shared_fs(flag?),
        "shared_group" => to.shared_group(flag?),
        "exclusive_range" => to.exclusive_range(flag?),
        "lazy" => to.lazy(flag?),
        "no_record_wait_ms" => to.no_record_wait_ms(number?),
        "layout" => return Some(Layout::parse(text?).map(|layout| to.layout(layout))),
        "epoch_ms" => to.epoch_ms(number?),
        "on_clock_backwards" => {
            return Some(OnClockBackwards::parse(text?).map(|rule| to.on_clock_backwards(rule)));
        }
        "max_backwards_ms" => to.max_backwards_ms(number?),
        "on_exhausted" => return Some(OnExhausted::parse(text?).map(|rule| to.on_exhausted(rule))),
        "random_start" => to.random_start(number?),
        "clock_source" => return Some(ClockSource::parse(text?).map(|source| to.clock_source(source))),
        "start_after" => to.start_after(number?),
        "timeout_ms" => to.timeout_ms(number?),
        "peer_times" => return None,
        "token" => to.token(text?),
        "headers" => to.headers(headers(value)?),
        "ca_file" => to.ca_file(text?),
        "request_timeout_ms" => to.request_timeout_ms(number?),
        "connect_timeout_ms" => to.connect_timeout_ms(number?),
        _ => unreachable!("{option} is not known here"),
    }))
}

fn segments(to: SegmentsBuilder, option: &str, value: &Value) -> Option<Result<SegmentsBuilder>> {
    let (text, number, flag) = (value.as_str(), value.as_i64(), value.as_bool());
    Some(Ok(match option {
        "servers" => match text {
            Some(text) => to.servers([text]),
            None => to.servers(texts(value)?),
        },
        "fetch" | "tags" => return None,
        "protocol" => return Some(text?.parse().map(|protocol| to.protocol(protocol))),
        "step" => to.step(number?),
        "adaptive" => to.adaptive(flag?),
        "prefetch" => to.prefetch(number?),
        "persist" => to.persist(flag?),
        "shared_fs" => to.shared_fs(flag?),
        "shared_group" => to.shared_group(flag?),
        "create" => to.create(flag?),
        "keep_unused" => to.keep_unused(flag?),
        "ordered_source" => to.ordered_source(flag?),
        "connections" => to.connections(number?),
        "block_size" => to.block_size(number?),
        "prewarm" => match text {
            Some("last-day") => to.prewarm(Prewarm::LastDay),
            _ => to.prewarm(Prewarm::Tags(texts(value)?)),
        },
        "name" => to.name(text?),
        "state_dir" => to.state_dir(text?),
        "timeout_ms" => to.timeout_ms(number?),
        "token" => to.token(text?),
        "headers" => to.headers(headers(value)?),
        "ca_file" => to.ca_file(text?),
        "request_timeout_ms" => to.request_timeout_ms(number?),
        "connect_timeout_ms" => to.connect_timeout_ms(number?),
        _ => unreachable!("{option} is not known here"),
    }))
}

/// What opening with the value answers; `None` for one of a type that the option does not have in Rust.
fn opened(place: &Place, row: &Value, value: &Value) -> Option<Result<()>> {
    let option = row["option"].as_str().unwrap();
    let with = row["with"].as_object().into_iter().flatten();
    if row["of"] == "segments" {
        let base =
            Segments::builder().name(&place.name).state_dir(place.dir.path()).servers(["http://127.0.0.1:1"]);
        let base = with.fold(base, |base, (name, value)| segments(base, name, value).unwrap().unwrap());
        return Some(segments(base, option, value)?.and_then(|builder| builder.open()).map(drop));
    }
    let base = place.builder().worker(7).lazy(true);
    let base = with.fold(base, |base, (name, value)| snowflake(base, name, value).unwrap().unwrap());
    Some(
        snowflake(base, option, value)?
            .and_then(|builder: SnowflakeBuilder| builder.open())
            .map(|_: Snowflake| ()),
    )
}

#[test]
fn every_option_takes_and_refuses_what_the_vector_says() {
    let place = Place::new();
    for row in vector()["options"].as_array().unwrap() {
        let option = row["option"].as_str().unwrap();
        let begins = row["message"].as_str().map_or_else(|| format!("{option} is "), Into::into);
        for value in row["bad"].as_array().unwrap() {
            if let Some(opened) = opened(&place, row, value) {
                let error = opened.map_err(|error| (error.code(), error.message().to_owned()));
                let Err((code, message)) = error else { panic!("{option}: {value} is taken") };
                assert_eq!(code, Code::InvalidArgument, "{option}: {value}: {message}");
                assert!(
                    message.starts_with(&begins) && message.contains("; allowed: "),
                    "{value}: {message}"
                );
            }
        }
        for value in row["good"].as_array().unwrap() {
            if let Some(Err(error)) = opened(&place, row, value) {
                panic!("{option}: {value}: {error}");
            }
        }
    }
}

/// In a program of its own, because the environment is that of all threads.
#[test]
#[cfg(feature = "cli")]
fn every_variable_takes_and_refuses_what_the_vector_says() {
    let place = Place::new();
    for row in vector()["environment"].as_array().unwrap() {
        let variable = row["variable"].as_str().unwrap();
        for (kind, is_right) in [("bad", false), ("good", true)] {
            for value in row[kind].as_array().unwrap() {
                let value = value.as_str().unwrap();
                let mut program = common::programs::command(env!("CARGO_BIN_EXE_leafid"));
                program.env_remove("LEAFID_WORKER").env("LEAFID_STATE_DIR", place.dir.path());
                program.args(["check", "--name", &place.name]).env(variable, value);
                let output = program.output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let is_refused = said.starts_with(&format!("leafid: invalid_argument: {variable} is "));
                assert_eq!(is_refused, !is_right, "{variable}={value:?}: {said}");
            }
        }
    }
}
