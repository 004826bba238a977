//! Conversion of ids to parts and back.

use crate::error::message;
use crate::quoted::Quoted;
use crate::{Error, Layout, Result};

/// The parts of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parts {
    /// Unix milliseconds, rounded down to the layout's tick.
    pub timestamp_ms: i64,
    /// The worker id.
    pub worker_id: u32,
    /// The sequence number within the tick.
    pub sequence: u32,
}

impl Layout {
    /// Composes the id of these parts. `timestamp_ms` is rounded down to the tick.
    ///
    /// Errors: `before_epoch`, `time_exhausted`, and `invalid_argument` for a worker id or sequence outside its bits.
    ///
    /// ```
    /// let id = leafid_core::Layout::LEAF.compose(1_567_733_700_834, 39, 3_448)?;
    /// assert_eq!(id, 1_169_786_042_799_259_000);
    /// # Ok::<(), leafid_core::Error>(())
    /// ```
    #[inline]
    pub fn compose(&self, timestamp_ms: i64, worker_id: u32, sequence: u32) -> Result<i64> {
        if worker_id > self.max_worker_id() {
            return Err(Error::out_of_range("worker_id", worker_id, self.max_worker_id()));
        }
        if sequence > self.max_sequence() {
            return Err(Error::out_of_range("sequence", sequence, self.max_sequence()));
        }
        let tick = self.tick_at(timestamp_ms).ok_or_else(|| self.before_epoch(timestamp_ms))?;
        if tick > self.last_tick() {
            return Err(self.time_exhausted(timestamp_ms));
        }
        let (worker_shift, sequence_shift) = self.shifts();
        let low = u64::from(worker_id) << worker_shift | u64::from(sequence) << sequence_shift;
        // At most 63 bits, checked by Layout::new, so it is never negative.
        Ok((tick << self.tick_shift() | low) as i64)
    }

    /// The smallest id of the tick that contains this time. With [`Layout::last_id_at`] it finds the ids of a period:
    /// `WHERE id BETWEEN first_id_at(from) AND last_id_at(until)`, with all ids of the ticks of `from` and `until`.
    ///
    /// Errors: `before_epoch`, `time_exhausted`.
    ///
    /// ```
    /// let layout = leafid_core::Layout::LEAF;
    /// assert_eq!(layout.first_id_at(1_567_733_700_834)?, 1_169_786_042_799_095_808);
    /// assert_eq!(layout.last_id_at(1_567_733_700_834)?, 1_169_786_042_803_290_111);
    /// # Ok::<(), leafid_core::Error>(())
    /// ```
    pub fn first_id_at(&self, timestamp_ms: i64) -> Result<i64> {
        self.compose(timestamp_ms, 0, 0)
    }

    /// The largest id of the tick that contains this time. Errors: as [`Layout::first_id_at`].
    pub fn last_id_at(&self, timestamp_ms: i64) -> Result<i64> {
        self.compose(timestamp_ms, self.max_worker_id(), self.max_sequence())
    }

    /// Splits an id into its parts. Errors: `invalid_argument` for a negative id or one with more bits than the layout.
    #[inline]
    pub fn decode(&self, id: i64) -> Result<Parts> {
        let bits = id as u64;
        if id < 0 || (bits >> self.tick_shift()) > self.last_tick() {
            let most = (self.last_tick() << self.tick_shift()) | ((1u64 << self.tick_shift()) - 1);
            return Err(Error::invalid("id", id, &message!("0 to {most} in the layout {self}")));
        }
        let (worker_shift, sequence_shift) = self.shifts();
        Ok(Parts {
            timestamp_ms: self.tick_start_ms(bits >> self.tick_shift()),
            worker_id: (bits >> worker_shift) as u32 & self.max_worker_id(),
            sequence: (bits >> sequence_shift) as u32 & self.max_sequence(),
        })
    }
}

/// Parses an id from decimal text: ASCII digits only, 0 to 2^63-1. Errors: `invalid_argument`.
pub fn parse_id(text: &str) -> Result<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    let more = |id: i64, byte| id.checked_mul(10)?.checked_add(digit(byte)?);
    let id = text.bytes().try_fold(0, more).filter(|_| !text.is_empty());
    id.ok_or_else(|| Error::invalid("id", Quoted(text), "decimal digits, 0 to 9223372036854775807"))
}

/// The same number without a sign. Errors: `invalid_argument` for a negative one.
pub(crate) fn whole(id: i64) -> Result<u64> {
    u64::try_from(id).map_err(|_| Error::invalid("id", id, "0 to 9223372036854775807"))
}
