//! The counters of the world: what a user's callback, a database behind servers, or a Leaf counts up. A counter can be
//! restored to an earlier state, as from a backup, and raised by an operator.

use crate::common::Random;
use crate::scenario::TAGS;
use leafid_core::Segment;
use std::collections::BTreeMap;

/// The numbers of all counters of a tag.
const FOR_A_TAG: i64 = 1_000_000;

/// Where the ids of a scenario come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// A callback of the user's, whose ids ascend.
    Callback,
    /// A callback over several counters, whose ids come in no order.
    Ranges,
    /// leafid's own server, several of one database.
    Range,
    /// Two tinyid servers with a database each: one has the even ids, the other the odd ones.
    Tinyid,
    /// Two nodes of a Leaf, which return ids one by one.
    Leaf,
}

/// One counter, and the states that a backup has of it.
#[derive(Clone, Debug)]
pub(crate) struct Counter {
    next: i64,
    highest: i64,
    backups: Vec<i64>,
}

/// All counters of the world, by a name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters {
    by_name: BTreeMap<String, Counter>,
    /// What a node of a Leaf has left of the segment that it took.
    nodes: BTreeMap<String, (i64, i64)>,
    last: BTreeMap<String, Segment>,
    pub(crate) restored: u64,
}

impl Counters {
    fn of(&mut self, name: &str) -> &mut Counter {
        let first = first_of(name);
        let new = || Counter { next: first, highest: first, backups: vec![first] };
        self.by_name.entry(name.to_owned()).or_insert_with(new)
    }

    /// The next `count` numbers, none below `after`.
    pub(crate) fn take(&mut self, name: &str, count: i64, after: i64) -> Segment {
        let counter = self.of(name);
        let start = counter.next.max(after);
        counter.next = start + count;
        counter.highest = counter.highest.max(counter.next);
        counter.backups.push(start);
        let segment = Segment::new(start, start + count, 1).expect("a counter counts up");
        self.last.insert(name.to_owned(), segment);
        segment
    }

    /// Takes ids back, if none were taken since from the counter that gave them.
    pub(crate) fn take_back(&mut self, ids: Segment) -> bool {
        let counter = self.by_name.values_mut().find(|counter| counter.next == ids.end());
        counter.map(|counter| counter.next = ids.start()).is_some()
    }

    /// The last answer, once more: of a proxy, or of a replica without the last commit.
    pub(crate) fn again(&self, name: &str) -> Option<Segment> {
        self.last.get(name).copied()
    }

    /// One number of a node of a Leaf, which takes `step` of them at a time.
    pub(crate) fn one(&mut self, name: &str, node: usize, step: i64) -> i64 {
        let key = format!("{name} {node}");
        let (next, end) = self.nodes.get(&key).copied().unwrap_or_default();
        let (next, end) = match next < end {
            true => (next, end),
            false => {
                let segment = self.take(name, step, 0);
                (segment.start(), segment.end())
            }
        };
        self.nodes.insert(key, (next + 1, end));
        next
    }

    /// A counter goes back to a state of its backups. Nodes start again with it.
    pub(crate) fn restore(&mut self, random: &mut Random) {
        let names: Vec<String> = self.by_name.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let name = &names[random.below(names.len() as u64) as usize];
        let counter = self.of(name);
        counter.next = counter.backups[random.below(counter.backups.len() as u64) as usize];
        self.nodes.clear();
        self.restored += 1;
    }

    /// An operator raises all counters above what they gave, as the errors advise.
    pub(crate) fn raise(&mut self) {
        self.by_name.values_mut().for_each(|counter| counter.next = counter.highest);
        self.nodes.clear();
    }
}

/// Where a counter begins: no two give the same number.
fn first_of(name: &str) -> i64 {
    let (tag, database) = name.split_once('@').unwrap_or((name, "0"));
    let at = TAGS.iter().position(|of| *of == tag).expect("a tag of the world") as i64;
    1 + at * FOR_A_TAG + database.parse::<i64>().expect("a number") * FOR_A_TAG / 2
}

/// Whether an id may be of a tag.
pub(crate) fn is_of(tag: &str, id: i64) -> bool {
    (first_of(tag)..first_of(tag) + FOR_A_TAG).contains(&id)
}
