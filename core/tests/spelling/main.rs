//! How messages write the names of options. A program of its own, because the spelling is one of the whole process.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "the other programs use the rest")]
mod common;

use common::openings::{base, opened, parsed, with_variable};
use common::{NOW_MS, PLAIN, entries, granted, option_vectors, text};
use leafid_core::call::{FileAction, FileAdvice, IoFailure, IoKind};
use leafid_core::options::deployment::{FileSystem, FilesystemKind, LOCAL_STATE, Scope};
use leafid_core::options::deployment::{WorkerPlace, refuse_network};
use leafid_core::options::{
    ChosenBy, OPTIONS, OptionOf, OptionRow, Spelling, WorkerRange, check_clock, check_tag_of_ids,
};
use leafid_core::run::waiting::{Answer, Delay, DelayedBy, Pause, Waiting};
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{Action, Error, Layout, Lease};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static SPELLING: Mutex<()> = Mutex::new(());

/// The texts in snake case and in another spelling.
fn both(other: Spelling, texts: impl Fn() -> Vec<String>) -> Vec<(String, String)> {
    let _alone = SPELLING.lock().unwrap_or_else(PoisonError::into_inner);
    Spelling::Snake.set();
    let snake = texts();
    other.set();
    let others = texts();
    Spelling::Snake.set();
    assert_eq!(snake.len(), others.len());
    snake.into_iter().zip(others).collect()
}

/// The names in messages that a spelling changes: options, parts of a layout, and fields of a lease and a claim.
fn names() -> Vec<&'static str> {
    let others = [
        "timestamp_bits",
        "worker_bits",
        "sequence_bits",
        "timestamp_ms",
        "worker_id",
        "public_id",
        "peer_times",
        "peer_times_ms",
        "from_ms",
        "until_ms",
        "lease_ms",
    ];
    OPTIONS.iter().map(|row| row.name).chain(others).collect()
}

/// The message in camel case: each name but in a value and for a field that an answer has.
fn in_camel_case(names: &[&str], message: &str) -> String {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let (mut shown, mut rest) = (String::new(), message);
    while !rest.is_empty() {
        let end = rest.find(|char| !is_word(char)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_value = shown.ends_with('"') || shown.ends_with(" has the ");
        match names.contains(&word) && !is_value {
            true => shown += &camel(word),
            false => shown += word,
        }
        let between = after.find(is_word).unwrap_or(after.len());
        shown += &after[..between];
        rest = &after[between..];
    }
    shown
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |shown, word| shown + &word[..1].to_uppercase() + &word[1..])
}

fn message<T: std::fmt::Debug>(answer: Result<T, Error>) -> String {
    answer.unwrap_err().message().to_owned()
}

/// The refusals of tests/vectors/options.json.
fn of_vectors() -> Vec<String> {
    let vectors = option_vectors();
    let mut texts = Vec::new();
    for row in entries(&vectors, "options") {
        // The disk says whether a file is there, and the core has none.
        let bad = entries(row, "bad").iter().filter(|value| *value != "/nowhere/at.all");
        texts.extend(bad.map(|value| message(opened(row, value))));
    }
    for row in entries(&vectors, "environment") {
        let name = text(row, "variable");
        let option = OPTIONS.iter().find(|row| row.variable == Some(name)).unwrap();
        let of = if option.of == OptionOf::Segments { option.of } else { OptionOf::Snowflake };
        for value in row["bad"].as_array().into_iter().flatten().filter_map(|value| value.as_str()) {
            let set = base(of, option.name);
            texts.push(message(with_variable(name, value.as_bytes(), |variables| {
                parsed(of, &set, variables)
            })));
        }
    }
    texts
}

#[test]
fn refused_options_are_named_in_camel_case() {
    let names = names();
    let texts = both(Spelling::Camel, of_vectors);
    for (snake, camel) in &texts {
        assert_eq!(*camel, in_camel_case(&names, snake));
    }
    let changed = texts.iter().filter(|(snake, camel)| snake != camel).count();
    assert!(texts.len() > 300 && changed > 150, "{changed} of {}", texts.len());
}

