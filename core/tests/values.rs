//! Machines are values: a search through their states copies, compares and keeps them.

use leafid_core::format::state::{StoredRecord, Writer};
use leafid_core::segment::{AdaptiveStep, Guard, PendingSegments, Turns};
use leafid_core::server::{FailOver, RequestEnd, ServersHealth};
use leafid_core::snowflake::{ClaimSearch, HeldLease, LeaseLoss, SpanExtension, StartAction};
use leafid_core::{Action, BackOff, PollPause, Record, RunLength, TickRuns};
use std::hash::Hash;

fn is_value<T: Clone + Eq + Hash>() {}

#[test]
fn each_machine_without_atomics_is_a_value() {
    is_value::<(ClaimSearch, SpanExtension, HeldLease, LeaseLoss, Record)>();
    is_value::<(AdaptiveStep, Guard, PendingSegments, RunLength, TickRuns, Turns<u32>)>();
    is_value::<(ServersHealth, FailOver<u32>, RequestEnd, BackOff, PollPause)>();
    is_value::<(Action, StartAction, StoredRecord, Writer)>();
}
