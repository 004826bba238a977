//! One process of the world: a `Supply`, the calls that it carries out for it, and its callers.

use crate::counters::Kind;
use crate::judge::Begun;
use crate::scenario::Scenario;
use crate::servers::asked_for;
use leafid_core::call::CallId;
use leafid_core::supply::{Call, CallEnd, Notice, Supply, SupplySettings, TagId, Ticket};
use leafid_core::wire::{Request, Response};
use leafid_core::{DoubleBuffer, Run};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// A call that is under way.
#[derive(Clone, Debug)]
pub(crate) struct UnderWay {
    pub(crate) id: CallId,
    pub(crate) call: Call,
    pub(crate) tag: String,
    pub(crate) stage: Stage,
    /// The machine does not wait for it any more.
    pub(crate) is_abandoned: bool,
}

/// How far the host is with a call.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    New,
    /// The request is on its way.
    Sent(Request),
    /// The server has answered.
    Answered(Response),
    /// The file is locked.
    Locked,
}

/// A caller that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waits {
    pub(crate) tag: String,
    pub(crate) begun: Begun,
    pub(crate) count: usize,
    pub(crate) is_woken: bool,
}

/// A caller that took what the buffer had, and does not wait yet.
#[derive(Clone, Debug)]
pub(crate) struct Half {
    pub(crate) tag: String,
    pub(crate) begun: Begun,
    pub(crate) runs: Vec<Run>,
    pub(crate) count: usize,
    /// How long it will wait.
    pub(crate) timeout: Duration,
}

/// So many calls may be under way at a time.
pub(crate) const MOST_CALLS: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) number: u64,
    pub(crate) supply: Supply,
    pub(crate) calls: Vec<UnderWay>,
    pub(crate) waits: BTreeMap<Ticket, Waits>,
    pub(crate) halves: Vec<Half>,
    /// The tags that its callers know.
    pub(crate) tags: BTreeMap<String, TagId>,
    /// The marks of the tags, as they were when they were read last.
    pub(crate) read: BTreeMap<String, i64>,
    /// The callers of ranges past the buffer.
    pub(crate) ranges: BTreeMap<Ticket, String>,
    /// The last ids that a caller got, and may put back.
    pub(crate) had: Vec<(String, Vec<Run>)>,
    /// The last ends of calls, the latest first.
    pub(crate) ended: VecDeque<(CallId, CallEnd)>,
    /// How its tickets ended.
    pub(crate) gone: Vec<(Ticket, &'static str)>,
    /// How far its wall clock is from the world's.
    pub(crate) skew_ms: i64,
    pub(crate) is_closing: bool,
    pub(crate) closed: u32,
}

impl UnderWay {
    /// The file that it locks.
    pub(crate) fn file(&self) -> Option<String> {
        match &self.call {
            Call::UpdateMark(update) => Some(update.key().file_name()),
            _ => None,
        }
    }
}

impl Process {
    pub(crate) fn new(number: u64, settings: SupplySettings, seed: u64) -> Process {
        Process {
            number,
            supply: Supply::new(settings, seed),
            calls: Vec::new(),
            waits: BTreeMap::new(),
            halves: Vec::new(),
            tags: BTreeMap::new(),
            read: BTreeMap::new(),
            ranges: BTreeMap::new(),
            had: Vec::new(),
            ended: VecDeque::new(),
            gone: Vec::new(),
            skew_ms: 0,
            is_closing: false,
            closed: 0,
        }
    }

    /// A tag and its buffer, which its callers keep over a close.
    pub(crate) fn tag(&mut self, name: &str) -> Option<(TagId, Arc<DoubleBuffer>)> {
        if let Some(id) = self.tags.get(name) {
            return self.supply.buffer(*id).map(|buffer| (*id, buffer));
        }
        let (id, buffer) = self.supply.tag(name).ok()?;
        self.tags.insert(name.to_owned(), id);
        Some((id, buffer))
    }

    /// A driver begins a call.
    pub(crate) fn begins(&mut self, id: CallId, call: Call, scenario: &Scenario) {
        let tag = tag_of(&call);
        let beside = self.calls.iter().filter(|other| !other.is_abandoned && other.tag == tag).count();
        if let Some(after) = after_of(&call).filter(|_| !scenario.holds_marks) {
            assert!(
                after >= self.read[&tag],
                "{call:?} after {after}, and its mark was read: {}",
                self.read[&tag]
            );
        }
        assert!(self.calls.iter().all(|other| other.id != id), "{id:?} was given twice");
        assert!(
            beside == 0 || scenario.kind == Kind::Leaf || scenario.holds_marks,
            "{call:?} began beside another call of its tag: {:?}",
            self.calls
        );
        let running = self.calls.iter().filter(|other| !other.is_abandoned).count();
        // Each tag of a Leaf also has its mark, and ranges past the buffer have no bound of their own.
        let most = if scenario.kind == Kind::Leaf || scenario.holds_marks { 64 } else { MOST_CALLS };
        assert!(running < most, "{running} calls are under way as {call:?} begins");
        self.calls.push(UnderWay { id, call, tag, stage: Stage::New, is_abandoned: false });
    }

    /// The host takes a notice.
    pub(crate) fn hears(&mut self, notice: Notice) {
        match notice {
            Notice::Wake(ticket) if self.ranges.contains_key(&ticket) => {}
            Notice::Wake(ticket) => {
                let waits = self
                    .waits
                    .get_mut(&ticket)
                    .unwrap_or_else(|| panic!("{ticket:?} is woken, and gone: {:?}", self.gone));
                assert!(!waits.is_woken, "{ticket:?} is woken twice");
                waits.is_woken = true;
            }
            Notice::Abandon(id) => {
                self.calls.iter_mut().filter(|call| call.id == id).for_each(|call| call.is_abandoned = true);
            }
            Notice::Log(..) => {}
            Notice::Closed(_) => {
                assert!(self.is_closing, "it is closed, and no caller closes it");
                self.closed += 1;
                assert_eq!(self.closed, 1, "it is closed twice");
            }
        }
    }
}

/// The mark that is passed to the source.
fn after_of(call: &Call) -> Option<i64> {
    match call {
        Call::Fetch(fetch) => Some(fetch.after),
        _ => None,
    }
}

fn tag_of(call: &Call) -> String {
    match call {
        Call::ListMarks(_) | Call::UpdateCounter(_) => String::new(),
        Call::ReadMark(read) => read.key().tag.to_string(),
        Call::UpdateMark(update) => update.key().tag.to_string(),
        Call::Fetch(fetch) => fetch.tag.to_string(),
        Call::GiveBack(back) => back.tag.to_string(),
        Call::Http(call) => asked_for(&call.clone().request(0)),
    }
}

pub(crate) fn ids_of(runs: &[Run]) -> Vec<i64> {
    let ids = |run: &Run| (0..run.count as i64).map(|n| run.first + n * run.stride).collect::<Vec<_>>();
    runs.iter().flat_map(ids).collect()
}
