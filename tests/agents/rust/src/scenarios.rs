//! `scenarios`: does what ../../../scenarios/play.py says.

use leafid::{
    Answer, ClaimRequest, Code, Error, FetchRequest, Fetched, Lease, OptionValue, Renewal, Result, Segment,
    Segments, SegmentsBuilder, Snowflake, SnowflakeBuilder, WorkerLeases, WorkerSource,
};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

enum Opened {
    Flake(Snowflake),
    Segments(Segments),
}

static OPENED: LazyLock<Mutex<HashMap<String, Arc<Opened>>>> = LazyLock::new(Mutex::default);
static ASKED: LazyLock<Mutex<HashMap<u64, Sender<Value>>>> = LazyLock::new(Mutex::default);
/// Callers that wait no longer.
static LEFT: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

fn text<'v>(words: &'v Value, name: &str) -> &'v str {
    words[name].as_str().unwrap_or_default()
}

/// Asks the player: what it gives.
fn ask(handle: &str, asks: &str, sent: Value) -> Answer<Value> {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let (call, (answers, answer)) = (CALLS.fetch_add(1, SeqCst), channel());
    ASKED.lock().unwrap().insert(call, answers);
    println!("{}", json!({"is": "asks", "call": call, "handle": handle, "asks": asks, "sent": sent}));
    let said = answer.recv()?;
    if let Some(fails) = said["fails"].as_str() {
        return Err(fails.into());
    }
    if let Some(name) = said["code"].as_str() {
        let code = Code::ALL.into_iter().find(|code| code.name() == name).expect("a code");
        return Err(Box::new(Error::new(code, text(&said, "text"))));
    }
    Ok(said["gives"].clone())
}

struct Asking(String);

impl WorkerLeases for Asking {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let gives = ask(&self.0, "claim", told(request))?;
        Ok(gives.is_object().then(|| Lease {
            worker_id: gives["worker_id"].as_i64().unwrap_or(-1),
            from_ms: gives["from_ms"].as_i64().unwrap_or_default(),
            until_ms: gives["until_ms"].as_i64().unwrap_or_default(),
            lease_ms: gives["lease_ms"].as_i64(),
            token: gives["token"].as_str().map(Into::into),
            peer_times_ms: gives["peer_times_ms"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_i64)
                .collect(),
        }))
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let gives = ask(&self.0, "renew", of_lease(lease, until_ms))?;
        let renewal = || Renewal {
            until_ms: gives["until_ms"].as_i64().unwrap_or_default(),
            lease_ms: gives["lease_ms"].as_i64(),
            token: gives["token"].as_str().map(Into::into),
            ..Renewal::default()
        };
        Ok(gives.is_object().then(renewal))
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        ask(&self.0, "release", of_lease(lease, until_ms)).map(drop)
    }
}

fn told(request: &ClaimRequest) -> Value {
    let ClaimRequest { name, previous, now_ms, until_ms, .. } = request;
    json!({"name": name, "previous": previous, "now_ms": now_ms, "until_ms": until_ms})
}

fn of_lease(lease: &Lease, until_ms: i64) -> Value {
    json!({"worker_id": lease.worker_id, "token": lease.token, "until_ms": until_ms})
}

fn fetched(handle: &str, request: &FetchRequest) -> Answer<Option<Fetched>> {
    let FetchRequest { tag, step, after, .. } = request;
    let gives = ask(handle, "fetch", json!({"tag": tag, "step": step, "after": after}))?;
    let number = |name: &str| gives[name].as_i64();
    let (Some(start), Some(end)) = (number("start"), number("end")) else { return Ok(None) };
    Ok(Some(Segment::new(start, end, number("stride").unwrap_or(1))?.into()))
}

fn value(said: &Value) -> OptionValue {
    match said {
        Value::Bool(flag) => OptionValue::Flag(*flag),
        Value::Number(number) => OptionValue::Int(number.as_i64().unwrap_or_default()),
        Value::Array(texts) => {
            OptionValue::Texts(texts.iter().filter_map(Value::as_str).map(Into::into).collect())
        }
        Value::Object(headers) => {
            let text = |said: &Value| said.as_str().unwrap_or_default().to_owned();
            OptionValue::Headers(headers.iter().map(|(name, said)| (name.clone(), text(said))).collect())
        }
        text => OptionValue::Text(text.as_str().unwrap_or_default().into()),
    }
}

fn flake(handle: &str, options: &Value) -> Result<Snowflake> {
    let (mut builder, asker) = (Snowflake::builder(), handle.to_owned());
    for (name, said) in options.as_object().into_iter().flatten() {
        builder = match (name.as_str(), said.as_str()) {
            ("worker", Some("<leases>")) => builder.worker(WorkerSource::leases(Asking(asker.clone()))),
            ("worker", Some("<function>")) => builder.worker(callback(asker.clone())),
            ("peer_times", _) => peer_times(builder, asker.clone()),
            ("state_dir", Some(dir)) => builder.state_dir(dir),
            _ => {
                builder.set_value(name, value(said))?;
                builder
            }
        };
    }
    builder.open()
}

fn callback(handle: String) -> WorkerSource {
    WorkerSource::callback(move |request| Ok(ask(&handle, "claim", told(request))?.as_i64()))
}

fn peer_times(builder: SnowflakeBuilder, handle: String) -> SnowflakeBuilder {
    builder.peer_times(move || {
        let gives = ask(&handle, "peer_times", json!({}))?;
        Ok(gives.as_array().into_iter().flatten().filter_map(Value::as_i64).collect())
    })
}

