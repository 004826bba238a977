//! The objects behind handles.

#[cfg(any(feature = "public-ids", feature = "snowflake"))]
use alloc::boxed::Box;
#[cfg(feature = "wire")]
use alloc::collections::VecDeque;
#[cfg(feature = "wire")]
use alloc::string::String;
#[cfg(feature = "wire")]
use alloc::vec::Vec;
#[cfg(feature = "wire")]
use leafid_core::{CircuitBreaker, DoubleBuffer, FailOver, Filler, RenewalAnswer, ServersHealth, SingleIds};
#[cfg(feature = "snowflake")]
use leafid_core::{Layout, Rules, Snowflake};
#[cfg(feature = "record")]
use leafid_core::{Record, SpanExtension};

/// What a handle stands for.
pub(crate) enum Machine {
    #[cfg(feature = "snowflake")]
    Layout(Layout),
    #[cfg(feature = "snowflake")]
    Rules(Rules),
    #[cfg(feature = "snowflake")]
    Snowflake(Box<Snowflake>),
    #[cfg(feature = "public-ids")]
    PublicIds(Box<leafid_core::PublicIds>),
    #[cfg(feature = "record")]
    Record(Box<Record>),
    #[cfg(feature = "record")]
    SpanExtension(Box<SpanExtension>),
    #[cfg(feature = "record")]
    ClockFilter(Box<leafid_core::ClockFilter>),
    #[cfg(feature = "format")]
    Stored(Box<leafid_core::format::state::SlotPair>),
    #[cfg(feature = "wire")]
    Buffer(Box<Buffer>),
    #[cfg(feature = "wire")]
    Pending(Box<leafid_core::PendingSegments>),
    #[cfg(feature = "wire")]
    Guard(Box<leafid_core::Guard>),
    #[cfg(feature = "wire")]
    Fetch(Box<leafid_core::FetchState>),
    #[cfg(feature = "wire")]
    Lease(Box<leafid_core::Lease>),
    #[cfg(feature = "wire")]
    HeldLease(Box<leafid_core::HeldLease>),
    #[cfg(feature = "wire")]
    LeaseLoss(Box<leafid_core::LeaseLoss>),
    #[cfg(feature = "wire")]
    LeaseClaims(Box<leafid_core::LeaseClaims>),
    #[cfg(feature = "wire")]
    RenewalResult(Box<RenewalResult>),
    #[cfg(feature = "wire")]
    Search(Box<leafid_core::ClaimSearch>),
    #[cfg(feature = "wire")]
    Response(Box<leafid_core::wire::Response>),
    #[cfg(feature = "wire")]
    Breaker(Box<Breaker>),
    #[cfg(feature = "wire")]
    Servers(Box<Servers>),
    #[cfg(feature = "wire")]
    SingleIds(Box<TagsIds>),
}

/// A buffer with the right to fill it.
#[cfg(feature = "wire")]
pub(crate) struct Buffer {
    pub(crate) ids: DoubleBuffer,
    pub(crate) filler: Filler,
    pub(crate) run: leafid_core::RunLength,
}

/// A circuit breaker, and the tags that it released and the host did not get yet. The host numbers its tags.
#[cfg(feature = "wire")]
pub(crate) struct Breaker {
    pub(crate) breaker: CircuitBreaker<i32>,
    pub(crate) released: VecDeque<i32>,
}

/// The ids of all tags of a source that gives one at a time.
#[cfg(feature = "wire")]
pub(crate) type TagsIds = SingleIds<i32, ()>;

/// The servers of one source, and the requests that are sent to them.
#[cfg(feature = "wire")]
pub(crate) struct Servers {
    pub(crate) health: ServersHealth,
    pub(crate) count: usize,
    pub(crate) requests: Vec<(i32, FailOver<String>)>,
    pub(crate) number: i32,
}

/// The result of a lease source's call.
#[cfg(feature = "wire")]
pub(crate) struct RenewalResult(pub(crate) RenewalAnswer);

/// A type that handles stand for.
pub(crate) trait Kind: Sized {
    /// The name, for messages.
    const NAME: &'static str;
    fn into_machine(self) -> Machine;
    fn of(machine: &Machine) -> Option<&Self>;
    #[cfg(any(feature = "public-ids", feature = "record"))]
    fn of_mut(machine: &mut Machine) -> Option<&mut Self>;
}

macro_rules! kind {
    ($type:ty, $variant:ident, $name:literal, |$value:ident| $wrapped:expr) => {
        impl Kind for $type {
            const NAME: &'static str = $name;
            fn into_machine(self) -> Machine {
                let $value = self;
                Machine::$variant($wrapped)
            }
            fn of(machine: &Machine) -> Option<&Self> {
                match machine {
                    Machine::$variant(found) => Some(found),
                    #[allow(unreachable_patterns, reason = "a module may have one kind")]
                    _ => None,
                }
            }
            #[cfg(any(feature = "public-ids", feature = "record"))]
            fn of_mut(machine: &mut Machine) -> Option<&mut Self> {
                match machine {
                    Machine::$variant(found) => Some(found),
                    #[allow(unreachable_patterns, reason = "a module may have one kind")]
                    _ => None,
                }
            }
        }
    };
}

#[cfg(feature = "snowflake")]
kind!(Layout, Layout, "a layout", |layout| layout);
#[cfg(feature = "snowflake")]
kind!(Rules, Rules, "rules", |rules| rules);
#[cfg(feature = "public-ids")]
kind!(leafid_core::PublicIds, PublicIds, "public ids", |ids| Box::new(ids));
#[cfg(feature = "snowflake")]
kind!(Snowflake, Snowflake, "a snowflake", |snowflake| Box::new(snowflake));
#[cfg(feature = "record")]
kind!(Record, Record, "a record", |record| Box::new(record));
#[cfg(feature = "record")]
kind!(SpanExtension, SpanExtension, "a span extension", |extension| Box::new(extension));
#[cfg(feature = "record")]
kind!(leafid_core::ClockFilter, ClockFilter, "a clock", |clock| Box::new(clock));
#[cfg(feature = "format")]
kind!(leafid_core::format::state::SlotPair, Stored, "a stored record", |stored| Box::new(stored));

#[cfg(feature = "wire")]
mod servers {
    use super::*;

    kind!(Buffer, Buffer, "a buffer", |buffer| Box::new(buffer));
    kind!(leafid_core::PendingSegments, Pending, "a queue of segments", |pending| Box::new(pending));
    kind!(leafid_core::Guard, Guard, "a guard", |guard| Box::new(guard));
    kind!(leafid_core::FetchState, Fetch, "a tag's fetches", |fetch| Box::new(fetch));
    kind!(leafid_core::Lease, Lease, "a lease", |lease| Box::new(lease));
    kind!(leafid_core::HeldLease, HeldLease, "a held lease", |held| Box::new(held));
    kind!(leafid_core::LeaseLoss, LeaseLoss, "a lost lease", |loss| Box::new(loss));
    kind!(leafid_core::LeaseClaims, LeaseClaims, "claims", |claims| Box::new(claims));
    kind!(RenewalResult, RenewalResult, "the result of a renewal", |result| Box::new(result));
    kind!(leafid_core::ClaimSearch, Search, "a search", |search| Box::new(search));
    kind!(leafid_core::wire::Response, Response, "a response", |response| Box::new(response));
    kind!(Breaker, Breaker, "a circuit breaker", |breaker| Box::new(breaker));
    kind!(Servers, Servers, "servers", |servers| Box::new(servers));
    kind!(TagsIds, SingleIds, "a collection of single ids", |ids| Box::new(ids));
}
