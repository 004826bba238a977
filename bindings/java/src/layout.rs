//! Layouts, and the parts of ids.

use crate::call::{Done, natives, text, write};
use jni::Env;
use jni::objects::{JLongArray, JString};
use jni::sys::jlong;
use leafid::{Error, Layout, LayoutFields, Order, Result, allowed};

/// The fields of a layout: bits of its timestamp, worker id and sequence, epoch, tick, and whether the sequence is above
/// the worker id.
const FIELDS: usize = 6;

/// A layout by its text, or by its fields.
pub(crate) fn layout_of(values: &[String]) -> Result<Layout> {
    let [text] = values else {
        let wrong = || Error::invalid("layout", format!("{values:?}"), allowed("layout"));
        let fields: Vec<i64> =
            values.iter().map(|value| value.parse().map_err(|_| wrong())).collect::<Result<_>>()?;
        return fields.try_into().map_err(|_| wrong()).and_then(of_fields);
    };
    Layout::parse(text)
}

fn of_fields(fields: [i64; FIELDS]) -> Result<Layout> {
    let [timestamp_bits, worker_bits, sequence_bits, epoch_ms, tick_ms, order] = fields;
    let order = if order == 0 { Order::WorkerSequence } else { Order::SequenceWorker };
    Layout::new(LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order })
}

pub(crate) fn fields_of(layout: Layout) -> [i64; FIELDS] {
    let LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order } =
        layout.fields();
    [timestamp_bits, worker_bits, sequence_bits, epoch_ms, tick_ms, i64::from(order != Order::WorkerSequence)]
}

fn read(env: &Env<'_>, fields: &JLongArray<'_>) -> Done<Layout> {
    let mut given = [0; FIELDS];
    fields.get_region(env, 0, &mut given)?;
    Ok(of_fields(given)?)
}

natives! { "io.leafid.Layout";
    /// The fields of the layout of this text, into `out`.
    "parse"(env, name: JString<'l>, out: JLongArray<'l>) {
        Ok(write(env, &out, 0, &fields_of(Layout::parse(&text(env, "layout", &name)?)?))?)
    }

    /// Throws for fields that make no layout.
    "check"(env, fields: JLongArray<'l>) {
        read(env, &fields).map(drop)
    }

    /// The time, worker id and sequence of an id, into `out`.
    "decode"(env, fields: JLongArray<'l>, id: jlong, out: JLongArray<'l>) {
        let parts = read(env, &fields)?.decode(id)?;
        Ok(write(env, &out, 0, &[parts.timestamp_ms, parts.worker_id.into(), parts.sequence.into()])?)
    }

    /// An id of a time: with `what` 0 the first one, with 1 the last one, with 2 that of this worker id and sequence.
    "idAt"(env, fields: JLongArray<'l>, what: jlong, timestamp_ms: jlong, worker_id: jlong, sequence: jlong) -> jlong {
        let layout = read(env, &fields)?;
        let small =
            |name, value: i64| u32::try_from(value).map_err(|_| Error::invalid(name, value, allowed(name)));
        Ok(match what {
            0 => layout.first_id_at(timestamp_ms)?,
            1 => layout.last_id_at(timestamp_ms)?,
            _ => layout.compose(timestamp_ms, small("worker_id", worker_id)?, small("sequence", sequence)?)?,
        })
    }
}