/// A text of each file of the core that names an option.
fn of_all_kinds() -> Vec<String> {
    let fs = FileSystem { name: "it".into(), kind: FilesystemKind::Ephemeral };
    let network = FileSystem { kind: FilesystemKind::Network, ..fs.clone() };
    let user = WorkerRange { first: 0, last: 31, chosen_by: ChosenBy::User };
    let local = WorkerRange { chosen_by: ChosenBy::Local, ..user };
    let of = |workers, named, surroundings| WorkerPlace {
        workers,
        fs: &fs,
        path: &"/data",
        named,
        surroundings,
        scope: Scope::Host,
        exclusive: false,
    };
    let denied = |kind| IoFailure { kind, text: "no".into(), user: "user 7".into() };
    let failed = |kind| denied(kind).of_file(FileAction::Open, "/data", FileAdvice::StateDir);
    let leaf = |block_size, tag| message(LeafMode::Segment { block_size }.check_tag(tag));
    let lease =
        Lease { worker_id: 7, from_ms: NOW_MS, until_ms: NOW_MS - 9, lease_ms: None, ..Lease::default() };
    let flake = granted(Layout::LEAF, PLAIN, 7, NOW_MS, 3_000);
    let wait = |longest: Option<Duration>| Waiting::new(Duration::from_secs(2), longest);
    let paused = |pause| match pause {
        Pause::Failed(error) => error.message().to_owned(),
        pause => panic!("{pause:?}"),
    };
    let begins = |ms| wait(None).step(&flake, Some(ms), Action::NeedSpan, NOW_MS, Duration::ZERO);
    let until = |ms| wait(None).step(&flake, None, Action::WaitUntil(ms), NOW_MS, Duration::ZERO);
    let late = |by| {
        let (mut wait, answer) = (wait(None), Answer::Pending(Delay { by, before: None }));
        wait.answered(&flake, answer.clone(), NOW_MS, Duration::ZERO);
        wait.answered(&flake, answer, NOW_MS, Duration::from_secs(2))
    };
    vec![
        message(refuse_network(&network, "/data", false, LOCAL_STATE)),
        message(of(Some(&user), false, None).refuse()),
        message(of(Some(&user), false, Some("Kubernetes")).refuse()),
        message(of(Some(&local), false, None).refuse()),
        of(None, true, None).warning().unwrap(),
        of(None, false, None).warning().unwrap(),
        failed(IoKind::Denied).message().into(),
        failed(IoKind::ReadOnly).message().into(),
        failed(IoKind::Full).message().into(),
        failed(IoKind::Other).message().into(),
        denied(IoKind::NoThread).of_peer_times().message().into(),
        leaf(10, "order"),
        leaf(1, "order-x10"),
        message(check_tag_of_ids("order-x10", None)),
        message(lease.span(&Layout::LEAF, &PLAIN, NOW_MS)),
        message(check_clock(&Layout::LEAF, 0, 0)),
        paused(begins(NOW_MS + 3_000)),
        paused(until(NOW_MS + 3_000)),
        paused(late(DelayedBy::Disk)),
        paused(late(DelayedBy::Servers)),
        message(Layout::LEAF.with_epoch_ms(-1)),
        message(OptionRow::find(OptionOf::Snowflake, "epoch")),
    ]
}

#[test]
fn all_texts_name_options_in_camel_case() {
    let names = names();
    for (snake, camel) in both(Spelling::Camel, of_all_kinds) {
        assert_eq!(camel, in_camel_case(&names, &snake));
        assert_ne!(camel, snake);
    }
}

#[test]
fn the_command_line_names_options_as_it_takes_them() {
    let texts = || {
        let of_word = Error::invalid("worker", 5000, "0 to 1023").message().to_owned();
        let of_variable = Error::invalid("LEAFID_STATE_DIR", "x", "a path").message().to_owned();
        let of_option = Error::invalid("no_record_wait_ms", -1, "0").message().to_owned();
        vec![of_word, of_variable, of_option]
    };
    let shown: Vec<_> = both(Spelling::CommandLine, texts).into_iter().map(|(_, shown)| shown).collect();
    assert_eq!(
        shown,
        [
            "worker is 5000; allowed: 0 to 1023",
            "LEAFID_STATE_DIR is x; allowed: a path",
            "--no-record-wait-ms is -1; allowed: 0"
        ]
    );
}
