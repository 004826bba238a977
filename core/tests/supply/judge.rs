//! The judge of the world: it sees every id that a caller got, over all processes and restarts, and every mark on the
//! disk. It panics at the first broken rule.

use crate::counters::is_of;
use crate::disk::Disk;
use leafid_core::format::mark::Mark;
use leafid_core::format::shared;
use std::collections::{BTreeMap, HashSet};

/// What a caller saw as its call began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The highest id of the calls of this tag and process that had ended by then.
    above: i64,
}

/// The ids of one tag in one process.
#[derive(Clone, Debug, Default)]
struct OfProcess {
    highest: i64,
    /// Ids below went back at some time: they may be issued after higher ones.
    went_back: i64,
}

/// All that it knows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judge {
    issued: BTreeMap<String, HashSet<i64>>,
    marks: BTreeMap<String, i64>,
    processes: BTreeMap<(u64, String), OfProcess>,
    /// Whether each segment of a source lies above all before it.
    pub(crate) ascends: bool,
    /// Whether marks are in files.
    pub(crate) has_marks: bool,
    /// The number of ids that callers got.
    pub(crate) ids: u64,
}

impl Judge {
    pub(crate) fn new(ascends: bool, has_marks: bool) -> Judge {
        Judge { ascends, has_marks, ..Judge::default() }
    }

    /// Reads a mark as it would outlive a power cut.
    pub(crate) fn look_at(&mut self, disk: &Disk, name: &str) {
        let bytes = disk.durable(name).expect("it is there");
        let (found, _, _) = shared::read::<Mark>(name, bytes)
            .unwrap_or_else(|error| panic!("the mark {name} is damaged in both slots: {error}"));
        let (tag, mark) = (found.content.tag, found.content.mark.0);
        let before = self.marks.insert(tag.clone(), mark).unwrap_or_default();
        assert!(before <= mark, "the mark of {tag} went down from {before} to {mark}");
    }

    /// The durable mark of a tag.
    pub(crate) fn mark(&self, tag: &str) -> i64 {
        self.marks.get(tag).copied().unwrap_or_default()
    }

    /// A caller begins to ask for ids.
    pub(crate) fn begins(&self, process: u64, tag: &str) -> Begun {
        let of = self.processes.get(&(process, tag.to_owned()));
        Begun { above: of.map_or(0, |of| of.highest) }
    }

    /// A caller has these ids. `is_alone`: no other call of the tag waits, whose ids may have gone back unseen.
    pub(crate) fn issued(&mut self, process: u64, tag: &str, ids: &[i64], begun: Begun, is_alone: bool) {
        let mark = self.mark(tag);
        let all = self.issued.entry(tag.to_owned()).or_default();
        let of = self.processes.entry((process, tag.to_owned())).or_default();
        for &id in ids {
            assert!(all.insert(id), "process {process} issued {id} of {tag}, which was issued before");
            assert!(is_of(tag, id), "process {process} issued {id} of {tag}, whose source has no such id");
            assert!(
                !self.has_marks || id < mark,
                "process {process} issued {id} of {tag}, and its durable mark is {mark}"
            );
            assert!(
                !self.ascends || !is_alone || id > begun.above || id < of.went_back,
                "process {process} issued {id} of {tag} to a call that began after {} was issued",
                begun.above
            );
            of.highest = of.highest.max(id);
        }
        if !is_alone {
            of.went_back = mark;
        }
        self.ids += ids.len() as u64;
    }

    /// A caller puts back ids that it got and did not use.
    pub(crate) fn put_back(&mut self, process: u64, tag: &str, ids: &[i64]) {
        let all = self.issued.entry(tag.to_owned()).or_default();
        ids.iter().for_each(|id| assert!(all.remove(id), "{id} was put back, which was not issued"));
        self.goes_back(process, tag);
        self.ids -= ids.len() as u64;
    }

    /// Ids go back that no caller got.
    pub(crate) fn goes_back(&mut self, process: u64, tag: &str) {
        let mark = self.mark(tag);
        self.processes.entry((process, tag.to_owned())).or_default().went_back = mark;
    }

    /// A process has ended.
    pub(crate) fn ended(&mut self, process: u64) {
        self.processes.retain(|(of, _), _| *of != process);
    }
}
