//! How the host carries out calls: one step at a time, well or as fate has it.

use crate::disk;
use crate::process::{Stage, UnderWay};
use crate::servers::{FLAWS, Flaw, Servers};
use crate::world::World;
use leafid_core::supply::{Call, CallEnd, MarkStep, MarkUpdate};
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
}

/// The result of a step.
pub(crate) enum Step {
    /// It goes on with this stage.
    On(UnderWay),
    /// It has ended.
    Ends(Vec<CallEnd>),
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
        match self.random.below(9) {
            0 | 1 => Fate::FailsBefore,
            2 | 3 => Fate::FailsAfter,
            4 => Fate::Tears,
            5 => Fate::Forgets,
            6 => Fate::Twice,
            _ => Fate::Answers(self.random.pick(&FLAWS)),
        }
    }

    /// The next step of a call that is under way.
    pub(crate) fn carry_on(&mut self, who: usize, at: usize, fate: Fate) {
        let under_way = self.processes[who].calls.remove(at);
        let (id, before) = (under_way.id, under_way.clone());
        let step = match under_way.call.clone() {
            Call::ReadMark(read) => {
                let name = read.name();
                let found = match fate {
                    Fate::FailsBefore | Fate::FailsAfter => Err(failed(Code::StateIo)),
                    _ => Ok(self.disk.file(&name).map(|file| file.bytes.clone())),
                };
                Step::Ends(vec![read.end(found.as_ref().map(Option::as_deref).map_err(Error::clone), &name)])
            }
            Call::UpdateMark(update) => self.update_mark(who, under_way, *update, fate),
            Call::Fetch(fetch) => {
                let answer = self.fetch(&fetch.tag, fetch.step, fate);
                Step::Ends(vec![fetch.end(answer)])
            }
        };
        match step {
            Step::On(under_way) => self.processes[who].calls.insert(at, under_way),
            Step::Ends(ends) => {
                self.disk.unlock((self.processes[who].number, id.0));
                for end in ends {
                    self.end(who, &before, end.clone());
                    if fate == Fate::Twice {
                        self.end(who, &before, end);
                        self.saw("ended twice");
                    }
                }
            }
        }
    }

    fn end(&mut self, who: usize, call: &UnderWay, end: CallEnd) {
        let clocks = self.clocks(who);
        if call.is_abandoned {
            self.saw("ended late");
        }
        self.processes[who].supply.done(call.id, end, clocks);
    }

    /// What the user's code returns.
    fn fetch(&mut self, tag: &str, step: i64, fate: Fate) -> Result<Option<Fetched>> {
        let count = if step > 0 { step.min(self.scenario.step) } else { self.scenario.step };
        match fate {
            Fate::FailsBefore | Fate::Answers(Flaw::Busy | Flaw::Redirects) => {
                return Err(failed(Code::SegmentUnavailable));
            }
            Fate::Answers(Flaw::Unknown) => return Ok(None),
            Fate::Answers(Flaw::Garbage) => return Err(failed(Code::SourceInvalid)),
            Fate::Answers(Flaw::Repeats | Flaw::Behind) => {
                if let Some(segment) = self.counters.again(tag) {
                    self.saw("answered again");
                    return Ok(Some(segment.into()));
                }
            }
            _ => {}
        }
        let name = Servers::counter(self.scenario.kind, tag, self.random.below(2) as usize);
        let segment = self.counters.take(&name, count, 0);
        match fate {
            Fate::FailsAfter => Err(failed(Code::SegmentUnavailable)),
            _ => Ok(Some(segment.into())),
        }
    }

    fn update_mark(
        &mut self,
        who: usize,
        mut under_way: UnderWay,
        mut update: MarkUpdate,
        fate: Fate,
    ) -> Step {
        let name = update.name();
        let holder = (self.processes[who].number, under_way.id.0);
        match under_way.stage {
            Stage::New => {
                if fate == Fate::FailsBefore {
                    return Step::Ends(vec![update.end(Some(failed(Code::StateIo)))]);
                }
                self.disk.create(&name, &update.initial().expect("a new mark"), self.wall_ms);
                if self.disk.lock(&name, holder) {
                    under_way.stage = Stage::Locked;
                } else {
                    self.saw("a locked mark");
                }
                under_way.call = Call::UpdateMark(update.into());
                Step::On(under_way)
            }
            _ if fate == Fate::FailsBefore => Step::Ends(vec![update.end(Some(failed(Code::StateIo)))]),
            _ => {
                let bytes = self.disk.file(&name).expect("it is locked").bytes.clone();
                match update.step(&bytes, self.wall_ms + self.processes[who].skew_ms, &name) {
                    MarkStep::Done => Step::Ends(vec![update.end(None)]),
                    MarkStep::Write(offset, bytes) => {
                        let (how, is_reported) = match fate {
                            Fate::FailsAfter => (disk::Fate::Cached, true),
                            Fate::Tears => (disk::Fate::Torn, true),
                            Fate::Forgets => (disk::Fate::Lost, false),
                            _ => (disk::Fate::Durable, false),
                        };
                        self.disk.write(&name, offset, &bytes[..], how, self.wall_ms);
                        self.judge.look_at(&self.disk, &name);
                        if is_reported {
                            return Step::Ends(vec![update.end(Some(failed(Code::StateIo)))]);
                        }
                        if fate == Fate::Forgets {
                            self.saw("a forgotten write");
                            return Step::Ends(vec![update.end(None)]);
                        }
                        under_way.call = Call::UpdateMark(update.into());
                        under_way.stage = Stage::Written;
                        Step::On(under_way)
                    }
                }
            }
        }
    }
}
