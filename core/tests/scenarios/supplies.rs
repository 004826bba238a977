//! A process with segments: the machine `Supply`, and those who take ids of its tags.

use super::actor::{Actor, Asked, Desk, Got, Opened, Stage, kind_of};
use super::disk::{Ending, For};
use super::words::{Words, failure, fits, options};
use crate::common::openings::EMPTY;
use leafid_core::call::{CallId, FileAdvice};
use leafid_core::format::unused::MachineStart;
use leafid_core::http::HttpServers;
use leafid_core::options::{OptionOf, SupplyFrom, SupplyOptions};
use leafid_core::supply::{
    Call, CallEnd, Collected, FetchCall, MarkStore, Notice, Source, Supply, SupplySettings, TagId, Ticket,
    Wish,
};
use leafid_core::{Empty, Fetched, IdOrder, Result, Run, Segment};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) struct Supplies {
    /// The name of the process, and that by which its marks in memory are found.
    name: String,
    owner: String,
    options: SupplyOptions,
    urls: Vec<String>,
    order: IdOrder,
    supply: Supply,
    callers: BTreeMap<String, Ticket>,
    desk: Desk<Call>,
}

impl Supplies {
    pub(super) fn open((name, owner): (&str, String), said: &[&Value], stage: &mut Stage) -> Opened {
        let options = options(OptionOf::Segments, said)?;
        let options = SupplyOptions::parse(&options, &EMPTY)?;
        let asked = options.from.servers();
        let servers = asked.map(|asked| HttpServers::of(asked, |_| None));
        let source = servers.and_then(|servers| Source::of_servers(&options, servers));
        let source = source.unwrap_or(Source::Callback { is_deferred: false });
        assert!(!matches!(options.from, SupplyFrom::File { .. }), "no scenario has counters in files");
        let urls = asked.map(|asked| asked.urls.clone()).unwrap_or_default();
        let marks = if options.persist { MarkStore::Files } else { MarkStore::Memory };
        let settings = SupplySettings {
            machine_start: Some(MachineStart { machine: "machine".into(), boot: stage.boot.clone() }),
            ..SupplySettings::of(&options, source, marks, FileAdvice::StateDir)
        };
        let (order, supply) = (options.order, Supply::new(settings, 7));
        let (callers, desk) = (BTreeMap::new(), Desk::default());
        Ok(Box::new(Supplies { name: name.into(), owner, options, urls, order, supply, callers, desk }))
    }

    fn begin(&mut self, id: CallId, mut call: Call, stage: &mut Stage) {
        let (name, sent) = match &mut call {
            Call::Http(http) => super::http::sent(http, &self.urls, stage.random(), stage.start_ms),
            Call::Fetch(FetchCall { tag, step, after, .. }) => {
                ("fetch".into(), json!({"tag": **tag, "step": step, "after": after}))
            }
            Call::ReadMark(read) => ("read_mark".into(), json!({"tag": *read.key().tag})),
            Call::UpdateMark(update) => ("update_mark".into(), json!({"tag": *update.key().tag})),
            call => (kind_of(&format!("{call:?}")), json!({})),
        };
        if matches!(call, Call::Http(_) | Call::Fetch(_)) || stage.lists(&name) {
            self.desk.new.push_back(Asked { id, name, sent, call });
        } else {
            let end = self.use_disk(call, stage, &Ending::default());
            self.supply.done(id, end, stage.clocks);
        }
    }

    fn use_disk(&self, call: Call, stage: &mut Stage, ending: &Ending) -> CallEnd {
        let (space, owner) = (&self.options.name[..], &self.owner[..]);
        let (clocks, now_ms, random) = (stage.clocks, stage.clocks.wall_ms, stage.random());
        let marks = (self.options.persist, self.order);
        stage.disk.supply(call, &For { space, owner, clocks, now_ms, random }, marks, ending)
    }

    fn end(&mut self, asked: Asked<Call>, words: &Words<'_>, stage: &mut Stage) {
        let end: CallEnd = match asked.call {
            Call::Http(call) => super::http::end(*call, words, &asked.sent, stage.start_ms).into(),
            Call::Fetch(fetch) => match (words.get("fails"), words.get("gives")) {
                (Some(said), None) => match failure(said) {
                    Ok(text) => fetch.failed(&text).into(),
                    Err(error) => fetch.end(Err(error)).into(),
                },
                (None, Some(Value::Null)) => fetch.end(Ok(None)).into(),
                (None, Some(value)) => fetch.end(fetched(value).map(Some)).into(),
                _ => panic!("it says neither what it gives nor how it fails, or both"),
            },
            call => self.use_disk(call, stage, &Ending::of(words)),
        };
        if words.is_set("twice") {
            self.supply.done(asked.id, CallEnd::clone(&end), stage.clocks);
        }
        self.supply.done(asked.id, end, stage.clocks);
    }

    /// Looks whether a caller has its ids, or none.
    fn look_at(&mut self, caller: &str, stage: &mut Stage) {
        let Some(&ticket) = self.callers.get(caller) else { return };
        let outcome = match self.supply.collect(ticket) {
            Collected::Waits => return,
            Collected::Ids(runs) => Ok(ids(&runs)),
            Collected::Failed { error, .. } => Err(error),
            Collected::Range(_) => panic!("no caller takes ranges"),
        };
        self.callers.remove(caller);
        stage.ends(caller, outcome);
    }

