//! Layouts: the fields of an id's 64 bits.

use crate::error::message;
use crate::quoted::Quoted;
use crate::spelling::name::EPOCH_MS;
use crate::words::words;
use crate::{Code, Error, Result, Utc};
use core::fmt;
use core::str::FromStr;

/// The order of worker id and sequence below the timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Order {
    /// Timestamp, worker id, sequence, as in Leaf and Twitter's Snowflake.
    #[default]
    WorkerSequence,
    /// Timestamp, sequence, worker id, as in Sonyflake.
    SequenceWorker,
}

words! { Order of "order": "worker-sequence" => WorkerSequence, or "sequence-worker" => SequenceWorker }

/// The unchecked fields of a layout. The default is Leaf's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutFields {
    /// Unix milliseconds of tick 0.
    pub epoch_ms: i64,
    /// Milliseconds per tick.
    pub tick_ms: i64,
    /// Bits of the tick counter.
    pub timestamp_bits: i64,
    /// Bits of the worker id.
    pub worker_bits: i64,
    /// Bits of the sequence.
    pub sequence_bits: i64,
    /// The order of worker id and sequence.
    pub order: Order,
}

impl Default for LayoutFields {
    fn default() -> LayoutFields {
        Layout::LEAF.fields()
    }
}

/// A valid layout: at most 63 bits, and a last tick at or below 2^53 ms, so that every language can show its times.
///
/// ```
/// use leafid_core::{Layout, LayoutFields};
/// let wide = Layout::parse("35|5|23")?.with_epoch_ms(1_767_225_600_000)?;
/// assert_eq!(wide.max_sequence(), (1 << 23) - 1);
/// assert_eq!(Layout::default(), Layout::parse("leaf")?);
/// # Ok::<(), leafid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    epoch_ms: i64,
    tick_ms: i64,
    timestamp_bits: u8,
    worker_bits: u8,
    sequence_bits: u8,
    order: Order,
}

const LATEST_MS: i64 = 1 << 53;

impl Layout {
    /// The allowed values of `layout`, for error messages.
    pub const ALLOWED: &'static str = "\"leaf\", \"uid-generator\", \"yitter\", \"sonyflake\", \"js-safe\", or \
        bits of time, worker id and sequence such as \"41|10|12\"";
    /// Those of `worker_bits` and `sequence_bits`.
    pub(crate) const ALLOWED_BITS: &str = "0 to 31";
    /// Those of `epoch_ms`.
    #[cfg(feature = "options")]
    pub(crate) const ALLOWED_EPOCH_MS: &str = "Unix milliseconds from 0 to 2^53, not ahead of the clock";
    /// Those of `tick_ms`.
    pub(crate) const ALLOWED_TICK_MS: &str = "1 to 3600000 milliseconds";

    pub(crate) const fn preset(epoch_ms: i64, tick_ms: i64, t: u8, w: u8, s: u8, order: Order) -> Layout {
        Layout { epoch_ms, tick_ms, timestamp_bits: t, worker_bits: w, sequence_bits: s, order }
    }