fn segments(handle: &str, options: &Value) -> Result<Segments> {
    let (mut builder, asker) = (Segments::builder(), handle.to_owned());
    for (name, said) in options.as_object().into_iter().flatten() {
        builder = match (name.as_str(), said) {
            ("fetch", _) => {
                let asker = asker.clone();
                SegmentsBuilder::fetch(builder, move |request| fetched(&asker, request))
            }
            ("state_dir", Value::String(dir)) => builder.state_dir(dir),
            _ => {
                builder.set_value(name, value(said))?;
                builder
            }
        };
    }
    builder.open()
}

fn open(words: &Value) -> Result<Value> {
    let (handle, options) = (text(words, "handle"), &words["options"]);
    let (opened, worker_id) = if text(words, "of") == "snowflake" {
        let flake = flake(handle, options)?;
        let worker_id = flake.worker_id()?;
        (Opened::Flake(flake), Some(worker_id))
    } else {
        (Opened::Segments(segments(handle, options)?), None)
    };
    OPENED.lock().unwrap().insert(handle.into(), Arc::new(opened));
    Ok(json!({"worker_id": worker_id}))
}

fn opened(words: &Value) -> Arc<Opened> {
    Arc::clone(&OPENED.lock().unwrap()[text(words, "handle")])
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits until it ends, or its caller leaves.
fn awaited(by: &str, call: impl Future<Output = Result<Vec<i64>>>) -> Option<Result<Vec<i64>>> {
    let (waker, mut call) = (Arc::new(Unpark(thread::current())).into(), pin!(call));
    let mut context = Context::from_waker(&waker);
    let mut has_begun = false;
    loop {
        if let Poll::Ready(ended) = call.as_mut().poll(&mut context) {
            return Some(ended);
        }
        if !std::mem::replace(&mut has_begun, true) {
            println!("{}", json!({"is": "begun", "by": by}));
        }
        thread::park_timeout(std::time::Duration::from_millis(5));
        if LEFT.lock().unwrap().remove(by) {
            return None;
        }
    }
}

fn take(words: &Value) -> Option<Result<Value>> {
    let count = words["count"].as_u64().unwrap_or(1) as usize;
    let taken = match &*opened(words) {
        Opened::Flake(flake) => flake.take(count),
        Opened::Segments(segments) => match segments.tag(text(words, "tag")) {
            Ok(tag) => awaited(text(words, "by"), tag.take_async(count))?,
            Err(error) => Err(error),
        },
    };
    Some(taken.map(|ids| json!({"ids": ids})))
}

fn try_it(words: &Value) -> Result<Value> {
    let Opened::Segments(segments) = &*opened(words) else { panic!("of segments") };
    let id = segments.tag(text(words, "tag"))?.try_next()?;
    Ok(id.map_or(json!({"code": "would_block"}), |id| json!({"ids": [id]})))
}

fn close(words: &Value) -> Result<Value> {
    match &*opened(words) {
        Opened::Flake(flake) => flake.close(),
        Opened::Segments(segments) => segments.close(),
    }
    .map(|()| json!({}))
}

fn stats(words: &Value) -> Result<Value> {
    Ok(match &*opened(words) {
        Opened::Flake(flake) => {
            let its = flake.stats()?;
            let (claims, failures, lease_until_ms) = (its.claims, its.renewal_failures, its.lease_until_ms);
            json!({"claims": claims, "renewal_failures": failures, "lease_until_ms": lease_until_ms,
                   "last_error": its.last_error})
        }
        Opened::Segments(segments) => {
            let its = segments.tag(text(words, "tag"))?.stats()?;
            let (left, last_error) = (its.left, its.last_error);
            json!({"left": left, "fetches": its.fetches, "failures": its.failures, "last_error": last_error})
        }
    })
}

/// Says how it ended.
fn say(is: &str, words: &Value, ended: Result<Value>) {
    let mut said = json!({"is": is, "handle": words["handle"], "by": words["by"]});
    let more = ended.unwrap_or_else(|error| json!({"code": error.code().name(), "text": error.message()}));
    said.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    println!("{said}");
}

fn obey(words: &Value) {
    match text(words, "do") {
        "open" => say("opened", words, open(words)),
        "take" => take(words).into_iter().for_each(|taken| say("got", words, taken)),
        "try" => say("got", words, try_it(words)),
        "close" => say("closed", words, close(words)),
        "stats" => say("stats", words, stats(words).map(|fields| json!({"fields": fields}))),
        "leave" => _ = LEFT.lock().unwrap().insert(text(words, "by").into()),
        "sync" => println!("{}", json!({"is": "synced"})),
        "answer" => {
            let asked = ASKED.lock().unwrap().remove(&words["call"].as_u64().unwrap_or_default());
            _ = asked.expect("it was asked").send(words.clone());
        }
        other => panic!("no word: {other}"),
    }
}

struct Lines;

impl log::Log for Lines {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.target().starts_with("leafid")
    }
    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let level = record.level().as_str().to_lowercase();
            println!(
                "{}",
                json!({"is": "log", "level": level, "text": record.args().to_string().trim_start_matches("leafid: ")})
            );
        }
    }
    fn flush(&self) {}
}

/// Until the player ends it.
pub fn run() -> std::result::Result<(), String> {
    log::set_logger(&Lines).map_err(|error| error.to_string())?;
    log::set_max_level(log::LevelFilter::Info);
    for line in std::io::stdin().lines() {
        let words: Value = serde_json::from_str(&line.map_err(|error| error.to_string())?)
            .map_err(|error| error.to_string())?;
        match text(&words, "do") {
            // They may wait.
            "open" | "take" | "close" => _ = thread::spawn(move || obey(&words)),
            _ => obey(&words),
        }
    }
    Ok(())
}
