//! Layouts as a plain struct.

use crate::guard::guard;
use crate::leafid_status;
use crate::pointer::{Out, shared};
use crate::text;
use leafid::{Error, Layout, LayoutFields, Order, Result, allowed};
use std::ffi::c_char;

/// The order of worker id and sequence below the timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum leafid_order {
    /// Timestamp, worker id, sequence: Leaf's and Twitter's.
    LEAFID_ORDER_WORKER_SEQUENCE = 0,
    /// Timestamp, sequence, worker id: Sonyflake's.
    LEAFID_ORDER_SEQUENCE_WORKER = 1,
}

/// The meaning of the 64 bits of an id. Fill it with leafid_layout_parse, then change fields. Every function that
/// takes a layout checks it: at most 63 bits together, and an end at or before 2^53 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_layout {
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
    /// A leafid_order. Leaf's: LEAFID_ORDER_WORKER_SEQUENCE.
    pub order: i32,
}

impl From<Layout> for leafid_layout {
    fn from(layout: Layout) -> leafid_layout {
        let fields = layout.fields();
        // The casts keep their values, because the bits of a checked layout are at most 62.
        leafid_layout {
            epoch_ms: fields.epoch_ms,
            tick_ms: fields.tick_ms,
            timestamp_bits: fields.timestamp_bits as i32,
            worker_bits: fields.worker_bits as i32,
            sequence_bits: fields.sequence_bits as i32,
            order: match fields.order {
                Order::WorkerSequence => leafid_order::LEAFID_ORDER_WORKER_SEQUENCE as i32,
                Order::SequenceWorker => leafid_order::LEAFID_ORDER_SEQUENCE_WORKER as i32,
            },
        }
    }
}

impl leafid_layout {
    pub(crate) fn check(&self) -> Result<Layout> {
        let order = match self.order {
            order if order == leafid_order::LEAFID_ORDER_WORKER_SEQUENCE as i32 => Order::WorkerSequence,
            order if order == leafid_order::LEAFID_ORDER_SEQUENCE_WORKER as i32 => Order::SequenceWorker,
            other => return Err(Error::invalid("order", other, allowed("order"))),
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
pub(crate) unsafe fn or_leaf(layout: *const leafid_layout) -> Result<Layout> {
    if layout.is_null() {
        return Ok(Layout::LEAF);
    }
    // SAFETY: not NULL, live by the caller's duty.
    unsafe { shared(layout, "layout") }?.check()
}

/// Parses a layout: a preset ("leaf", "uid-generator", "yitter", "sonyflake", "js-safe") or bits of timestamp, worker
/// id and sequence as in "35|5|23" (with Leaf's epoch, ticks of 1 ms, worker id above sequence).
///
/// Errors: LEAFID_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_layout_parse(text: *const c_char, out: *mut leafid_layout) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (text, out) = unsafe { (text::read(text, "layout")?, Out::new(out, "out")?) };
        out.write(Layout::parse(text)?.into());
        Ok(())
    })
}

/// The end of a layout: the first Unix millisecond that has no id. `layout` NULL: Leaf's.
///
/// Errors: LEAFID_INVALID_ARGUMENT for an invalid layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_layout_expires_at_ms(
    layout: *const leafid_layout,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (layout, out) = unsafe { (or_leaf(layout)?, Out::new(out, "out")?) };
        out.write(layout.expires_at_ms());
        Ok(())
    })
}
