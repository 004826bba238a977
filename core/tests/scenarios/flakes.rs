//! A process with a snowflake: the machine `WorkerRun`, and those who take ids of it.

use super::actor::{Actor, Asked, Desk, Got, Opened, Stage, kind_of};
use super::disk::{Ending, For};
use super::words::{Words, failure, fits, moved, options};
use crate::common::openings::EMPTY;
use leafid_core::call::{CallId, Clocks, IoFailure, Level};
use leafid_core::options::deployment::{FileSystem, FilesystemKind, Scope};
use leafid_core::options::{OptionOf, RunOptions};
use leafid_core::place::{FilesAt, Place, PlaceFacts, PlaceSettings};
use leafid_core::run::{
    Answer, Claimed, Need, Pause, RunCall, RunCallEnd, RunNotice, RunSettings, RunState, RunTicket, RunWait,
    SourceFailure, Waiting, WorkerRun, Workers,
};
use leafid_core::{Action, ClockFilter, Lease, Renewal};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Flakes {
    /// Its name, that by which it holds locks, and that of its process.
    name: String,
    owner: String,
    process: String,
    options: RunOptions,
    urls: Vec<String>,
    clock: Arc<ClockFilter>,
    run: WorkerRun,
    opens: Option<RunTicket>,
    desk: Desk<RunCall>,
    takers: BTreeMap<String, Taker>,
}

struct Taker {
    left: i64,
    ids: Vec<Value>,
    wait: RunWait,
    /// When it looks again: by the clock, or by the boot time.
    until_ms: Option<i64>,
    sleeps_until: Option<Duration>,
}

fn ms(said: i64) -> Duration {
    Duration::from_millis(said as u64)
}

fn filtered_ms(clock: &ClockFilter, stage: &mut Stage) -> i64 {
    let Clocks { wall_ms, boot } = stage.clocks;
    let (now_ns, leap) = clock.filter(wall_ms * 1_000_000, boot.as_nanos() as i64);
    stage.log.extend(leap.map(|leap| (Level::Warn, leap.to_string())));
    now_ns.div_euclid(1_000_000)
}

impl Flakes {
    pub(super) fn open(
        (name, owner): (&str, String),
        said: &[&Value],
        words: &Words<'_>,
        stage: &mut Stage,
    ) -> Opened {
        let options = options(OptionOf::Snowflake, said)?;
        let options = RunOptions::parse(&options, &EMPTY)?;
        let clock = Arc::new(ClockFilter::new());
        let kind = FilesystemKind::Local;
        let directory = FilesAt::Directory {
            path: options.name.clone(),
            named: true,
            fs: FileSystem { name: "ext4".into(), kind },
            left_root: false,
        };
        let facts = PlaceFacts {
            clock: Arc::clone(&clock),
            built_ms: stage.start_ms - 86_400_000,
            pid: 42,
            started_ms: Some(stage.clocks.wall_ms),
            host: words.text("host").unwrap_or("here").into(),
            boot: stage.boot.clone(),
            surroundings: None,
            scope: Scope::Host,
            inherited: words.int("inherits").map(|worker_id| worker_id as u32),
            files: if options.persist { directory } else { FilesAt::Nowhere },
        };
        let (place, warnings) = Place::check(facts, &PlaceSettings::of(&options), stage.clocks)?;
        stage.log.extend(warnings.into_iter().map(|text| (Level::Warn, text)));
        let mut settings = RunSettings::of(&options, |_| None);
        settings.leases_end = words.is_set("leases_end");
        let urls = match &settings.workers {
            Workers::Servers { servers, .. } => {
                servers.servers.iter().map(|server| server.url.clone()).collect()
            }
            _ => Vec::new(),
        };
        let run = WorkerRun::new(settings, place, 7);
        let (process, name) = (words.text("in").unwrap_or(name).into(), name.into());
        let (opens, desk, takers) = (None, Desk::default(), BTreeMap::new());
        let mut flakes = Flakes { name, owner, process, options, urls, clock, run, opens, desk, takers };
        flakes.want_open(words, stage);
        Ok(Box::new(flakes))
    }

    fn want_open(&mut self, words: &Words<'_>, stage: &mut Stage) {
        let longest = words.int("blocks_ms").map(ms);
        self.opens =
            Some(self.run.want(Need::Open { longest, loops: !words.is_set("blocks_loop") }, stage.clocks));
    }

    fn sleeps(&self, stage: &Stage) -> bool {
        self.run.next_time().is_none_or(|due| due > stage.clocks.boot)
    }