    /// Checks the fields. Errors: `invalid_argument` with the name of the field.
    pub fn new(fields: LayoutFields) -> Result<Layout> {
        let LayoutFields { epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order } = fields;
        for (name, bits, least) in [
            ("timestamp_bits", timestamp_bits, 1),
            ("worker_bits", worker_bits, 0),
            ("sequence_bits", sequence_bits, 0),
        ] {
            if !(least..=62).contains(&bits) {
                return Err(Error::invalid(name, bits, &message!("{least} to 62")));
            }
        }
        if worker_bits > 31 {
            return Err(Error::invalid("worker_bits", worker_bits, Layout::ALLOWED_BITS));
        }
        if sequence_bits > 31 {
            return Err(Error::invalid("sequence_bits", sequence_bits, Layout::ALLOWED_BITS));
        }
        let bits = timestamp_bits + worker_bits + sequence_bits;
        if bits > 63 {
            let text = message!("{timestamp_bits}|{worker_bits}|{sequence_bits}, {bits} bits");
            return Err(Error::invalid(
                "layout",
                text,
                "at most 63 bits together, so that no id is negative",
            ));
        }
        if !(1..=3_600_000).contains(&tick_ms) {
            return Err(Error::invalid("tick_ms", tick_ms, Layout::ALLOWED_TICK_MS));
        }
        if !(0..=LATEST_MS).contains(&epoch_ms) {
            return Err(Error::invalid("epoch_ms", epoch_ms, "Unix milliseconds from 0 to 2^53"));
        }
        let end = (1i64 << timestamp_bits).checked_mul(tick_ms).and_then(|ms| ms.checked_add(epoch_ms));
        if end.is_none_or(|end| end > LATEST_MS) {
            let end = end.map_or_else(|| message!("after 2^63"), |end| message!("at {end}"));
            let text =
                message!("{timestamp_bits} of {tick_ms} ms from {EPOCH_MS} {epoch_ms}, ending {end} ms");
            return Err(Error::invalid("timestamp_bits", text, "an end at or before 2^53 ms: use fewer"));
        }
        // The casts keep their values, because all of them were checked above.
        Ok(Layout::preset(
            epoch_ms,
            tick_ms,
            timestamp_bits as u8,
            worker_bits as u8,
            sequence_bits as u8,
            order,
        ))
    }

    /// Parses a preset's name, or bits as in `41|10|12` (Leaf's epoch, 1 ms, worker-sequence). Errors:
    /// `invalid_argument`.
    pub fn parse(text: &str) -> Result<Layout> {
        if let Some((_, layout)) = Layout::PRESETS.iter().find(|(name, _)| *name == text) {
            return Ok(*layout);
        }
        let wrong = || Error::invalid("layout", Quoted(text), Layout::ALLOWED);
        let mut bits = [0i64; 3];
        let mut parts = text.as_bytes().split(|&byte| byte == b'|');
        for slot in &mut bits {
            *slot = match *parts.next().unwrap_or_default() {
                [ones @ b'0'..=b'9'] => i64::from(ones - b'0'),
                [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => i64::from((tens - b'0') * 10 + (ones - b'0')),
                _ => return Err(wrong()),
            };
        }
        if parts.next().is_some() {
            return Err(wrong());
        }
        Layout::new(LayoutFields {
            timestamp_bits: bits[0],
            worker_bits: bits[1],
            sequence_bits: bits[2],
            ..LayoutFields::default()
        })
    }

    /// The same layout with another epoch. Errors: `invalid_argument`.
    pub fn with_epoch_ms(self, epoch_ms: i64) -> Result<Layout> {
        Layout::new(LayoutFields { epoch_ms, ..self.fields() })
    }

    /// The fields of the layout.
    pub const fn fields(&self) -> LayoutFields {
        LayoutFields {
            epoch_ms: self.epoch_ms,
            tick_ms: self.tick_ms,
            timestamp_bits: self.timestamp_bits as i64,
            worker_bits: self.worker_bits as i64,
            sequence_bits: self.sequence_bits as i64,
            order: self.order,
        }
    }

    /// Unix milliseconds of tick 0.
    #[inline]
    pub const fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }

    /// Milliseconds per tick.
    #[inline]
    pub const fn tick_ms(&self) -> i64 {
        self.tick_ms
    }

    /// The largest worker id.
    #[inline]
    pub const fn max_worker_id(&self) -> u32 {
        (1u32 << self.worker_bits) - 1
    }

    /// The largest sequence number.
    #[inline]
    pub const fn max_sequence(&self) -> u32 {
        (1u32 << self.sequence_bits) - 1
    }

    /// The last tick that has a timestamp.
    #[inline]
    pub const fn last_tick(&self) -> u64 {
        (1u64 << self.timestamp_bits) - 1
    }

    /// The first Unix millisecond after the layout's last tick.
    pub const fn expires_at_ms(&self) -> i64 {
        self.tick_start_ms(self.last_tick() + 1)
    }

