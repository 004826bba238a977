//! How the host carries out calls: one step at a time, well or as fate has it.

use crate::disk;
use crate::process::{Stage, UnderWay};
use crate::servers::{FLAWS, Flaw, Servers};
use crate::world::World;
use leafid_core::call::{FileAction, IoFailure, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::http::{HttpCall, NoResponse};
use leafid_core::supply::mark_read::{MarkList, MarkRead};
use leafid_core::supply::mark_update::MarkUpdate;
use leafid_core::supply::{Call, CallEnd, FetchCall, GiveBack};
use leafid_core::{Code, Error, Fetched, Result};

/// What becomes of a call in its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Well,
    /// It fails, and nothing has happened.
    FailsBefore,
    /// It has its effect, and is reported as failed.
    FailsAfter,
    /// Half of a write is there.
    Tears,
    /// The host leaves out a step.
    Forgets,
    /// The source answers wrongly.
    Answers(Flaw),
    /// Its end is reported twice.
    Twice,
    /// Its end is reported for another call as well.
    Strays,
    /// The host never reports the end of a request to a server.
    Hangs,
}

/// The result of a step.
enum Step {
    /// It goes on.
    On(UnderWay),
    /// It has ended.
    Ends(CallEnd),
}

fn io(action: FileAction) -> SharedFailure {
    SharedFailure::Io(action, IoFailure::other("as the world has it"))
}

fn failed(code: Code) -> Error {
    Error::new(code, "as the world has it")
}

impl World {
    /// The fate of the next step of a call.
    pub(crate) fn fate(&mut self) -> Fate {
        if self.random.below(100) >= self.scenario.faults {
            return Fate::Well;
        }
        match self.random.below(11) {
            0 | 1 => Fate::FailsBefore,
            2 | 3 => Fate::FailsAfter,
            4 => Fate::Tears,
            5 => Fate::Forgets,
            6 => Fate::Twice,
            7 => Fate::Strays,
            8 => Fate::Hangs,
            _ => Fate::Answers(self.random.pick(&FLAWS)),
        }
    }

    /// The next step of a call that is under way.
    pub(crate) fn carry_on(&mut self, who: usize, at: usize, fate: Fate) {
        let under_way = self.processes[who].calls.remove(at);
        let (id, is_abandoned) = (under_way.id, under_way.is_abandoned);
        if fate == Fate::Hangs && matches!(under_way.call, Call::Http(_)) {
            return self.saw("no end");
        }
        let step = match under_way.call.clone() {
            Call::ListMarks(list) => Step::Ends(self.list(*list, fate)),
            Call::ReadMark(read) => Step::Ends(self.read_mark(who, read, fate)),
            Call::UpdateMark(update) => self.update_mark(who, under_way, *update, fate),
            Call::UpdateCounter(_) => unreachable!("no world has counters in files"),
            Call::GiveBack(back) => Step::Ends(self.give_back(back, fate)),
            Call::Fetch(fetch) => Step::Ends(self.fetch(fetch, fate)),
            Call::Http(call) => self.http(who, under_way, *call, fate),
        };
        let end = match step {
            Step::On(under_way) => return self.processes[who].calls.insert(at, under_way),
            Step::Ends(end) => end,
        };
        self.disk.unlock((self.processes[who].number, id.0));
        if is_abandoned {
            self.saw("ended late");
        }
        let clocks = self.clocks(who);
        self.processes[who].supply.done(id, end.clone(), clocks);
        let ended = &mut self.processes[who].ended;
        ended.push_front((id, end.clone()));
        ended.truncate(4);
        if fate == Fate::Twice {
            self.processes[who].supply.done(id, end, clocks);
            self.saw("ended twice");
        } else if fate == Fate::Strays && !self.processes[who].calls.is_empty() {
            let at = self.random.below(self.processes[who].calls.len() as u64) as usize;
            let other = self.processes[who].calls[at].id;
            self.processes[who].supply.done(other, end, clocks);
            self.saw("strayed");
        }
    }

    /// An end that was reported is reported once more, when other calls of its tag may be under way.
    pub(crate) fn ends_again(&mut self, who: usize) {
        let (clocks, at) = (self.clocks(who), self.random.below(4) as usize);
        let process = &mut self.processes[who];
        if let Some((id, end)) = process.ended.get(at).cloned() {
            process.supply.done(id, end, clocks);
            self.saw("ended again");
        }
    }

    fn list(&mut self, mut list: MarkList, fate: Fate) -> CallEnd {
        if fate != Fate::Well {
            return list.failed("/marks", &IoFailure::other("as the world has it")).into();
        }
        let prefix = list.prefix();
        for (name, file) in self.disk.files().filter(|(name, _)| name.starts_with(&prefix)) {
            list.add(name, &file.bytes);
        }
        self.saw("listed");
        list.end(self.wall_ms).into()
    }

    fn read_mark(&mut self, who: usize, read: MarkRead, fate: Fate) -> CallEnd {
        let (name, tag) = (read.key().file_name(), read.key().tag.to_string());
        let mark = self.judge.mark(&tag);
        self.processes[who].read.insert(tag, mark);
        match fate {
            Fate::FailsBefore | Fate::FailsAfter => read.failed(&name, &io(FileAction::Read)).into(),
            _ => read.end(self.disk.file(&name).map(|file| &file.bytes[..]), &name).into(),
        }
    }