    fn pull(&mut self, stage: &mut Stage) {
        for _ in 0..1_000 {
            // A host may look at it before each of these.
            while !self.sleeps(stage)
                && let Some(notice) = self.run.next_notice(stage.clocks)
            {
                match notice {
                    RunNotice::Abandon(id) => {
                        self.desk.check_abandoned(id);
                        stage.abandoned.push(id);
                    }
                    RunNotice::Wake => {}
                    RunNotice::Log(level, text) => stage.log.push_back((level, text)),
                    RunNotice::Closed(result) => {
                        let before = stage.closed.insert(self.name.clone(), result);
                        assert!(before.is_none(), "it is closed twice");
                    }
                }
            }
            if self.sleeps(stage) {
                return;
            }
            let leases = stage.leases.entry(self.process.clone()).or_default();
            if let Some((id, _, call)) = self.run.next_call(stage.clocks, leases) {
                self.begin(id, call, stage);
            }
        }
        panic!("{} has always something to do: {:?}", self.name, self.run);
    }

    fn begin(&mut self, id: CallId, mut call: RunCall, stage: &mut Stage) {
        let by = -stage.start_ms;
        let (name, sent) = match &mut call {
            RunCall::Http(http) => super::http::sent(http, &self.urls, stage.random(), stage.start_ms),
            RunCall::PeerTimes(_) => ("peer_times".into(), json!({})),
            RunCall::Claim(claim) => {
                let asked = claim.request(stage.random());
                let sent = json!({
                    "name": asked.name, "previous": asked.previous, "now_ms": asked.now_ms, "until_ms": asked.until_ms,
                });
                ("claim".into(), moved("", &sent, by))
            }
            RunCall::Renew(renew) => {
                let asked = renew.request();
                let Lease { worker_id, token, .. } = &asked.lease;
                let sent = json!({"worker_id": worker_id, "token": token, "until_ms": asked.wish_ms});
                ("renew".into(), moved("", &sent, by))
            }
            RunCall::Release(release) => {
                let Lease { worker_id, token, .. } = release.lease();
                let sent = json!({"worker_id": worker_id, "token": token, "until_ms": release.until_ms()});
                ("release".into(), moved("", &sent, by))
            }
            call => (kind_of(&format!("{call:?}")), json!({"worker_id": worker_id_of(call)})),
        };
        let is_source =
            name.contains("://") || ["peer_times", "claim", "renew", "release"].contains(&&name[..]);
        if is_source || stage.lists(&name) {
            self.desk.new.push_back(Asked { id, name, sent, call });
        } else {
            let end = self.use_disk(call, stage, &Ending::default());
            self.run.done(id, end, stage.clocks);
        }
    }

    fn use_disk(&self, call: RunCall, stage: &mut Stage, ending: &Ending) -> RunCallEnd {
        let (now_ms, random) = (filtered_ms(&self.clock, stage), stage.random());
        let (space, owner) = (&self.options.name[..], &self.owner[..]);
        stage.disk.run(call, &For { space, owner, clocks: stage.clocks, now_ms, random }, ending)
    }

    fn end(&mut self, asked: Asked<RunCall>, words: &Words<'_>, stage: &mut Stage) {
        let start_ms = stage.start_ms;
        let end = match asked.call {
            RunCall::Http(call) => super::http::end(*call, words, &asked.sent, start_ms).into(),
            RunCall::PeerTimes(call) => {
                let times = |value: &Value| {
                    let times = value.as_array().unwrap().iter();
                    times.map(|ms| ms.as_i64().unwrap() + start_ms).collect()
                };
                call.end(given(words, times).map(Option::unwrap_or_default))
            }
            RunCall::Claim(call) => call.end(given(words, |value| claimed(value, start_ms))),
            RunCall::Renew(call) => call.end(given(words, |value| renewal(value, start_ms))),
            RunCall::Release(call) => {
                call.end(given(words, |_| panic!("a release gives nothing")).map(|_| ()))
            }
            call => self.use_disk(call, stage, &Ending::of(words)),
        };
        if words.is_set("twice") {
            self.run.done(asked.id, end.clone(), stage.clocks);
        }
        self.run.done(asked.id, end, stage.clocks);
    }

    fn look_at_opening(&mut self, stage: &mut Stage) {
        let Some(ticket) = self.opens else { return };
        let outcome = match (self.run.answer(ticket), self.run.state()) {
            (Answer::Pending(_), _) => return,
            (Answer::Failed(error), _) => Err(error),
            (_, RunState::Held { worker_id, .. }) => Ok(Got::WorkerId(worker_id)),
            (answer, state) => panic!("{answer:?} to an opening that is {state:?}"),
        };
        self.opens = None;
        stage.ends(&self.name, outcome);
    }

