//! The machine `Supply`: each path of a fetch, of a caller, and of a close. Its host here ends each call at once, and as
//! the test says.

mod callers;
mod forgotten;
mod limits;
mod memory;
mod served;
mod server;
mod stores;
mod table;

use leafid_core::call::{CallId, Clocks, FileAdvice};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::supply::mark_update::{MarkUpdate, MarkUpdated};
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::supply::{
    Call, CallEnd, Collected, MarkStore, Notice, Prewarm, Source, Supply, SupplySettings, TagId, Ticket, Wish,
};
use leafid_core::{DoubleBuffer, Error, Fetched, IdOrder, Result, Run, Segment};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A host of one thread: its clocks stand unless a test moves them.
pub(crate) struct Host {
    pub(crate) supply: Supply,
    pub(crate) now: Duration,
    pub(crate) marks: BTreeMap<String, MemoryMark>,
    /// The files of the marks, if they are in files.
    pub(crate) files: Option<BTreeMap<String, Vec<u8>>>,
    /// The counter of the source, and the errors that it returns first.
    pub(crate) next: i64,
    pub(crate) errors: Vec<Error>,
    /// The number of ids that it gives at most.
    pub(crate) most: i64,
    pub(crate) asked: Vec<(String, i64, i64)>,
    pub(crate) given_back: Vec<(String, Segment)>,
    pub(crate) notices: Vec<Notice>,
}

pub(crate) fn settings() -> SupplySettings {
    SupplySettings {
        source: Source::Callback { is_deferred: false },
        source_name: "callback".into(),
        order: IdOrder::Ascending,
        step: Some(10),
        adaptive: false,
        prefetch: 10,
        marks: MarkStore::Memory,
        advice: FileAdvice::StateDir,
        keep_unused: false,
        machine_start: None,
        prewarm: Prewarm::None,
    }
}

impl Host {
    pub(crate) fn new(settings: SupplySettings) -> Host {
        Host {
            files: (settings.marks == MarkStore::Files).then(BTreeMap::new),
            supply: Supply::new(settings, 1),
            now: Duration::from_secs(1_000),
            marks: BTreeMap::new(),
            next: 1,
            errors: Vec::new(),
            most: i64::MAX,
            asked: Vec::new(),
            given_back: Vec::new(),
            notices: Vec::new(),
        }
    }

    pub(crate) fn clocks(&self) -> Clocks {
        Clocks { wall_ms: 1_700_000_000_000 + self.now.as_millis() as i64, boot: self.now }
    }

    pub(crate) fn tag(&mut self, name: &str) -> (TagId, Arc<DoubleBuffer>) {
        self.supply.tag(name).unwrap()
    }

    pub(crate) fn wait(&mut self, tag: TagId, count: usize) -> Ticket {
        let wish = Wish { count, timeout: Duration::from_secs(2), ..Wish::default() };
        self.supply.wait(tag, wish, self.clocks())
    }

    pub(crate) fn answer(&mut self, step: i64) -> Result<Option<Fetched>> {
        match self.errors.is_empty() {
            true => {
                let start = self.next;
                // A request without a number gets ten.
                self.next += if step == 0 { 10 } else { step }.min(self.most);
                Ok(Some(Segment::new(start, self.next, 1)?.into()))
            }
            false => Err(self.errors.remove(0)),
        }
    }

    /// Carries out one call. Returns false if there is none.
    pub(crate) fn step(&mut self) -> bool {
        let Some((id, call)) = self.supply.next_call(self.clocks()) else { return false };
        self.carry_out(id, call);
        true
    }

    pub(crate) fn carry_out(&mut self, id: CallId, call: Call) {
        let end = self.end_of(call);
        self.supply.done(id, end, self.clocks());
    }

    pub(crate) fn end_of(&mut self, call: Call) -> CallEnd {
        match call {
            Call::ReadMark(read) if self.files.is_some() => {
                let name = read.key().file_name();
                let found = self.files.as_ref().and_then(|files| files.get(&name));
                read.end(found.map(|bytes| &bytes[..]), &name).into()
            }
            Call::UpdateMark(update) if self.files.is_some() => self.update_file(*update).into(),
            Call::ReadMark(read) => {
                let mark = self.marks.get(&*read.key().tag);
                read.end_in_memory(mark).into()
            }
            Call::UpdateMark(update) => {
                let mark = self.marks.entry(update.key().tag.to_string());
                update.end_in_memory(mark.or_insert_with(|| MemoryMark::new(IdOrder::Ascending))).into()
            }
            Call::Fetch(fetch) => {
                self.asked.push((fetch.tag.to_string(), fetch.step, fetch.after));
                let answer = self.answer(fetch.step);
                fetch.end(answer).into()
            }
            Call::GiveBack(back) => {
                self.given_back.push((back.tag.to_string(), back.ids));
                back.end(Ok(())).into()
            }
            Call::ListMarks(_) | Call::UpdateCounter(_) | Call::Http(_) => {
                panic!("{call:?} is of another source")
            }
        }
    }

    fn update_file(&mut self, mut update: MarkUpdate) -> MarkUpdated {
        let (name, now_ms) = (update.key().file_name(), self.clocks().wall_ms);
        let files = self.files.as_mut().unwrap();
        if !files.contains_key(&name) {
            let Some(new) = update.initial().unwrap() else { return update.missing() };
            files.insert(name.clone(), new.to_vec());
        }
        let file = files.get_mut(&name).unwrap();
        while let FileStep::Write { offset, bytes, .. } =
            update.step(file, FileFacts { id: (1, 2), changed_ms: now_ms, now_ms }, &name)
        {
            file[offset..offset + bytes.len()].copy_from_slice(&bytes[..]);
        }
        update.end()
    }

    /// Drives until there is no call and no notice.
    pub(crate) fn drive(&mut self) {
        while self.step() {}
        while let Some(notice) = self.supply.next_notice(self.clocks()) {
            self.notices.push(notice);
        }
    }

    /// Moves the clock to each time that the machine asks for, until this one.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        self.drive();
        while let Some(at) = self.supply.next_time().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.drive();
        }
        self.now = until;
    }

    pub(crate) fn collect(&mut self, ticket: Ticket) -> std::result::Result<Vec<i64>, String> {
        match self.supply.collect(ticket) {
            Collected::Ids(runs) => Ok(ids(&runs)),
            Collected::Failed { error, .. } => Err(error.to_string()),
            other => Err(format!("{other:?}")),
        }
    }
}

pub(crate) fn ids(runs: &[Run]) -> Vec<i64> {
    runs.iter().flat_map(|run| (0..run.count as i64).map(|n| run.first + n * run.stride)).collect()
}