    fn fetch(&mut self, fetch: FetchCall, fate: Fate) -> CallEnd {
        match (fate, self.random.below(3)) {
            (Fate::Forgets, 0) => fetch.dropped().into(),
            (Fate::Forgets, 1) => fetch.panicked().into(),
            (Fate::Forgets, _) => fetch.failed("out of order").into(),
            _ => {
                let answer = self.answer(&fetch.tag, fetch.step, fate);
                fetch.end(answer).into()
            }
        }
    }

    /// The store takes ids back, unless it gave others since.
    fn give_back(&mut self, back: GiveBack, fate: Fate) -> CallEnd {
        let fails = matches!(fate, Fate::FailsBefore | Fate::FailsAfter);
        if fate != Fate::FailsBefore && self.counters.take_back(back.ids) {
            self.saw("given back");
        }
        back.end(if fails { Err(failed(Code::SegmentUnavailable)) } else { Ok(()) }).into()
    }

    /// What the user's code returns.
    fn answer(&mut self, tag: &str, step: i64, fate: Fate) -> Result<Option<Fetched>> {
        let name = Servers::counter(self.scenario.kind, tag, self.random.below(2) as usize);
        match fate {
            Fate::FailsBefore | Fate::Answers(Flaw::Busy | Flaw::Redirects) => {
                return Err(failed(Code::SegmentUnavailable));
            }
            Fate::Answers(Flaw::Unknown) => return Ok(None),
            Fate::Answers(Flaw::Garbage) => return Err(failed(Code::SourceInvalid)),
            Fate::Answers(Flaw::Repeats | Flaw::Behind) => {
                if let Some(segment) = self.counters.again(&name) {
                    self.saw("answered again");
                    return Ok(Some(segment.into()));
                }
            }
            _ => {}
        }
        let count = if step > 0 { step.min(self.scenario.step) } else { self.scenario.step };
        let segment = self.counters.take(&name, count, 0);
        match fate {
            Fate::FailsAfter => Err(failed(Code::SegmentUnavailable)),
            _ => Ok(Some(segment.into())),
        }
    }

    fn http(&mut self, who: usize, mut under_way: UnderWay, mut call: HttpCall, fate: Fate) -> Step {
        match under_way.stage {
            Stage::Sent(request) => {
                if fate == Fate::FailsBefore {
                    let is_stale = self.random.below(2) == 0;
                    return Step::Ends(call.failed(NoResponse::Closed, is_stale).into());
                }
                let flaw = if let Fate::Answers(flaw) = fate { flaw } else { Flaw::None };
                let answer = self.servers.answer(&mut self.counters, call.server, &request, flaw);
                if flaw == Flaw::Repeats {
                    self.saw("answered again");
                }
                if fate == Fate::FailsAfter {
                    return Step::Ends(call.failed(NoResponse::TimedOut, false).into());
                }
                under_way.stage = Stage::Answered(answer);
            }
            Stage::Answered(answer) => return Step::Ends(call.end(&answer).0.into()),
            _ if fate == Fate::FailsBefore => {
                return Step::Ends(call.failed(NoResponse::ConnectTimedOut, false).into());
            }
            _ => {
                let random = u128::from(self.random.next()) << 64 | u128::from(self.random.next());
                let request = call.request(random);
                let after = request.path.split("after=").nth(1).and_then(|rest| rest.split('&').next());
                let after = after.map(|after| after.parse::<i64>().expect("a mark"));
                if let Some(after) = after.filter(|_| !under_way.is_abandoned) {
                    let read = self.processes[who].read[&under_way.tag];
                    assert!(after >= read, "{call:?} after {after}, and its mark was read: {read}");
                }
                under_way.stage = Stage::Sent(request);
            }
        }
        under_way.call = Call::Http(call.into());
        Step::On(under_way)
    }

    fn update_mark(
        &mut self,
        who: usize,
        mut under_way: UnderWay,
        mut update: MarkUpdate,
        fate: Fate,
    ) -> Step {
        let name = update.key().file_name();
        let holder = (self.processes[who].number, under_way.id.0);
        if fate == Fate::FailsBefore {
            return Step::Ends(update.failed(&name, &io(FileAction::Open)).into());
        }
        if matches!(under_way.stage, Stage::New) {
            if let Some(bytes) = update.initial().expect("a new mark fits") {
                self.disk.create(&name, &bytes, self.wall_ms);
            }
            if self.disk.file(&name).is_none() {
                return Step::Ends(update.missing().into());
            }
            match self.disk.lock(&name, holder) {
                true => under_way.stage = Stage::Locked,
                false => self.saw("a locked mark"),
            }
            return Step::On(under_way);
        }
        let file = self.disk.file(&name).expect("it is locked");
        let now_ms = self.wall_ms + self.processes[who].skew_ms;
        let facts = FileFacts { id: file.id, changed_ms: file.changed_ms, now_ms };
        let FileStep::Write { offset, bytes, .. } = update.step(&file.bytes, facts, &name) else {
            return Step::Ends(update.end().into());
        };
        let how = match fate {
            Fate::FailsAfter => disk::Fate::Cached,
            Fate::Tears => disk::Fate::Torn,
            Fate::Forgets => disk::Fate::Lost,
            _ => disk::Fate::Durable,
        };
        self.disk.write(&name, offset, &bytes[..], how, self.wall_ms);
        self.judge.look_at(&self.disk, &name);
        match fate {
            Fate::FailsAfter | Fate::Tears => {
                return Step::Ends(update.failed(&name, &io(FileAction::Write)).into());
            }
            Fate::Forgets => {
                self.saw("a forgotten write");
                if self.random.below(2) == 0 {
                    return Step::Ends(update.end().into());
                }
            }
            _ => {}
        }
        under_way.call = Call::UpdateMark(update.into());
        Step::On(under_way)
    }
}
