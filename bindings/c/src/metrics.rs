//! Metrics of the generators of this process, in the text format of Prometheus.

use crate::guard::guard;
use crate::leafid_status;
use crate::text;
use std::ffi::c_char;

/// The statistics of everything open in this process, in the OpenMetrics text format of Prometheus. Serve it as
/// "application/openmetrics-text; version=1.0.0; charset=utf-8". Text as leafid_snowflake_name writes it. Each call
/// makes a new text, so leave room beyond the `needed` of the call before. Reads memory only. A forked child shows
/// the generators that it has used itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_metrics(buf: *mut c_char, cap: usize, needed: *mut usize) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    guard(|| unsafe { text::write_sized(&leafid::metrics(), buf, cap, needed) })
}
