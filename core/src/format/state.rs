//! The format of a worker id's record in a slot of its state file.

use crate::format::two_slots::{self, FILE_BYTES, SLOT_BYTES};
use crate::json::{JsonResult, JsonValue, Object};
use crate::spelling::name::MAX_BACKWARDS_MS;
use crate::{Code, Error, Layout, LayoutFields, Order, Record, Result, Span};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;
use core::time::Duration;
use serde::Serialize;

const FORMAT: i64 = 1;

/// The process that wrote a record, and the time: for messages and for the clock filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Writer {
    /// The id of the process; 0 in an unused record.
    pub pid: i32,
    /// The name of its host.
    pub host: String,
    /// When it started, as text.
    pub started: String,
    /// The start of the machine. With it and `counted_ms`, the next process of the same start detects a leap of the
    /// clock that happened before it ran.
    pub boot: String,
    /// The time since that start, including suspended time, when the record was written.
    pub counted_ms: i64,
    /// The leap of the clock that was not followed yet: its size, and the start by the clock of `counted_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leap_ms: Option<(i64, i64)>,
}

/// A record with its slot number and its writer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoredRecord {
    /// The number of the slot.
    pub number: u64,
    /// The id space.
    pub name: String,
    /// The record.
    pub record: Record,
    /// Who wrote it.
    pub writer: Writer,
}

/// The content of a file's slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlotPair {
    /// The record that was written last.
    pub newest: StoredRecord,
    /// The slot to write next: the one without the newest record.
    pub spare: usize,
    /// Whether the other slot is unreadable, so that the newest record may be lost.
    pub damaged: bool,
}

/// The fields in the order of the file.
#[derive(Serialize)]
struct RecordJson {
    leafid_state: i64,
    number: u64,
    name: String,
    worker_id: u32,
    epoch_ms: i64,
    tick_ms: i64,
    timestamp_bits: i64,
    worker_bits: i64,
    sequence_bits: i64,
    order: String,
    first_ms: i64,
    until_ms: i64,
    granted_at_ms: i64,
    owner: String,
    burnt_ms: Vec<(i64, i64)>,
    former_ms: Vec<(i64, i64)>,
    writer: Writer,
}

/// The fields of a slot.
const FIELDS: [&str; 18] = [
    "leafid_state",
    "number",
    "name",
    "worker_id",
    "epoch_ms",
    "tick_ms",
    "timestamp_bits",
    "worker_bits",
    "sequence_bits",
    "order",
    "first_ms",
    "until_ms",
    "granted_at_ms",
    "owner",
    "burnt_ms",
    "former_ms",
    "writer",
    "crc32",
];

impl Writer {
    /// Records the time of the clocks: the time since the machine's start, and the leap that is not followed yet.
    pub fn stamp(&mut self, boot: Duration, leap_ms: Option<(i64, i64)>) {
        self.counted_ms = boot.as_millis() as i64;
        self.leap_ms = leap_ms;
    }

    fn read(object: &Object<'_>) -> JsonResult<Writer> {
        Ok(Writer {
            pid: object.number("pid")?,
            host: object.text("host")?,
            started: object.text("started")?,
            boot: object.text("boot")?,
            counted_ms: object.integer("counted_ms")?,
            leap_ms: object.optional("leap_ms")?.map(pair).transpose()?,
        })
    }
}

impl StoredRecord {
    /// Its writer, if it wrote in the start `boot` of the machine. Then the clock filter has to know what that writer saw:
    /// the filtered time `granted_at_ms` when `counted_ms` had passed since the start, and its leap.
    pub fn writer_since(&self, boot: &str) -> Option<&Writer> {
        Some(&self.writer).filter(|writer| !writer.boot.is_empty() && writer.boot == boot)
    }

    /// The process that wrote it, for messages; `None` in an unused record.
    pub fn holder(&self) -> Option<String> {
        let Writer { pid, host, started, .. } = &self.writer;
        (*pid > 0).then(|| format!("pid {pid} on host {host}, started {started}"))
    }