    /// Unix milliseconds of the start of this tick. `tick` is at most the last tick plus one.
    #[inline]
    pub const fn tick_start_ms(&self, tick: u64) -> i64 {
        self.epoch_ms + tick as i64 * self.tick_ms
    }

    /// The tick of a time; `None` before the epoch. It may be above the last tick.
    #[inline]
    pub const fn tick_at(&self, now_ms: i64) -> Option<u64> {
        let since = now_ms.wrapping_sub(self.epoch_ms);
        if now_ms < self.epoch_ms {
            None
        } else if self.tick_ms == 1 {
            Some(since as u64)
        } else {
            Some((since / self.tick_ms) as u64)
        }
    }

    /// The first tick that starts at or after a time, such as the `until` of a span; `None` before the epoch.
    pub const fn tick_from(&self, ms: i64) -> Option<u64> {
        self.tick_at(ms.saturating_add(self.tick_ms - 1))
    }

    /// The error for a time before the epoch.
    #[cold]
    pub fn before_epoch(&self, timestamp_ms: i64) -> Error {
        let (time, epoch_ms) = (Utc(timestamp_ms), self.epoch_ms);
        let message = message!(
            "{timestamp_ms} ms ({time}) is before the layout's epoch, {epoch_ms} ms ({})",
            Utc(epoch_ms)
        );
        Error::new(Code::BeforeEpoch, message)
    }

    /// The error for a clock that reads a time before the epoch.
    #[cold]
    pub fn clock_before_epoch(&self, now_ms: i64) -> Error {
        let (time, epoch_ms) = (Utc(now_ms), self.epoch_ms);
        let message = message!(
            "the clock reads {now_ms} ms ({time}), before the layout's epoch, {epoch_ms} ms ({}): correct the clock, or \
             choose an earlier {EPOCH_MS}",
            Utc(epoch_ms)
        );
        Error::new(Code::BeforeEpoch, message)
    }

    /// The error for a time after the last tick.
    #[cold]
    pub fn time_exhausted(&self, now_ms: i64) -> Error {
        let end = self.expires_at_ms();
        let message = message!(
            "{now_ms} ms ({}) is past the layout {self}, whose {} timestamp bits ended at {end} ms ({}): use more bits, or \
             a later epoch",
            Utc(now_ms),
            self.timestamp_bits,
            Utc(end)
        );
        Error::new(Code::TimeExhausted, message)
    }

    /// The tick of an id.
    pub const fn tick_of(&self, id: i64) -> u64 {
        (id >> self.tick_shift()) as u64
    }

    /// The position of an id: `tick << sequence_bits | sequence`.
    pub(crate) const fn position(&self, id: i64) -> u64 {
        let sequence = (id >> self.shifts().1) as u64 & self.max_sequence() as u64;
        self.tick_of(id) << self.sequence_bits | sequence
    }

    /// Whether this position is not the first of its tick.
    pub(crate) const fn is_begun(&self, position: u64) -> bool {
        position & self.max_sequence() as u64 != 0
    }

    pub(crate) const fn sequence_bits(&self) -> u32 {
        self.sequence_bits as u32
    }

    /// The shifts of worker id and sequence.
    #[inline]
    pub(crate) const fn shifts(&self) -> (u32, u32) {
        match self.order {
            Order::WorkerSequence => (self.sequence_bits as u32, 0),
            Order::SequenceWorker => (0, self.worker_bits as u32),
        }
    }

    #[inline]
    pub(crate) const fn tick_shift(&self) -> u32 {
        self.worker_bits as u32 + self.sequence_bits as u32
    }
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::LEAF
    }
}

impl FromStr for Layout {
    type Err = Error;
    fn from_str(text: &str) -> Result<Layout> {
        Layout::parse(text)
    }
}

/// The preset's name, or the bits as in `35|5|23`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Layout::PRESETS.iter().find(|(_, layout)| layout == self) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}|{}|{}", self.timestamp_bits, self.worker_bits, self.sequence_bits),
        }
    }
}
