//! Properties of a tag's buffer: each id of a source is issued once or is still there.

use super::*;
use crate::cases::holds;
use leafid_core::{Code, Error};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Operation {
    /// The source returned this number of ids with this stride, this far above the last.
    Fetched(i64, i64, i64),
    /// It failed.
    Failed,
    Take,
    TakeMany(usize),
    /// Ids that a handle reserves and issues later.
    TakeRun(usize),
    /// The unused ids of such a run come back, after this number of ids was issued.
    PutBack(usize, usize),
    /// A call that has waited for long gets priority.
    Prioritize(usize),
    /// Its end: it has its ids, or it timed out and puts all of them back.
    TakeServed {
        late: bool,
    },
    Seal,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let length = prop_oneof![1..5i64, 1..200i64];
    let operation = prop_oneof![
        5 => (length, prop_oneof![3 => Just(1), 1 => 1..5i64], 0..4i64).prop_map(|(l, s, a)| Operation::Fetched(l, s, a)),
        1 => Just(Operation::Failed),
        8 => Just(Operation::Take),
        3 => (1..60usize).prop_map(Operation::TakeMany),
        4 => (1..60usize).prop_map(Operation::TakeRun),
        3 => (0..4usize, 0..60usize).prop_map(|(which, issued)| Operation::PutBack(which, issued)),
        1 => (1..100usize).prop_map(Operation::Prioritize),
        1 => any::<bool>().prop_map(|late| Operation::TakeServed { late }),
    ];
    (prop::collection::vec(operation, 1..150), any::<bool>()).prop_map(|(mut operations, early)| {
        if early {
            operations.insert(operations.len() * 2 / 3, Operation::Seal);
        }
        operations
    })
}

fn ids(run: &Run) -> impl Iterator<Item = i64> + use<> {
    let Run { first, stride, count } = *run;
    (0..count as i64).map(move |n| first + n * stride)
}

/// The ids of the source that were not issued.
struct Model {
    tag_state: TagState,
    end: i64,
    in_memory: BTreeSet<i64>,
    /// The runs of handles.
    kept: Vec<Run>,
    priority_calls: Vec<u64>,
    sealed: bool,
    /// The last id, while ids must come in ascending order.
    ordered: Option<i64>,
}

impl Model {
    fn new(stock: Option<Stock>) -> Model {
        let tag_state = TagState::new(
            "order".into(),
            AdaptiveStep::new(100, true),
            10,
            stock,
            crate::os::process::generation(),
        );
        Model {
            tag_state,
            end: 0,
            in_memory: BTreeSet::new(),
            kept: Vec::new(),
            priority_calls: Vec::new(),
            sealed: false,
            ordered: Some(-1),
        }
    }

    /// These ids leave the tag. Each must have been in memory.
    fn leaves(&mut self, run: &Run) -> std::result::Result<(), TestCaseError> {
        prop_assert!(!self.sealed, "{:?} after the seal", run);
        for id in ids(run) {
            prop_assert!(self.in_memory.remove(&id), "{} was not in memory", id);
            if let Some(last) = &mut self.ordered {
                prop_assert!(id > *last, "{} after {}", id, last);
                *last = id;
            }
        }
        Ok(())
    }

    fn comes_back(&mut self, run: Run) {
        self.ordered = None;
        self.tag_state.put_back(&[run]);
        self.in_memory.extend(ids(&run));
    }

    fn do_it(&mut self, operation: Operation) -> std::result::Result<(), TestCaseError> {
        match operation {
            Operation::Fetched(length, stride, above) if !self.sealed => {
                let start = self.end + above;
                let segment = Segment::new(start, start + length * stride, stride).unwrap();
                self.end = segment.end();
                self.in_memory.extend((0..segment.len()).filter_map(|n| segment.id(n)));
                let refilled = self.tag_state.locked(|state| {
                    state.pending.push_back(segment);
                    self.tag_state.refill(state);
                });
                prop_assert!(refilled.is_some());
            }
            Operation::Fetched(..) => {}
            Operation::Failed => {
                self.tag_state.locked(|state| {
                    _ = state.fetch.failed(Error::new(Code::SegmentUnavailable, "down"), false, false, 1, 2)
                });
            }
            Operation::Take => {
                if let Ok((first, _)) = self.tag_state.buffer.take() {
                    self.leaves(&Run { first, stride: 1, count: 1 })?;
                }
            }
            Operation::TakeMany(most) => {
                if let Ok((run, _)) = self.tag_state.buffer.take_many(most) {
                    self.leaves(&run)?;
                }
            }
            Operation::TakeRun(most) => {
                if let Ok((run, _)) = self.tag_state.buffer.take_run(most) {
                    self.leaves(&run)?;
                    self.kept.push(run);
                }
            }
            Operation::PutBack(which, issued) => {
                if !self.kept.is_empty() {
                    let Run { first, stride, count } = self.kept.swap_remove(which % self.kept.len());
                    let issued = issued.min(count);
                    self.comes_back(Run {
                        first: first + issued as i64 * stride,
                        stride,
                        count: count - issued,
                    });
                }
            }
            Operation::Prioritize(left) => {
                self.ordered = None;
                self.priority_calls.extend(self.tag_state.prioritize(None, left));
            }
            Operation::TakeServed { late } => {
                if let Some(number) = self.priority_calls.pop() {
                    let runs = self.tag_state.take_served(number);
                    for run in &runs {
                        // They may have been given before a seal, or put back after it.
                        for id in ids(run) {
                            prop_assert!(self.in_memory.remove(&id), "{} was not in memory", id);
                        }
                    }
                    if late {
                        runs.into_iter().rev().for_each(|run| self.comes_back(run));
                    }
                }
            }
            Operation::Seal => self.seal()?,
        }
        Ok(())
    }

    /// The unused ids are exact. Ids that calls already have stay theirs.
    fn seal(&mut self) -> std::result::Result<(), TestCaseError> {
        while let Some(number) = self.priority_calls.pop() {
            let runs = self.tag_state.take_served(number);
            let held: BTreeSet<i64> = runs.iter().flat_map(ids).collect();
            self.in_memory.retain(|id| !held.contains(id));
        }
        let rest = self.tag_state.seal();
        let told: Vec<i64> =
            rest.iter().flat_map(|part| (0..part.len()).filter_map(|n| part.id(n))).collect();
        prop_assert!(told.iter().copied().eq(std::mem::take(&mut self.in_memory)), "{:?}", rest);
        self.sealed = true;
        Ok(())
    }

    /// The tag counts the ids in memory correctly, apart from those that calls have.
    fn counts(&self) -> std::result::Result<(), TestCaseError> {
        let (left, held) = self
            .tag_state
            .locked(|state| {
                let held: usize =
                    state.priority_calls.values().flat_map(|call| &call.runs).map(|run| run.count).sum();
                (self.tag_state.left(state), held)
            })
            .unwrap_or_default();
        prop_assert!(self.sealed || left as usize + held == self.in_memory.len());
        Ok(())
    }
}

#[test]
fn each_id_of_a_source_is_issued_once_or_is_still_there() {
    let stock = (1..300u64, any::<bool>(), 0..=100u64).prop_map(|(most, adaptive, prefetch)| Stock {
        most,
        adaptive,
        prefetch,
    });
    holds(2_000, (prop::option::of(stock), operations()), |(stock, operations)| {
        let mut model = Model::new(stock);
        for operation in operations {
            model.do_it(operation)?;
            model.counts()?;
        }
        if model.sealed { Ok(()) } else { model.seal() }
    });
}
