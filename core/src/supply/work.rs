//! A running fetch of a tag: what it does now, and what it knows so far.

use crate::Segment;
use crate::http::Exchange;
use crate::segment::fetch_state::FetchPlan;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

/// What the fetch of a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FetchStage {
    /// No ids are wanted, or the back-off after a failure is awaited.
    Rests,
    /// It waits for its turn at the source.
    Queues,
    /// The unused ids of an earlier process are taken.
    TakesUnused,
    /// Its mark is read.
    ReadsMark,
    /// Its source is asked.
    Asks,
    /// What came is stored in its mark.
    Marks,
}

impl FetchStage {
    /// All of them.
    pub const ALL: [FetchStage; 6] = [
        FetchStage::Rests,
        FetchStage::Queues,
        FetchStage::TakesUnused,
        FetchStage::ReadsMark,
        FetchStage::Asks,
        FetchStage::Marks,
    ];
}

/// A running fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Work {
    pub(super) stage: FetchStage,
    pub(super) plan: FetchPlan,
    /// Whether it checks if a source that is down still is.
    pub(super) probes: bool,
    pub(super) began: Duration,
    /// Every id below was given before.
    pub(super) after: i64,
    /// The request to the servers.
    pub(super) exchange: Option<Box<Exchange>>,
    /// What the source gave, and its own step.
    pub(super) segments: Vec<Segment>,
    pub(super) step: Option<i64>,
    /// The number of requests that it needed.
    pub(super) requests: usize,
}

impl Work {
    pub(super) fn new(stage: FetchStage, plan: FetchPlan, probes: bool, now: Duration) -> Work {
        Work {
            stage,
            plan,
            probes,
            began: now,
            after: 0,
            exchange: None,
            segments: Vec::new(),
            step: None,
            requests: 1,
        }
    }
}