    /// The bytes of the slot: JSON, its checksum, blanks and a line feed. Errors: `internal`.
    pub fn to_bytes(&self) -> Result<[u8; SLOT_BYTES]> {
        let layout = &self.record.layout;
        let fields = layout.fields();
        let json = RecordJson {
            leafid_state: FORMAT,
            number: self.number,
            name: self.name.clone(),
            worker_id: self.record.worker_id,
            epoch_ms: fields.epoch_ms,
            tick_ms: fields.tick_ms,
            timestamp_bits: fields.timestamp_bits,
            worker_bits: fields.worker_bits,
            sequence_bits: fields.sequence_bits,
            order: fields.order.name().into(),
            first_ms: layout.tick_start_ms(self.record.run.from),
            until_ms: layout.tick_start_ms(self.record.run.until),
            granted_at_ms: self.record.granted_at_ms,
            owner: format!("{:032x}", self.record.owner),
            burnt_ms: in_ms(layout, &self.record.skipped),
            former_ms: in_ms(layout, &self.record.former),
            writer: self.writer.clone(),
        };
        two_slots::seal(&json)
    }
}

fn in_ms(layout: &Layout, spans: &[Span]) -> Vec<(i64, i64)> {
    spans.iter().map(|span| (layout.tick_start_ms(span.from), layout.tick_start_ms(span.until))).collect()
}

/// The bytes of the file of an unused worker id. Errors: `internal`.
pub fn unused_file(mut stored: StoredRecord) -> Result<[u8; FILE_BYTES]> {
    two_slots::new_file(|number| {
        stored.number = number;
        stored.to_bytes()
    })
}

/// Reads a state file. Errors: `state_corrupt` if no slot is valid, `state_mismatch` for another format.
pub fn read_file(path: impl Display, bytes: &[u8]) -> Result<SlotPair> {
    let corrupt = |what: &str| {
        let message = format!(
            "{path} is {what}; nothing was changed. Use another worker id, or move the file away once {MAX_BACKWARDS_MS} \
             (5000) and 3 s have passed since its last use"
        );
        Error::new(Code::StateCorrupt, message)
    };
    let newest = two_slots::newest(bytes, "state").map_err(|what| corrupt(&what))?;
    let foreign = || corrupt("not a leafid state file: its fields are not as written");
    let format = newest.slot.integer("leafid_state").map_err(|_| foreign())?;
    if format != FORMAT {
        let message = format!(
            "{path} was written in format {format}, this leafid reads {FORMAT}; use the version that wrote it, or \
             another name"
        );
        return Err(Error::new(Code::StateMismatch, message));
    }
    let stored = read(&newest.slot).ok().flatten().ok_or_else(foreign)?;
    Ok(SlotPair { newest: stored, spare: newest.spare, damaged: newest.damaged })
}

/// The record of one slot, for tests.
#[doc(hidden)]
pub fn read_slot(bytes: &[u8], slot: usize) -> Option<StoredRecord> {
    parse(two_slots::checked(bytes.chunks(SLOT_BYTES).nth(slot)?)?)
}

fn parse(text: &str) -> Option<StoredRecord> {
    read(&Object::parse(text.as_bytes()).ok()?).ok()?
}

/// `None` for values that no record has.
fn read(slot: &Object<'_>) -> JsonResult<Option<StoredRecord>> {
    slot.check_names(&FIELDS)?;
    let fields = LayoutFields {
        epoch_ms: slot.integer("epoch_ms")?,
        tick_ms: slot.integer("tick_ms")?,
        timestamp_bits: slot.integer("timestamp_bits")?,
        worker_bits: slot.integer("worker_bits")?,
        sequence_bits: slot.integer("sequence_bits")?,
        order: match Order::parse(&slot.text("order")?) {
            Ok(order) => order,
            Err(_) => return Ok(None),
        },
    };
    let Ok(layout) = Layout::new(fields) else { return Ok(None) };
    let run = (slot.integer("first_ms")?, slot.integer("until_ms")?);
    let skipped = pairs(slot.get("burnt_ms")?)?;
    let former = pairs(slot.get("former_ms")?)?;
    let (Some(run), Some(skipped), Some(former), Ok(owner)) = (
        span(&layout, run),
        spans(&layout, skipped),
        spans(&layout, former),
        u128::from_str_radix(&slot.text("owner")?, 16),
    ) else {
        return Ok(None);
    };
    let (worker_id, granted_at_ms) = (slot.number("worker_id")?, slot.integer("granted_at_ms")?);
    let record = Record { worker_id, layout, run, granted_at_ms, owner, skipped, former };
    let writer = Writer::read(&slot.get("writer")?.object()?)?;
    Ok(Some(StoredRecord { number: slot.number("number")?, name: slot.text("name")?, record, writer }))
}

