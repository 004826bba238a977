//! Layouts, and the parts of ids.

use crate::call::{Class, call, text, write};
use jni::objects::{JLongArray, JString};
use jni::sys::jlong;
use jni::{EnvUnowned, jni_mangle};
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

/// The fields of the layout of this text, into `out`.
#[jni_mangle("io.leafid.Layout", "parse")]
pub fn layout_parse<'l>(env: EnvUnowned<'l>, _: Class<'l>, name: JString<'l>, out: JLongArray<'l>) {
    call(env, |env| Ok(write(env, &out, 0, &fields_of(Layout::parse(&text(env, &name)?)?))?));
}

/// Throws for fields that make no layout.
#[jni_mangle("io.leafid.Layout", "check")]
pub fn layout_check<'l>(env: EnvUnowned<'l>, _: Class<'l>, fields: JLongArray<'l>) {
    call(env, |env| {
        let mut given = [0; FIELDS];
        fields.get_region(env, 0, &mut given)?;
        of_fields(given)?;
        Ok(())
    });
}

/// The time, worker id and sequence of an id, into `out`.
#[jni_mangle("io.leafid.Layout", "decode")]
pub fn layout_decode<'l>(
    env: EnvUnowned<'l>,
    _: Class<'l>,
    fields: JLongArray<'l>,
    id: jlong,
    out: JLongArray<'l>,
) {
    call(env, |env| {
        let mut given = [0; FIELDS];
        fields.get_region(env, 0, &mut given)?;
        let parts = of_fields(given)?.decode(id)?;
        Ok(write(env, &out, 0, &[parts.timestamp_ms, parts.worker_id.into(), parts.sequence.into()])?)
    });
}

/// An id of a time: with `what` 0 the first one, with 1 the last one, with 2 that of this worker id and sequence.
#[jni_mangle("io.leafid.Layout", "idAt")]
pub fn layout_id_at<'l>(
    env: EnvUnowned<'l>,
    _: Class<'l>,
    fields: JLongArray<'l>,
    what: jlong,
    timestamp_ms: jlong,
    worker_id: jlong,
    sequence: jlong,
) -> jlong {
    call(env, |env| {
        let mut given = [0; FIELDS];
        fields.get_region(env, 0, &mut given)?;
        let layout = of_fields(given)?;
        let small =
            |name, value: i64| u32::try_from(value).map_err(|_| Error::invalid(name, value, allowed(name)));
        Ok(match what {
            0 => layout.first_id_at(timestamp_ms)?,
            1 => layout.last_id_at(timestamp_ms)?,
            _ => {
                layout.compose(timestamp_ms, small("worker_id", worker_id)?, small("sequence", sequence)?)?
            }
        })
    })
}
