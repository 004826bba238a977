//! Options: texts of worker ids, URLs, builders, variables of the environment, command lines.
#![no_main]

use leafid::fuzzing::{
    command_line, ids_of_hostname, segments_options, server_url, snowflake_options, worker_ids,
};
use leafid::{Code, Error, FileTag, Layout, Segments, Snowflake, Worker, cli};
use leafid::{OPTIONS, OptionKind, OptionOf, OptionRow, OptionValue};
use leafid_fuzz::{Input, check, directory};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    match input.byte() % 8 {
        0 => worker(&input.line(), &input.line()),
        1 => url(&input.line()),
        2 | 3 => snowflake(&mut input),
        4 | 5 => segments(&mut input),
        6 => environment(&mut input),
        _ => commands(&mut input),
    }
});

/// A refusal names an option.
fn refused(error: &Error) {
    check(error);
    assert!(matches!(error.code(), Code::InvalidArgument | Code::UnknownTag | Code::StateIo), "{error}");
}

fn decimal(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `7`, `0-31`, `local`, `hostname:NAME*8`, as said in words.
fn worker(text: &str, host: &str) {
    let layout = Layout::LEAF;
    let said = worker_ids(&Worker::from(text), &layout);
    if !text.starts_with("hostname:") {
        let text = if text == "local" { "0-255" } else { text };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let within = |id: &i64| *id <= layout.max_worker_id().into();
        let expected =
            decimal(first).zip(decimal(last)).filter(|(first, last)| first <= last && within(last));
        match &said {
            Ok(ids) => assert_eq!(ids.map(|(first, last)| (first.into(), last.into())), expected, "{text:?}"),
            Err(error) => assert_eq!(expected, None, "{error}"),
        }
    }
    said.map_or_else(|error| refused(&error), drop);
    if let Ok((first, last)) = ids_of_hostname(text, host) {
        assert!(first >= 0 && first <= last, "{text:?} {host:?}");
        // A host with a digit more in its name has none of these.
        let name = host.split('.').next().unwrap_or_default();
        for (at, _) in name.char_indices() {
            for digit in ["0", "1", "9"] {
                let other = format!("{}{digit}{}", &name[..at], &name[at..]);
                let theirs = ids_of_hostname(text, &other);
                assert!(
                    theirs.is_err() || theirs.is_ok_and(|theirs| theirs.1 < first || theirs.0 > last),
                    "{text:?} {host:?} {other:?}"
                );
            }
        }
    }
}

/// A URL that is taken is kept alike, and holds nothing that is no address.
fn url(text: &str) {
    let (kept, is_loopback) = match server_url(text) {
        Ok(taken) => taken,
        Err(error) => {
            if let Some((secret, rest)) = text.split_once('@') {
                let is_shown = secret.len() >= 24 && error.message().contains(secret);
                assert!(!is_shown || rest.contains(secret), "{error}");
            }
            return refused(&error);
        }
    };
    assert_eq!(server_url(&kept), Ok((kept.clone(), is_loopback)), "{text:?}");
    assert_eq!(kept, text.trim_end_matches('/'));
    let lower = kept.to_ascii_lowercase();
    let rest = lower.strip_prefix("http://").or(lower.strip_prefix("https://")).expect("a scheme");
    assert!(!rest.is_empty() && !rest.starts_with([':', '/']), "{text:?}");
    assert!(!kept.contains(['@', '?', '#', ' ']) && !kept.contains(char::is_control), "{text:?}");
    let host = rest.split(['/', ':']).next().unwrap_or_default();
    assert!(!host.contains('\\'), "{text:?}");
    let is_own = host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    assert!(is_loopback || !is_own, "{text:?}");
}

/// An option of the table with a value of its kind, or none.
fn any_option(of: OptionOf, input: &mut Input<'_>) -> Option<(&'static str, OptionValue)> {
    let rows: Vec<_> = OPTIONS.iter().filter(|row| row.of.includes(of)).collect();
    let row = rows.get(input.below(rows.len()))?;
    Some((row.name, any_value(row, input)))
}

fn any_value(row: &OptionRow, input: &mut Input<'_>) -> OptionValue {
    match row.kind {
        OptionKind::Int | OptionKind::Id => OptionValue::Int(input.number()),
        OptionKind::Flag => OptionValue::Flag(input.flag()),
        OptionKind::Word(words) => {
            let word = words.get(input.below(words.len()));
            OptionValue::Text(word.map_or_else(|| input.text(), |&word| word.into()))
        }
        OptionKind::Path if row.name == "ca_file" => OptionValue::Text(plain(&input.text())),
        OptionKind::Text | OptionKind::Path | OptionKind::Layout => OptionValue::Text(input.text()),
        OptionKind::Worker => match input.byte() % 4 {
            0 => OptionValue::Int(input.number()),
            1 => OptionValue::Range(input.number(), input.number()),
            2 => OptionValue::Text(input.text()),
            _ => urls(input),
        },
        OptionKind::Urls => urls(input),
        OptionKind::Prewarm => match input.below(4) {
            4 => OptionValue::Text("last-day".into()),
            count => OptionValue::Texts((0..count).map(|_| input.text()).collect()),
        },
        OptionKind::Headers => {
            OptionValue::Headers((0..input.below(3)).map(|_| (input.text(), input.text())).collect())
        }
        OptionKind::Tags => {
            let count = input.below(2);
            let tag = |_| (input.text(), FileTag { start: input.number(), step: input.number() });
            OptionValue::Tags((0..count).map(tag).collect())
        }
        OptionKind::Callback => OptionValue::Callback,
    }
}

fn urls(input: &mut Input<'_>) -> OptionValue {
    OptionValue::Texts((0..input.below(4)).map(|_| plain(&input.text())).collect())
}

/// Without TLS, for which the system's certificates would be read each time, and without a device for a file.
fn plain(text: &str) -> String {
    // Messages name paths as they are.
    let text = text.replace(char::is_control, "");
    text.replace("ttps", "ttp").replace("TTPS", "TTP").replace("dev", "dav").replace("proc", "prac")
}

fn snowflake(input: &mut Input<'_>) {
    let mut builder = Snowflake::builder().state_dir(directory("options"));
    let mut after = None;
    while !input.is_empty() {
        builder = match any_option(OptionOf::Snowflake, input) {
            None => builder.max_wait_ms(input.number()),
            Some(("peer_times", _)) => builder.peer_times(|| Ok(Vec::new())),
            Some((name, value)) => {
                if let ("start_after", OptionValue::Int(id)) = (name, &value) {
                    after = Some(*id);
                }
                builder.set_value(name, value).expect("a value of its kind");
                builder
            }
        };
    }
    let taken = match snowflake_options(&builder) {
        Ok(taken) => taken,
        Err(error) => return refused(&error),
    };
    assert_eq!(snowflake_options(&builder).as_ref(), Ok(&taken), "what makes two openings one generator");
    let most = taken.layout.max_worker_id();
    assert!(taken.worker_ids.is_none_or(|(first, last)| first <= last && last <= most), "{taken:?}");
    assert!(taken.worker_ids.is_none_or(|(first, last)| taken.persist || first == last), "{taken:?}");
    named(&taken.name);
    assert!(!taken.persist || (taken.directory.is_absolute() && taken.directory.ends_with(&taken.name)));
    let hour = Duration::from_secs(3_600);
    assert!(
        (Duration::from_millis(1)..=hour).contains(&taken.times.0) && taken.times.1.is_none_or(|t| t <= hour)
    );
    assert!((0..=3_600_000).contains(&taken.max_backwards_ms) && taken.random_start <= 1_000_000);
    match after {
        // Every id will be of a later tick.
        Some(id) => {
            let parts = taken.layout.decode(id).expect("an id of this layout");
            assert!(taken.layout.tick_at(parts.timestamp_ms) < Some(taken.start), "{taken:?}");
        }
        None => assert_eq!(taken.start, 0),
    }
}

/// A name is one part of a path.
fn named(name: &str) {
    assert!((1..=64).contains(&name.len()) && !name.contains(['/', '\\', '\0']) && !name.starts_with('.'));
}

fn segments(input: &mut Input<'_>) {
    let mut builder = Segments::builder().state_dir(directory("options"));
    let mut step = None;
    while !input.is_empty() {
        builder = match any_option(OptionOf::Segments, input) {
            None => builder.max_wait_ms(input.number()),
            Some(("fetch", _)) => builder.fetch(|_| Ok(None)),
            Some((name, value)) => {
                if let ("step", OptionValue::Int(ids)) = (name, &value) {
                    step = Some(*ids);
                }
                builder.set_value(name, value).expect("a value of its kind");
                builder
            }
        };
    }
    match segments_options(&builder) {
        Ok(taken) => {
            assert_eq!(taken.0, step);
            assert!(step.is_none_or(|step| (1..=1_000_000).contains(&step)) && taken.1 <= 100);
        }
        Err(error) => refused(&error),
    }
}

/// The worker id and the state directory as the environment says them.
fn environment(input: &mut Input<'_>) {
    let names = ["LEAFID_WORKER", "LEAFID_STATE_DIR", "STATE_DIRECTORY"];
    let values = names.map(|_| plain(&input.line()).replace('\0', ""));
    for (name, value) in names.iter().zip(&values) {
        // SAFETY: no other thread of this process reads the environment meanwhile: nothing is open.
        unsafe { if value.is_empty() { std::env::remove_var(name) } else { std::env::set_var(name, value) } };
    }
    let taken = snowflake_options(&Snowflake::builder());
    match &taken {
        Ok(taken) if !values[0].to_ascii_lowercase().trim().starts_with("http") => {
            let said = worker_ids(&Worker::Text(values[0].clone()), &Layout::LEAF);
            assert_eq!(Ok(taken.worker_ids), said);
        }
        Ok(_) => {}
        Err(error) => refused(error),
    }
    let first = values[2].split(':').next().unwrap_or_default();
    if let (Ok(taken), Some(said)) = (&taken, [&values[1], first].into_iter().find(|said| !said.is_empty())) {
        assert_eq!(taken.directory, std::path::absolute(said).expect("a path").join("default"));
    }
}

/// A command line is read without a panic; `decode` is run: all that it says is of an id.
fn commands(input: &mut Input<'_>) {
    let words = input.line();
    let arguments: Vec<_> = words.split('\t').map(Into::into).collect();
    let _ = command_line([vec!["leafid".into()], arguments].concat());
    let mut said = [Vec::new(), Vec::new()];
    let [out, err] = &mut said;
    let decode = ["decode", "--json"].into_iter().chain(words.split('\t').take(3));
    let status = cli::run(decode, &mut &input.long()[..], out, err);
    assert!(matches!(status, 0..=2), "{status}");
    assert!(status == 0 || !err.is_empty(), "a refusal without a reason");
    if !String::from_utf8_lossy(out).starts_with('{') {
        return;
    }
    for line in out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let line: serde_json::Value = serde_json::from_slice(line).expect("JSON");
        assert!(line["id"].as_str().and_then(decimal).is_some(), "{line}");
    }
}
