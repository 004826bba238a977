//! `leafid compose`: the id of a time, a worker id and a sequence number.

use super::decode::parts_line;
use super::options::{Bits, Form};
use super::streams::{Outcome, Streams};
use clap::Args;

/// Show the id that has these parts; the opposite of decode
///
/// Prints it as decode does: the id, the time of its tick, worker id and sequence number, separated by tabs. It is not a
/// new id: `next` creates ids.
#[derive(Args)]
pub(super) struct ComposeArguments {
    /// Unix milliseconds, rounded down to the layout's tick
    #[arg(value_name = "TIMESTAMP_MS", allow_negative_numbers = true)]
    timestamp_ms: i64,
    /// The worker id
    #[arg(value_name = "WORKER_ID")]
    worker_id: u32,
    /// The sequence number within the tick
    #[arg(value_name = "SEQUENCE", default_value_t = 0)]
    sequence: u32,
    #[command(flatten)]
    bits: Bits,
    #[command(flatten)]
    form: Form,
    /// Print it as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn compose(arguments: &ComposeArguments, streams: &mut Streams<'_>) -> Outcome {
    let layout = arguments.bits.layout()?;
    let id = layout.compose(arguments.timestamp_ms, arguments.worker_id, arguments.sequence)?;
    let line = parts_line(&arguments.form.format_id(id)?, &layout.decode(id)?, arguments.json);
    writeln!(streams.stdout, "{line}")?;
    Ok(true)
}
