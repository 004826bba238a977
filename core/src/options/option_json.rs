//! Options in JSON, for hosts in languages that cannot pass values of Rust.

use super::option_value::{FileTag, OptionValue, OptionValues};
use super::table::{OptionKind, OptionOf, find};
use crate::json::{JsonResult, JsonValue, Object};
use crate::{Error, Layout, LayoutFields, Order, Result};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Sets the options of an object, by their names in snake case. `null` is the default.
///
/// A number is an integer, a list holds texts. An object holds headers; the `first` and `last` worker id; the fields of
/// a layout; the `start` and `step` of tags. `{"callback": true}` is a callback, `{"leases": true}` an object that leases
/// worker ids. The host keeps these two.
///
/// Errors: `invalid_argument`.
pub fn options_of_json(of: OptionOf, text: &[u8]) -> Result<OptionValues> {
    let wrong = |why: String| Error::invalid("options", why, "an object in JSON");
    let mut set = OptionValues::new(of);
    for (name, value) in Object::parse(text).map_err(wrong)?.fields() {
        if value.is_null() {
            continue;
        }
        // An unknown name is refused there.
        let kind = find(name).map_or(OptionKind::Text, |row| row.kind);
        let value = value_of(kind, value).unwrap_or_else(|_| OptionValue::Other(value.shown().to_string()));
        set.set(name, value)?;
    }
    Ok(set)
}

fn value_of(kind: OptionKind, value: JsonValue<'_>) -> JsonResult<OptionValue> {
    if let Ok(flag) = value.flag() {
        return Ok(OptionValue::Flag(flag));
    }
    if let Ok(text) = value.text() {
        return Ok(OptionValue::Text(text));
    }
    if let Ok(list) = value.list() {
        return list.into_iter().map(JsonValue::text).collect::<JsonResult<_>>().map(OptionValue::Texts);
    }
    if let Ok(number) = value.integer() {
        return Ok(OptionValue::Int(number));
    }
    let object = value.object()?;
    match kind {
        OptionKind::Worker | OptionKind::Callback if is_marked(&object, "callback") => {
            Ok(OptionValue::Callback)
        }
        OptionKind::Worker if is_marked(&object, "leases") => Ok(OptionValue::Leases),
        OptionKind::Worker => {
            object.check_names(&["first", "last"])?;
            Ok(OptionValue::Range(object.integer("first")?, object.integer("last")?))
        }
        OptionKind::Layout => layout(&object).map(OptionValue::Layout),
        OptionKind::Tags => {
            let tags = object.fields().map(|(tag, how)| Ok((tag.into(), file_tag(&how.object()?)?)));
            tags.collect::<JsonResult<_>>().map(OptionValue::Tags)
        }
        _ => {
            let headers = object.fields().map(|(name, value)| Ok((name.into(), value.text()?)));
            headers.collect::<JsonResult<Vec<_>>>().map(OptionValue::Headers)
        }
    }
}

/// Whether the object stands for what the host keeps.
fn is_marked(object: &Object<'_>, mark: &str) -> bool {
    object.check_names(&[mark]).is_ok() && object.get(mark).and_then(JsonValue::flag) == Ok(true)
}

fn layout(fields: &Object<'_>) -> JsonResult<LayoutFields> {
    fields.check_names(&[
        "epoch_ms",
        "tick_ms",
        "timestamp_bits",
        "worker_bits",
        "sequence_bits",
        "order",
    ])?;
    let leaf = Layout::LEAF.fields();
    let number = |name, default| fields.optional(name)?.map_or(Ok(default), JsonValue::integer);
    let order = fields.optional("order")?.map(JsonValue::text).transpose()?;
    Ok(LayoutFields {
        epoch_ms: number("epoch_ms", leaf.epoch_ms)?,
        tick_ms: number("tick_ms", leaf.tick_ms)?,
        timestamp_bits: number("timestamp_bits", leaf.timestamp_bits)?,
        worker_bits: number("worker_bits", leaf.worker_bits)?,
        sequence_bits: number("sequence_bits", leaf.sequence_bits)?,
        order: order.map_or(Ok(leaf.order), |text| Order::parse(&text)).map_err(|error| error.to_string())?,
    })
}

fn file_tag(fields: &Object<'_>) -> JsonResult<FileTag> {
    fields.check_names(&["start", "step"])?;
    let default = FileTag::default();
    let number = |name, default| fields.optional(name)?.map_or(Ok(default), JsonValue::integer);
    Ok(FileTag { start: number("start", default.start)?, step: number("step", default.step)? })
}
