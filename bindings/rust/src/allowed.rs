//! What each option and argument may be: one text for the errors of all languages.

/// What the option or argument `name` may be, for [`leafid_core::Error::invalid`]. A binding uses it for values that
/// its language has and Rust has not: a float, NaN, 2^64.
pub fn allowed(name: &str) -> &'static str {
    match name {
        "worker" => {
            "a worker id such as 7, or a range such as 0-31 with both ends included, within the worker bits of the layout"
        }
        "name" => "1 to 64 of the characters A-Z a-z 0-9 . _ -, not beginning with a dot",
        "state_dir" => "the path of a directory, as text that is not empty and holds no NUL",
        "layout" => leafid_core::Layout::ALLOWED,
        "order" => "\"worker-sequence\" or \"sequence-worker\"",
        "epoch_ms" => "Unix milliseconds from 0 to 2^53, not ahead of the clock",
        "tick_ms" => "1 to 3600000 milliseconds",
        "timestamp_bits" => "1 to 62",
        "worker_bits" | "sequence_bits" => "0 to 31",
        "on_clock_backwards" => "\"continue\" or \"wait\"",
        "max_backwards_ms" => "100 to 3600000 milliseconds under \"continue\", 0 to 3600000 under \"wait\"",
        "on_exhausted" => "\"wait\" or \"borrow\"",
        "random_start" => "0 to 1000000; 0 starts every tick at sequence number 0",
        "timeout_ms" => "1 to 3600000 milliseconds",
        "n" => "1 to 16777216 ids a call",
        "out" => "a writable, C-contiguous buffer of 1 to 16777216 int64 or uint64 elements",
        "id" => "an integer from 0 to 9223372036854775807, or its decimal digits",
        "timestamp_ms" => "Unix milliseconds within the layout",
        "worker_id" => "an integer from 0 to the layout's largest worker id",
        "sequence" => "an integer from 0 to the layout's largest sequence number",
        _ => "see the documentation",
    }
}
