//! Options: texts of worker ids, URLs, builders, variables of the environment, command lines.
#![no_main]

use leafid::fuzzing::{
    command_line, ids_of_hostname, segments_options, server_url, snowflake_options, worker_ids,
};
use leafid::{Code, Error, Layout, Prewarm, Protocol, Segments, Snowflake, Worker, cli};
use leafid::{FileTag, OnClockBackwards, OnExhausted};
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

fn any_worker(input: &mut Input<'_>) -> Worker {
    match input.byte() % 4 {
        0 => Worker::Id(input.number()),
        1 => Worker::Range { first: input.number(), last: input.number() },
        2 => Worker::Text(input.text()),
        _ => Worker::Servers((0..input.below(3)).map(|_| plain(&input.text())).collect()),
    }
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
        builder = match input.byte() % 18 {
            0 => builder.worker(any_worker(input)),
            1 => builder.name(input.text()),
            2 => builder.state_dir(input.text()),
            3 => match Layout::parse(&input.text()) {
                Ok(layout) => builder.layout(layout),
                Err(error) => return check(&error),
            },
            4 => builder.epoch_ms(input.number()),
            5 => builder.on_clock_backwards(OnClockBackwards::Wait),
            6 => builder.max_backwards_ms(input.number()),
            7 => builder.on_exhausted(OnExhausted::Borrow),
            8 => builder.random_start(input.number()),
            9 => builder.timeout_ms(input.number()),
            10 => builder.max_wait_ms(input.number()),
            11 => builder.persist(input.flag()),
            12 => builder.shared_fs(input.flag()).exclusive_range(input.flag()),
            13 => {
                after = Some(input.number());
                builder.start_after(after.unwrap_or(0))
            }
            14 => builder.token(input.text()),
            15 => builder.headers([(input.text(), input.text())]),
            16 => builder.request_timeout_ms(input.number()).connect_timeout_ms(input.number()),
            _ => builder.ca_file(plain(&input.text())),
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
        builder = match input.byte() % 20 {
            0 => builder.servers((0..input.below(4)).map(|_| plain(&input.text())).collect::<Vec<_>>()),
            1 => builder.fetch(|_| Ok(None)),
            2 => match input.text().parse::<Protocol>() {
                Ok(protocol) => builder.protocol(protocol),
                Err(error) => return check(&error),
            },
            3 => {
                step = Some(input.number());
                builder.step(step.unwrap_or(0))
            }
            4 => builder.prefetch(input.number()),
            5 => builder.timeout_ms(input.number()),
            6 => builder.request_timeout_ms(input.number()),
            7 => builder.connect_timeout_ms(input.number()),
            8 => builder.connections(input.number()),
            9 => builder.block_size(input.number()),
            10 => builder.token(input.text()),
            11 => builder.headers([(input.text(), input.text()), (input.text(), input.text())]),
            12 => builder.ca_file(plain(&input.text())),
            13 => builder.name(input.text()),
            14 => builder.persist(input.flag()).keep_unused(input.flag()),
            15 => builder.tags([(input.text(), FileTag { start: input.number(), step: input.number() })]),
            16 => builder.prewarm(Prewarm::Tags((0..input.below(4)).map(|_| input.text()).collect())),
            17 => builder.ordered_source(input.flag()),
            18 => builder.max_wait_ms(input.number()),
            _ => builder.adaptive(input.flag()),
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
