//! The state file: two slots of readable JSON, each with a number and a checksum, written in turn and in place.

use leafid_core::{Code, Error, Layout, LayoutFields, Order, Record, Result, Span};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Bytes of a slot: one page, so that a write is not torn over two.
pub(crate) const SLOT_BYTES: usize = 4096;
/// Bytes of a state file.
pub(crate) const FILE_BYTES: usize = 2 * SLOT_BYTES;
const FORMAT: u32 = 1;
/// What stands between the JSON's last field and its checksum.
const CHECKSUM: &str = ",\"crc32\":\"";

/// Who wrote a record: for messages, never for a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Writer {
    pub(crate) pid: i32,
    pub(crate) host: String,
    pub(crate) started: String,
}

/// A record as it stands in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) record: Record,
    pub(crate) writer: Writer,
}

/// What a file's slots hold.
pub(crate) struct Slots {
    pub(crate) newest: Stored,
    /// The slot that does not hold the newest: the one to write next.
    pub(crate) spare: usize,
    /// The other slot could not be read, so that the newest may be lost.
    pub(crate) damaged: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    leafid_state: u32,
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
    writer: Writer,
    /// Written, and compared, as text: see `checked`.
    #[serde(default, skip_serializing)]
    #[allow(dead_code)]
    crc32: String,
}

/// What every format says first.
#[derive(Deserialize)]
struct Head {
    leafid_state: u32,
    number: u64,
}

impl Stored {
    /// The slot's bytes: JSON, its checksum, blanks and a line feed.
    pub(crate) fn to_bytes(&self) -> Result<[u8; SLOT_BYTES]> {
        let layout = &self.record.layout;
        let fields = layout.fields();
        let json = Json {
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
            burnt_ms: self
                .record
                .burnt
                .iter()
                .map(|s| (layout.tick_start_ms(s.from), layout.tick_start_ms(s.until)))
                .collect(),
            writer: self.writer.clone(),
            crc32: String::new(),
        };
        let too_large = || Error::new(Code::Internal, "the record does not fit its slot; report this");
        let mut text = serde_json::to_string(&json).map_err(|_| too_large())?;
        text.pop();
        let sum = crc32fast::hash(text.as_bytes());
        text.push_str(&format!("{CHECKSUM}{sum:08x}\"}}"));
        let mut bytes = [b' '; SLOT_BYTES];
        bytes.get_mut(..text.len()).ok_or_else(too_large)?.copy_from_slice(text.as_bytes());
        match bytes.last_mut() {
            Some(last) if *last == b' ' => *last = b'\n',
            _ => return Err(too_large()),
        }
        Ok(bytes)
    }
}

/// The bytes of a file whose worker id was never used.
pub(crate) fn unused_file(mut stored: Stored) -> Result<[u8; FILE_BYTES]> {
    let mut bytes = [0; FILE_BYTES];
    for (number, slot) in bytes.chunks_mut(SLOT_BYTES).enumerate() {
        stored.number = number as u64;
        slot.copy_from_slice(&stored.to_bytes()?);
    }
    Ok(bytes)
}

/// Reads a state file. Errors: `state_corrupt` when no slot can be believed, `state_mismatch` for another format.
pub(crate) fn read_file(path: &Path, bytes: &[u8]) -> Result<Slots> {
    let corrupt = |what: &str| {
        let message = format!(
            "{} is {what}; nothing was changed. Use another worker id, or move the file away by hand: not before \
             max_backwards_ms (5000) and three seconds more have passed since its last use, for ids may run so far ahead of the clock",
            path.display()
        );
        Error::new(Code::StateCorrupt, message)
    };
    if bytes.len() != FILE_BYTES {
        let size = if bytes.len() > FILE_BYTES { "more".into() } else { bytes.len().to_string() };
        return Err(corrupt(&format!("not a leafid state file: {size} bytes instead of {FILE_BYTES}")));
    }
    let slots: Vec<Option<(Head, &str)>> = bytes.chunks(SLOT_BYTES).map(checked).collect();
    let newest = match (&slots[0], &slots[1]) {
        (Some((a, _)), Some((b, _))) => usize::from(b.number > a.number),
        (Some(_), None) => 0,
        (None, Some(_)) => 1,
        (None, None) => return Err(corrupt("damaged in both slots, or not a leafid state file")),
    };
    let Some((head, text)) = &slots[newest] else { return Err(corrupt("damaged")) };
    if head.leafid_state != FORMAT {
        let message = format!(
            "{} was written in format {}, this leafid reads {FORMAT}; use the version that wrote it, or another name",
            path.display(),
            head.leafid_state
        );
        return Err(Error::new(Code::StateMismatch, message));
    }
    let stored =
        parse(text).ok_or_else(|| corrupt("not a leafid state file: its fields are not as written"))?;
    Ok(Slots { newest: stored, spare: 1 - newest, damaged: slots[1 - newest].is_none() })
}

/// What one slot holds, for tests.
#[cfg(test)]
pub(crate) fn read_slot(bytes: &[u8], slot: usize) -> Option<Stored> {
    parse(checked(&bytes[slot * SLOT_BYTES..(slot + 1) * SLOT_BYTES])?.1)
}

/// The slot's JSON, if every byte of the slot is as it was written.
fn checked(slot: &[u8]) -> Option<(Head, &str)> {
    let text = std::str::from_utf8(slot).ok()?.strip_suffix('\n')?.trim_end_matches(' ');
    let body = text.get(..text.len().checked_sub(CHECKSUM.len() + 10)?)?;
    let tail = format!("{CHECKSUM}{:08x}\"}}", crc32fast::hash(body.as_bytes()));
    if text.get(body.len()..)? != tail {
        return None;
    }
    Some((serde_json::from_str(text).ok()?, text))
}

fn parse(text: &str) -> Option<Stored> {
    let json: Json = serde_json::from_str(text).ok()?;
    let layout = Layout::new(LayoutFields {
        epoch_ms: json.epoch_ms,
        tick_ms: json.tick_ms,
        timestamp_bits: json.timestamp_bits,
        worker_bits: json.worker_bits,
        sequence_bits: json.sequence_bits,
        order: Order::parse(&json.order).ok()?,
    })
    .ok()?;
    let tick = |ms: i64| layout.tick_at(ms).filter(|&tick| layout.tick_start_ms(tick) == ms);
    let span =
        |(from, until)| Some(Span { from: tick(from)?, until: tick(until)? }).filter(|s| s.from <= s.until);
    let record = Record {
        worker_id: json.worker_id,
        layout,
        run: span((json.first_ms, json.until_ms))?,
        granted_at_ms: json.granted_at_ms,
        owner: u128::from_str_radix(&json.owner, 16).ok()?,
        burnt: json.burnt_ms.into_iter().map(span).collect::<Option<_>>()?,
    };
    Some(Stored { number: json.number, name: json.name, record, writer: json.writer })
}
