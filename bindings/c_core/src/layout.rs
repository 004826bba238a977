//! Layouts as a plain struct.

use crate::leafid_core_status;
use crate::pointer::{read, shared, write};
use crate::status::report;
use core::ffi::c_char;
use leafid_core::{Error, Layout, LayoutFields, Order, Result};

/// The order of worker id and sequence below the timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_core_order {
    /// Timestamp, worker id, sequence: Leaf's and Twitter's.
    LEAFID_CORE_ORDER_WORKER_SEQUENCE = 0,
    /// Timestamp, sequence, worker id: Sonyflake's.
    LEAFID_CORE_ORDER_SEQUENCE_WORKER = 1,
}

/// The meaning of the 64 bits of an id. Fill it with leafid_core_layout_parse, then change fields. Every function that
/// takes a layout checks it: at most 63 bits together, and an end at or before 2^53 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_core_layout {
    /// Unix milliseconds of tick 0. Leaf's: 1288834974657.
    pub epoch_ms: i64,
    /// Milliseconds per tick, 1 to 3600000. Leaf's: 1.
    pub tick_ms: i64,
    /// Bits of the tick counter, 1 to 62. Leaf's: 41.
    pub timestamp_bits: i32,
    /// Bits of the worker id, 0 to 31. Leaf's: 10.
    pub worker_bits: i32,
    /// Bits of the sequence, 0 to 31. Leaf's: 12.
    pub sequence_bits: i32,
    /// A leafid_core_order. Leaf's: LEAFID_CORE_ORDER_WORKER_SEQUENCE.
    pub order: i32,
}

impl From<Layout> for leafid_core_layout {
    fn from(layout: Layout) -> leafid_core_layout {
        let fields = layout.fields();
        // The casts keep their values, because the bits of a checked layout are at most 62.
        leafid_core_layout {
            epoch_ms: fields.epoch_ms,
            tick_ms: fields.tick_ms,
            timestamp_bits: fields.timestamp_bits as i32,
            worker_bits: fields.worker_bits as i32,
            sequence_bits: fields.sequence_bits as i32,
            order: match fields.order {
                Order::WorkerSequence => leafid_core_order::LEAFID_CORE_ORDER_WORKER_SEQUENCE as i32,
                Order::SequenceWorker => leafid_core_order::LEAFID_CORE_ORDER_SEQUENCE_WORKER as i32,
            },
        }
    }
}

impl leafid_core_layout {
    fn check(&self) -> Result<Layout> {
        let order = match self.order {
            0 => Order::WorkerSequence,
            1 => Order::SequenceWorker,
            other => return Err(Error::invalid("order", other, "a leafid_core_order: 0 or 1")),
        };
        Layout::new(LayoutFields {
            epoch_ms: self.epoch_ms,
            tick_ms: self.tick_ms,
            timestamp_bits: self.timestamp_bits.into(),
            worker_bits: self.worker_bits.into(),
            sequence_bits: self.sequence_bits.into(),
            order,
        })
    }
}

/// The layout argument of a function; NULL means Leaf's.
///
/// # Safety
/// When not NULL, `layout` points to a live struct.
pub(crate) unsafe fn or_leaf(layout: *const leafid_core_layout) -> Result<Layout> {
    if layout.is_null() {
        return Ok(Layout::LEAF);
    }
    // SAFETY: not NULL, live by the caller's duty.
    unsafe { shared(layout, "layout") }?.check()
}

/// Parses a layout: a preset ("leaf", "uid-generator", "yitter", "sonyflake", "js-safe") or bits of timestamp, worker
/// id and sequence as in "35|5|23" (with Leaf's epoch, ticks of 1 ms, worker id above sequence).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_layout_parse(
    text: *const c_char,
    out: *mut leafid_core_layout,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || write(out, "out", Layout::parse(read(text, "layout", Layout::ALLOWED)?)?.into());
        report(body(), error, error_cap)
    }
}

/// The tick of a time: the first one of a new worker id's generator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_core_tick_at(
    layout: *const leafid_core_layout,
    now_ms: i64,
    out: *mut u64,
    error: *mut c_char,
    error_cap: usize,
) -> leafid_core_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        let body = || {
            let layout = or_leaf(layout)?;
            // What composes is inside the layout's time.
            layout.compose(now_ms, 0, 0)?;
            write(out, "out", layout.tick_at(now_ms).unwrap_or_default())
        };
        report(body(), error, error_cap)
    }
}