    /// Whether somebody wants a span.
    fn step_takers(&mut self, stage: &mut Stage) -> bool {
        let mut wants = false;
        let callers: Vec<String> = self.takers.keys().cloned().collect();
        for caller in callers {
            let mut taker = self.takers.remove(&caller).unwrap();
            match self.step(&mut taker, stage, &mut wants) {
                None => drop(self.takers.insert(caller, taker)),
                Some(outcome) => stage.ends(&caller, outcome),
            }
        }
        wants
    }

    fn step(
        &mut self,
        taker: &mut Taker,
        stage: &mut Stage,
        wants: &mut bool,
    ) -> Option<leafid_core::Result<Got>> {
        let boot = stage.clocks.boot;
        loop {
            let now_ms = filtered_ms(&self.clock, stage);
            if taker.until_ms.is_some_and(|until| now_ms < until) {
                return None;
            }
            taker.until_ms = None;
            let flake =
                Arc::clone(self.run.generator().unwrap_or_else(|| panic!("{} is not open", self.name)));
            let pause = match taker.wait.wished() {
                Some(_) => Pause::Want,
                None => match flake.next(now_ms) {
                    Ok(id) => {
                        let parts = flake.layout().decode(id).unwrap();
                        let at_ms = parts.timestamp_ms - stage.start_ms;
                        taker.ids.push(json!([at_ms, parts.worker_id, parts.sequence]));
                        taker.left -= 1;
                        taker.wait.waiting.progressed();
                        if taker.left == 0 {
                            return Some(Ok(Got::Ids(std::mem::take(&mut taker.ids))));
                        }
                        continue;
                    }
                    Err(Action::Sealed) if !matches!(self.run.state(), RunState::Held { .. }) => {
                        let closed = "the snowflake was closed";
                        return Some(Err(leafid_core::Error::new(leafid_core::Code::Closed, closed)));
                    }
                    Err(action) => {
                        taker.wait.waiting.step(&flake, self.run.begins_ms(), action, now_ms, boot)
                    }
                },
            };
            *wants |= pause == Pause::Want && taker.wait.wished().is_none();
            let pause = match pause {
                Pause::Want => taker.wait.wish(&mut self.run, stage.clocks, &flake, now_ms, boot),
                pause => pause,
            };
            taker.sleeps_until = None;
            match pause {
                Pause::Again | Pause::Want => {}
                Pause::Until(until_ms) => taker.until_ms = Some(until_ms),
                Pause::Sleep(most) => {
                    taker.sleeps_until = Some(boot + most);
                    return None;
                }
                Pause::Failed(error) => return Some(Err(error)),
            }
        }
    }
}

impl Actor for Flakes {
    fn open_again(&mut self, words: &Words<'_>, stage: &mut Stage) -> bool {
        if matches!(self.run.state(), RunState::Closing | RunState::Closed) {
            return false;
        }
        self.want_open(words, stage);
        true
    }

    fn drive(&mut self, stage: &mut Stage) {
        loop {
            self.pull(stage);
            if !self.step_takers(stage) {
                break;
            }
        }
        self.look_at_opening(stage);
    }

    fn next_time(&self, stage: &Stage) -> Option<Duration> {
        let takers = self.takers.values().flat_map(|taker| {
            let until = taker.until_ms.map(|until| stage.after_ms(until - stage.clocks.wall_ms));
            [until, taker.sleeps_until]
        });
        takers.flatten().chain(self.run.next_time()).min()
    }

    fn asked(&self) -> Option<&str> {
        self.desk.new.front().map(|asked| &asked.name[..])
    }

    fn answer(&mut self, words: &Words<'_>, stage: &mut Stage) {
        let Some(asked) = self.desk.take(words, &mut stage.names) else { return };
        match words.text("needs_loop") {
            None => self.end(asked, words, stage),
            Some(name) => {
                self.run.done(asked.id, RunCallEnd::needs_loop(), stage.clocks);
                self.desk.end_later(name, asked);
            }
        }
    }

    fn answer_later(
        &mut self,
        name: &str,
        other: Option<CallId>,
        words: &Words<'_>,
        stage: &mut Stage,
    ) -> bool {
        let Some(asked) = self.desk.take_later(name) else { return false };
        self.end(Asked { id: other.unwrap_or(asked.id), ..asked }, words, stage);
        true
    }

    fn id_of(&self, name: &str) -> Option<CallId> {
        self.desk.id_of(name)
    }

    fn take(&mut self, words: &Words<'_>, caller: &str, _: &mut Stage) {
        let timeout = words.int("timeout_ms").map_or(self.options.timeout, ms);
        let longest = words.int("blocks_ms").map(ms);
        let taker = Taker {
            left: words.int("take").unwrap(),
            ids: Vec::new(),
            wait: RunWait::new(Waiting::new(timeout, longest)),
            until_ms: None,
            sleeps_until: None,
        };
        assert!(self.takers.insert(caller.into(), taker).is_none(), "{caller} waits already");
    }

