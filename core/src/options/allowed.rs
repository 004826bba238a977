//! The allowed values of each option and argument: one text for the errors of all languages.

use crate::{Layout, OnClockBackwards, OnExhausted, Order, Rules};
#[cfg(any(feature = "format", feature = "wire"))]
use crate::{Lease, TextForm, options::table::find};

/// The allowed values of the option or argument `name`, for [`crate::Error::invalid`].
///
/// A binding uses it for values that its language has and Rust does not: a float, NaN, 2^64.
pub fn allowed(name: &str) -> &'static str {
    match name {
        "layout" => Layout::ALLOWED,
        "order" => Order::ALLOWED,
        "epoch_ms" => Layout::ALLOWED_EPOCH_MS,
        "tick_ms" => Layout::ALLOWED_TICK_MS,
        "timestamp_bits" => "1 to 62",
        "worker_bits" | "sequence_bits" => Layout::ALLOWED_BITS,
        "on_clock_backwards" => OnClockBackwards::ALLOWED,
        "max_backwards_ms" => OnClockBackwards::ALLOWED_MAX_MS,
        "on_exhausted" => OnExhausted::ALLOWED,
        "random_start" => Rules::ALLOWED_RANDOM_START,
        "n" => "0 to 16777216 ids a call",
        "id" => "an integer from 0 to 9223372036854775807, or its decimal digits",
        "timestamp_ms" => "Unix milliseconds within the layout",
        "worker_id" => "an integer from 0 to the layout's largest worker id",
        "sequence" => "an integer from 0 to the layout's largest sequence number",
        _ => of_host(name),
    }
}

/// A core without files and servers serves generators alone, and knows no option of a host.
#[cfg(not(any(feature = "format", feature = "wire")))]
fn of_host(_: &str) -> &'static str {
    "see the documentation"
}

/// The options of hosts and of segments, and the arguments besides.
#[cfg(any(feature = "format", feature = "wire"))]
fn of_host(name: &str) -> &'static str {
    if let Some(row) = find(name) {
        return row.allowed;
    }
    match name {
        "from_ms" | "until_ms" => "an integer, Unix milliseconds",
        "lease_ms" => Lease::ALLOWED_MS,
        "peer_times_ms" => "integers, Unix milliseconds",
        "form" => TextForm::ALLOWED,
        "version" => "0 to 31",
        "text" => "the text of an id, as a string",
        "tag" => "1 to 128 bytes of UTF-8 without control characters",
        "start" => "0 to 9223372036854775806",
        "out" => "a writable, C-contiguous buffer of up to 16777216 int64 or uint64 elements",
        _ => "see the documentation",
    }
}