fn pairs(value: JsonValue<'_>) -> JsonResult<Vec<(i64, i64)>> {
    value.list()?.into_iter().map(pair).collect()
}

fn pair(value: JsonValue<'_>) -> JsonResult<(i64, i64)> {
    match value.list()?[..] {
        [first, second] => Ok((first.integer()?, second.integer()?)),
        _ => Err("not a pair of numbers".into()),
    }
}

fn spans(layout: &Layout, pairs: Vec<(i64, i64)>) -> Option<Vec<Span>> {
    pairs.into_iter().map(|pair| span(layout, pair)).collect()
}

/// The span of ticks that begin at exactly these times.
fn span(layout: &Layout, (from, until): (i64, i64)) -> Option<Span> {
    let tick = |ms: i64| layout.tick_at(ms).filter(|&tick| layout.tick_start_ms(tick) == ms);
    Some(Span { from: tick(from)?, until: tick(until)? }).filter(|span| span.from <= span.until)
}

#[cfg(test)]
mod properties;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::snowflake::record::{MOST_FORMER, MOST_SKIPPED};

    /// The largest possible record: every number at its longest, and text that JSON writes with six bytes for each.
    #[test]
    fn the_largest_record_fits_its_slot() {
        let layout = Layout::new(LayoutFields {
            epoch_ms: 1_000_000_000_000_000,
            tick_ms: 3_600_000,
            timestamp_bits: 30,
            worker_bits: 10,
            sequence_bits: 12,
            order: Order::WorkerSequence,
        })
        .unwrap();
        let last = layout.last_tick() + 1;
        let spans = |count: usize| -> Vec<Span> {
            (0..count as u64).map(|i| Span { from: last - 2 * i - 1, until: last - 2 * i }).rev().collect()
        };
        let record = Record {
            worker_id: 1_023,
            layout,
            run: Span { from: last - 1, until: last },
            granted_at_ms: i64::MIN,
            owner: u128::MAX,
            skipped: spans(MOST_SKIPPED),
            former: spans(MOST_FORMER),
        };
        let writer = Writer {
            pid: i32::MIN,
            host: "\u{1}".repeat(64),
            started: "+292278994-08-17T07:12:55.807Z".into(),
            boot: "b".repeat(36),
            counted_ms: i64::MAX,
            leap_ms: Some((i64::MIN, i64::MIN)),
        };
        let number = two_slots::NUMBER_LIMIT - 1;
        let stored = StoredRecord { number, name: "n".repeat(64), record, writer };
        let bytes = stored.to_bytes().unwrap();
        assert_eq!(parse(two_slots::checked(&bytes).unwrap()).unwrap(), stored);
    }

    /// Such a record would stay the newest for ever, whatever is written after it.
    #[test]
    fn a_number_after_which_none_comes_is_not_accepted() {
        let writer = Writer { pid: 1, host: "h".into(), ..Writer::default() };
        let mut stored = StoredRecord {
            number: u64::MAX,
            name: "n".into(),
            record: Record::unused(7, Layout::LEAF),
            writer,
        };
        let slot = stored.to_bytes().unwrap();
        stored.number = 1;
        let other = stored.to_bytes().unwrap();
        let found = read_file("f", &[slot, other].concat()).unwrap();
        assert!(found.newest == stored && found.spare == 0 && found.damaged);
        let error = read_file("f", &[slot, slot].concat()).err().unwrap();
        assert_eq!(error.code(), Code::StateCorrupt);
    }
}
