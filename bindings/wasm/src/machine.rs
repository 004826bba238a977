//! The objects behind handles of segments.

use crate::module::Kind;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use leafid_core::{CircuitBreaker, DoubleBuffer, FailOver, Filler, ServersHealth, SingleIds};

/// A buffer with the right to fill it.
pub(crate) struct Buffer {
    pub(crate) ids: DoubleBuffer,
    pub(crate) filler: Filler,
    pub(crate) run: leafid_core::RunLength,
}

/// A circuit breaker, and the tags that it released and the host did not get yet. The host numbers its tags.
pub(crate) struct Breaker {
    pub(crate) breaker: CircuitBreaker<i32>,
    pub(crate) released: VecDeque<i32>,
}

/// The ids of all tags of a source that gives one at a time.
pub(crate) type TagsIds = SingleIds<i32, ()>;

/// The servers of one source, and the requests that are sent to them.
pub(crate) struct Servers {
    pub(crate) health: ServersHealth,
    pub(crate) count: usize,
    pub(crate) requests: Vec<(i32, FailOver<String>)>,
    pub(crate) number: i32,
}

macro_rules! kinds {
    ($($type:ty: $name:literal;)*) => {
        $(impl Kind for $type {
            const NAME: &'static str = $name;
        })*
    };
}

kinds! {
    Buffer: "a buffer";
    leafid_core::PendingSegments: "a queue of segments";
    leafid_core::Guard: "a guard";
    leafid_core::FetchState: "a tag's fetches";
    leafid_core::wire::Response: "a response";
    Breaker: "a circuit breaker";
    Servers: "servers";
    TagsIds: "a collection of single ids";
}