    fn tag(&self, name: &str) -> TagId {
        let found = self.supply.tags().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("no caller used the tag {name:?}")).1
    }

    /// What the buffer has, or a ticket.
    fn begin_take(
        &mut self,
        tag: &str,
        wish: Wish,
        stage: &Stage,
    ) -> Result<std::result::Result<Got, Ticket>> {
        self.options.check_tag(tag)?;
        let (tag, buffer) = self.supply.tag(tag)?;
        let Wish { mut count, mut had, .. } = wish;
        while count > 0 {
            match buffer.take_many(count) {
                Ok((run, wants_fetch)) => {
                    count -= run.count;
                    had.push(run);
                    if wants_fetch {
                        self.supply.wants_more(tag, stage.clocks);
                    }
                }
                Err(Empty::Sealed) => return Err(leafid_core::supply::closed()),
                Err(Empty::UsedUp) => {
                    let wish = Wish { count, had, ..wish };
                    return Ok(Err(self.supply.wait(tag, wish, stage.clocks)));
                }
            }
        }
        Ok(Ok(ids(&had)))
    }
}

impl Actor for Supplies {
    fn open_again(&mut self, _: &Words<'_>, _: &mut Stage) -> bool {
        false
    }

    fn drive(&mut self, stage: &mut Stage) {
        for _ in 0..1_000 {
            while let Some(notice) = self.supply.next_notice(stage.clocks) {
                match notice {
                    Notice::Wake(ticket) => {
                        let its = self.callers.iter().find(|(_, its)| **its == ticket);
                        let caller = its.map(|(caller, _)| caller.clone()).unwrap_or_default();
                        self.look_at(&caller, stage);
                    }
                    Notice::Abandon(id) => {
                        self.desk.check_abandoned(id);
                        stage.abandoned.push(id);
                    }
                    Notice::Log(level, text) => stage.log.push_back((level, text)),
                    Notice::Closed(result) => {
                        let before = stage.closed.insert(self.name.clone(), result);
                        assert!(before.is_none(), "it is closed twice");
                    }
                }
            }
            match self.supply.next_call(stage.clocks) {
                Some((id, call)) => self.begin(id, call, stage),
                None if self.supply.next_time().is_none_or(|due| due > stage.clocks.boot) => return,
                None => {}
            }
        }
        panic!("{} has always something to do: {:?}", self.name, self.supply);
    }

    fn next_time(&self, _: &Stage) -> Option<Duration> {
        self.supply.next_time()
    }

    fn asked(&self) -> Option<&str> {
        self.desk.new.front().map(|asked| &asked.name[..])
    }

    fn answer(&mut self, words: &Words<'_>, stage: &mut Stage) {
        if let Some(asked) = self.desk.take(words, &mut stage.names) {
            self.end(asked, words, stage);
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

    fn take(&mut self, words: &Words<'_>, caller: &str, stage: &mut Stage) {
        let ms = |said: i64| Duration::from_millis(said as u64);
        let wish = Wish {
            count: words.int("take").unwrap() as usize,
            had: Vec::new(),
            timeout: words.int("timeout_ms").map_or(self.options.timeout, ms),
            blocks_at_most: words.int("blocks_ms").map(ms),
        };
        let tag = words.text("tag").unwrap_or("order");
        match self.begin_take(tag, wish, stage) {
            Ok(Err(ticket)) => {
                let before = self.callers.insert(caller.into(), ticket);
                assert!(before.is_none(), "{caller} waits already");
                self.look_at(caller, stage);
            }
            Ok(Ok(got)) => stage.ends(caller, Ok(got)),
            Err(error) => stage.ends(caller, Err(error)),
        }
    }

    fn waits(&self, caller: &str) -> bool {
        self.callers.contains_key(caller)
    }

    fn leave(&mut self, caller: &str, stage: &mut Stage) {
        if let Some(ticket) = self.callers.remove(caller) {
            self.supply.cancel(ticket, stage.clocks);
        }
    }

    fn close(&mut self, _: &Words<'_>, stage: &mut Stage) {
        self.supply.close(stage.clocks);
    }

    fn stats(&self, words: &Words<'_>, _: &Stage) -> Value {
        let tag = self.tag(words.text("tag").unwrap_or("order"));
        let stats = self.supply.tag_stats(tag).unwrap();
        let last_error = stats.last_error.map(|error| error.to_string()).unwrap_or_default();
        if let Some(said) = words.text("last_error") {
            assert!(fits(said, &last_error), "{last_error:?}");
        }
        json!({
            "left": stats.left, "step": stats.step, "fetches": stats.fetches, "failures": stats.failures,
            "ids": stats.ids, "waiting": stats.waiting,
        })
    }

    fn owner(&self) -> &str {
        &self.owner
    }
}

fn ids(runs: &[Run]) -> Got {
    let each = |run: &Run| {
        let Run { first, stride, count } = *run;
        (0..count as i64).map(move |at| json!(first + at * stride))
    };
    Got::Ids(runs.iter().flat_map(each).collect())
}

/// A segment as a source gives it.
fn fetched(value: &Value) -> Result<Fetched> {
    let words = Words::of(value);
    let (start, end) = (words.int("start").unwrap(), words.int("end").unwrap());
    let (stride, step) = (words.int("stride").unwrap_or(1), words.int("step"));
    words.all_read();
    Ok(Fetched { segment: Segment::new(start, end, stride)?, step })
}
