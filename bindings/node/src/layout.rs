//! Layouts in the form of JavaScript.

use leafid::{Layout, LayoutFields, Order, Result};
use napi::bindgen_prelude::Either;
use napi_derive::napi;

/// A layout by its fields. A missing field is Leaf's.
#[napi(object)]
pub struct Fields {
    /// Bits of the tick counter.
    pub timestamp_bits: Option<i64>,
    /// Bits of the worker id.
    pub worker_bits: Option<i64>,
    /// Bits of the sequence.
    pub sequence_bits: Option<i64>,
    /// Unix milliseconds of tick 0.
    pub epoch_ms: Option<i64>,
    /// Milliseconds a tick.
    pub tick_ms: Option<i64>,
    /// `worker-sequence` or `sequence-worker`.
    pub order: Option<String>,
}

/// A layout: text, or fields.
pub type LayoutArgument = Either<String, Fields>;

/// Converts a layout argument. A missing one is Leaf's.
pub(crate) fn layout(argument: Option<LayoutArgument>) -> Result<Layout> {
    match argument {
        None => Ok(Layout::default()),
        Some(Either::A(text)) => Layout::parse(&text),
        Some(Either::B(given)) => {
            let leaf = LayoutFields::default();
            Layout::new(LayoutFields {
                epoch_ms: given.epoch_ms.unwrap_or(leaf.epoch_ms),
                tick_ms: given.tick_ms.unwrap_or(leaf.tick_ms),
                timestamp_bits: given.timestamp_bits.unwrap_or(leaf.timestamp_bits),
                worker_bits: given.worker_bits.unwrap_or(leaf.worker_bits),
                sequence_bits: given.sequence_bits.unwrap_or(leaf.sequence_bits),
                order: given.order.as_deref().map_or(Ok(leaf.order), Order::parse)?,
            })
        }
    }
}

impl From<Layout> for Fields {
    fn from(layout: Layout) -> Fields {
        let fields = layout.fields();
        Fields {
            timestamp_bits: Some(fields.timestamp_bits),
            worker_bits: Some(fields.worker_bits),
            sequence_bits: Some(fields.sequence_bits),
            epoch_ms: Some(fields.epoch_ms),
            tick_ms: Some(fields.tick_ms),
            order: Some(fields.order.name().into()),
        }
    }
}
