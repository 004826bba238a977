//! The allowed values of each option and argument: one text for the errors of all languages.

use crate::{Layout, OnClockBackwards, OnExhausted, Order};
#[cfg(any(feature = "format", feature = "wire"))]
use crate::{Lease, TextForm, options::clock_source::ClockSource};

/// The allowed values of the option or argument `name`, for [`crate::Error::invalid`].
///
/// A binding uses it for values that its language has and Rust does not: a float, NaN, 2^64.
pub fn allowed(name: &str) -> &'static str {
    match name {
        "layout" => Layout::ALLOWED,
        "order" => Order::ALLOWED,
        "epoch_ms" => "Unix milliseconds from 0 to 2^53, not ahead of the clock",
        "tick_ms" => Layout::ALLOWED_TICK_MS,
        "timestamp_bits" => "1 to 62",
        "worker_bits" | "sequence_bits" => Layout::ALLOWED_BITS,
        "on_clock_backwards" => OnClockBackwards::ALLOWED,
        "max_backwards_ms" => OnClockBackwards::ALLOWED_MAX_MS,
        "on_exhausted" => OnExhausted::ALLOWED,
        "random_start" => "0 to 1000000; 0 starts every tick at sequence number 0",
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

/// The options of hosts and of segments.
#[cfg(any(feature = "format", feature = "wire"))]
fn of_host(name: &str) -> &'static str {
    match name {
        "worker" => {
            "a number, a range such as 0-31, hostname:NAME, the URL of a lease server or a callback: docs/OPTIONS.md"
        }
        "name" => "1 to 64 of the characters A-Z a-z 0-9 . _ -, not beginning with a dot",
        "state_dir" => "the path of a directory, as text that is not empty and holds no NUL",
        "no_record_wait_ms" => "0 to 3600000 milliseconds; 0 is off",
        "clock_source" => ClockSource::ALLOWED,
        "start_after" => "an id of this layout, 0 to 9223372036854775807",
        "peer_times" => "a callback that returns the clocks of peers, in Unix milliseconds",
        "persist" | "shared_fs" | "shared_group" | "exclusive_range" | "lazy" => "true or false",
        "from_ms" | "until_ms" => "an integer, Unix milliseconds",
        "lease_ms" => Lease::ALLOWED_MS,
        "token" => "text that is not empty and has no control characters, or none",
        "peer_times_ms" => "integers, Unix milliseconds",
        "servers" => "URLs such as http://leaf-1:8080, or file:DIR alone; or fetch, a callback, instead",
        "fetch" => "a callback that gives segments",
        "protocol" => "\"leaf\", \"leaf-snowflake\", \"range\" or \"tinyid\"",
        "block_size" => "2 to 1000000 ids, with protocol \"leaf\" and tags called …-xN for N ids",
        "step" => "1 to 1000000 ids",
        "prefetch" => "0 to 100 percent",
        "headers" => "names and values as HTTP has them",
        "ca_file" => "the path of a PEM file of certificates",
        "connections" => "1 to 64",
        "prewarm" => "at most 1000 tags, or those of the last day",
        "form" => TextForm::ALLOWED,
        "version" => "0 to 31",
        "text" => "the text of an id, as a string",
        "tag" => "1 to 128 bytes of UTF-8 without control characters",
        "tags" => "tags with their start and step",
        "start" => "0 to 9223372036854775806",
        "adaptive" | "create" | "keep_unused" | "ordered_source" => "true or false",
        "request_timeout_ms" | "connect_timeout_ms" | "timeout_ms" => "1 to 3600000 milliseconds",
        "out" => "a writable, C-contiguous buffer of up to 16777216 int64 or uint64 elements",
        _ => "see the documentation",
    }
}
