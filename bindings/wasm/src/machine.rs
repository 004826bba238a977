//! The objects behind handles.

use alloc::boxed::Box;
use leafid_core::{Layout, Rules, Snowflake};
#[cfg(feature = "record")]
use leafid_core::{Record, SpanExtension};

/// What a handle stands for.
pub(crate) enum Machine {
    Layout(Layout),
    Rules(Rules),
    Snowflake(Box<Snowflake>),
    #[cfg(feature = "record")]
    Record(Box<Record>),
    #[cfg(feature = "record")]
    SpanExtension(Box<SpanExtension>),
    #[cfg(feature = "format")]
    Stored(Box<leafid_core::format::state::SlotPair>),
}

/// A type that handles stand for.
pub(crate) trait Kind: Sized {
    /// The name, for messages.
    const NAME: &'static str;
    fn into_machine(self) -> Machine;
    fn of(machine: &Machine) -> Option<&Self>;
    #[cfg(feature = "record")]
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
                if let Machine::$variant(found) = machine { Some(found) } else { None }
            }
            #[cfg(feature = "record")]
            fn of_mut(machine: &mut Machine) -> Option<&mut Self> {
                if let Machine::$variant(found) = machine { Some(found) } else { None }
            }
        }
    };
}

kind!(Layout, Layout, "a layout", |layout| layout);
kind!(Rules, Rules, "rules", |rules| rules);
kind!(Snowflake, Snowflake, "a snowflake", |snowflake| Box::new(snowflake));
#[cfg(feature = "record")]
kind!(Record, Record, "a record", |record| Box::new(record));
#[cfg(feature = "record")]
kind!(SpanExtension, SpanExtension, "a span extension", |extension| Box::new(extension));
#[cfg(feature = "format")]
kind!(leafid_core::format::state::SlotPair, Stored, "a stored record", |stored| Box::new(stored));
