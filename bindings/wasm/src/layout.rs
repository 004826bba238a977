//! Layouts and ids.

use crate::argument::{whole, within};
use crate::module::{Kind, exports, write};
use alloc::string::ToString;
use leafid_core::{Layout, LayoutFields, Order};

impl Kind for Layout {
    const NAME: &'static str = "a layout";
}

exports! {
    /// The layout of a text: a preset's name, or bits as in `41|10|12`.
    fn layout_parse(module, length: i32) -> i32 {
        let [text] = module.texts([length])?;
        let layout = Layout::parse(text)?;
        Ok(module.add(layout))
    }

    /// The layout of these fields; the input is the order's name.
    fn layout_new(
        module, epoch_ms: f64, tick_ms: f64, timestamp_bits: f64, worker_bits: f64, sequence_bits: f64,
        order_length: i32
    ) -> i32 {
        let [order] = module.texts([order_length])?;
        let layout = Layout::new(LayoutFields {
            epoch_ms: whole("epoch_ms", epoch_ms)?,
            tick_ms: whole("tick_ms", tick_ms)?,
            timestamp_bits: whole("timestamp_bits", timestamp_bits)?,
            worker_bits: whole("worker_bits", worker_bits)?,
            sequence_bits: whole("sequence_bits", sequence_bits)?,
            order: Order::parse(order)?,
        })?;
        Ok(module.add(layout))
    }

    /// The fields of a layout, or of that of options. With the feature `messages` its text is the output, else that is
    /// empty.
    fn layout_fields(module, layout: i32) -> i32 {
        #[cfg(feature = "wire")]
        let of_options = module.find::<crate::run::Options>(layout).map(|options| options.0.layout);
        #[cfg(not(feature = "wire"))]
        let of_options = None;
        let layout = match of_options {
            Some(layout) => layout,
            None => *module.get::<Layout>(layout)?,
        };
        let fields = layout.fields();
        module.answer(&[
            fields.epoch_ms as f64,
            fields.tick_ms as f64,
            fields.timestamp_bits as f64,
            fields.worker_bits as f64,
            fields.sequence_bits as f64,
            f64::from(u8::from(fields.order == Order::SequenceWorker)),
            layout.max_worker_id().into(),
            layout.max_sequence().into(),
            layout.expires_at_ms() as f64,
        ]);
        match cfg!(feature = "messages") {
            true => write(&[&layout.to_string()]),
            false => write(&[]),
        }
        Ok(0)
    }

    /// The id of these parts.
    fn compose(module, layout: i32, timestamp_ms: f64, worker_id: f64, sequence: f64) -> i64 {
        let layout = module.get::<Layout>(layout)?;
        let timestamp_ms = whole("timestamp_ms", timestamp_ms)?;
        let worker_id = within("worker_id", worker_id, layout.max_worker_id())?;
        let sequence = within("sequence", sequence, layout.max_sequence())?;
        Ok(layout.compose(timestamp_ms, worker_id, sequence)?)
    }

    /// The smallest id of the tick that contains this time.
    fn first_id_at(module, layout: i32, timestamp_ms: f64) -> i64 {
        let timestamp_ms = whole("timestamp_ms", timestamp_ms)?;
        Ok(module.get::<Layout>(layout)?.first_id_at(timestamp_ms)?)
    }

    /// The largest id of the tick that contains this time.
    fn last_id_at(module, layout: i32, timestamp_ms: f64) -> i64 {
        let timestamp_ms = whole("timestamp_ms", timestamp_ms)?;
        Ok(module.get::<Layout>(layout)?.last_id_at(timestamp_ms)?)
    }

    /// The parts of an id: the timestamp in Unix milliseconds, the worker id, the sequence number.
    fn decode(module, layout: i32, id: i64) -> i32 {
        let parts = module.get::<Layout>(layout)?.decode(id)?;
        module.answer(&[parts.timestamp_ms as f64, parts.worker_id.into(), parts.sequence.into()]);
        Ok(0)
    }
}