    fn waits(&self, caller: &str) -> bool {
        self.takers.contains_key(caller) || (caller == self.name && self.opens.is_some())
    }

    fn leave(&mut self, caller: &str, stage: &mut Stage) {
        let ticket = match self.takers.remove(caller) {
            Some(mut taker) => taker.wait.leave(),
            None if caller == self.name => self.opens.take(),
            None => None,
        };
        ticket.into_iter().for_each(|ticket| self.run.give_up(ticket, stage.clocks));
    }

    fn close(&mut self, words: &Words<'_>, stage: &mut Stage) {
        let (quietly, waits_for_source) = (words.is_set("quietly"), !words.is_set("from_source"));
        self.run.want(Need::Close { quietly, waits_for_source }, stage.clocks);
    }

    fn stats(&self, words: &Words<'_>, stage: &Stage) -> Value {
        let stats = self.run.stats(stage.clocks.wall_ms);
        if let Some(said) = words.text("last_error") {
            assert!(fits(said, stats.last_error.as_deref().unwrap_or_default()), "{:?}", stats.last_error);
        }
        let (held, lost) = match self.run.state() {
            RunState::Held { worker_id, lost } => (Some(worker_id), lost),
            _ => (None, false),
        };
        json!({
            "worker_id": held, "lost": lost, "ids": stats.ids, "claims": stats.claims,
            "renewals": stats.renewals, "renewal_failures": stats.renewal_failures, "lead_ms": stats.lead_ms,
            "reserved_until_ms": stats.reserved_until_ms - stage.start_ms,
            "lease_until_ms": stats.lease_until_ms.map(|ms| ms - stage.start_ms),
        })
    }

    fn owner(&self) -> &str {
        &self.owner
    }
}

/// The worker id of a call to the disk.
fn worker_id_of(call: &RunCall) -> Option<u32> {
    Some(match call {
        RunCall::LockHost(call) => call.worker_id(),
        RunCall::UnlockHost(call) => call.worker_id(),
        RunCall::Holder(call) => call.worker_id(),
        RunCall::Names(call) => call.worker_id(),
        RunCall::PeekRecord(call) => call.worker_id(),
        RunCall::OpenRecord(call) => call.worker_id(),
        RunCall::WriteRecord(call) => call.worker_id(),
        RunCall::CloseRecord(call) => call.worker_id(),
        RunCall::ReadLeaseCache(call) => call.worker_id(),
        RunCall::WriteLeaseCache(call) => call.worker_id(),
        RunCall::DropLeaseCache(call) => call.worker_id(),
        _ => return None,
    })
}

/// What a user's source answers.
fn given<T>(words: &Words<'_>, read: impl FnOnce(&Value) -> T) -> Result<Option<T>, SourceFailure> {
    match (words.get("fails"), words.get("gives")) {
        (Some(said), None) => Err(match failure(said) {
            Err(error) => SourceFailure::Coded(error),
            Ok(text) if text == "<panic>" => SourceFailure::Panicked,
            Ok(text) if text == "<no thread>" => SourceFailure::NotBegun(IoFailure::other(text)),
            Ok(text) => SourceFailure::Text(text),
        }),
        (None, Some(Value::Null)) => Ok(None),
        (None, Some(value)) => Ok(Some(read(value))),
        _ => panic!("it says neither what it gives nor how it fails, or both"),
    }
}

fn claimed(value: &Value, start_ms: i64) -> Claimed {
    if let Some(worker_id) = value.as_i64() {
        return Claimed::Id(worker_id);
    }
    let words = Words::of(value);
    let lease = Lease {
        worker_id: words.int("worker_id").unwrap(),
        from_ms: words.int("from_ms").unwrap() + start_ms,
        until_ms: words.int("until_ms").unwrap() + start_ms,
        lease_ms: words.int("lease_ms"),
        token: words.text("token").map(Into::into),
        peer_times_ms: words.list("peer_times_ms").iter().map(|ms| ms.as_i64().unwrap() + start_ms).collect(),
    };
    words.all_read();
    Claimed::Lease(lease, Duration::ZERO)
}

fn renewal(value: &Value, start_ms: i64) -> Renewal {
    let words = Words::of(value);
    let renewal = Renewal {
        worker_id: words.int("worker_id"),
        until_ms: words.int("until_ms").unwrap() + start_ms,
        lease_ms: words.int("lease_ms"),
        token: words.text("token").map(Into::into),
    };
    words.all_read();
    renewal
}
