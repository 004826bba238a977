//! `leafid at`: the ids of a time.

use super::options::{Bits, Form};
use super::streams::{Outcome, Streams};
use crate::{Layout, Result};
use clap::Args;

/// Show the first and the last id that a time can have
///
/// Prints one line for each time: Unix milliseconds, the first id and the last id of its tick, separated by tabs. So the
/// ids of a period are found: WHERE id BETWEEN the first one of its begin AND the last one of its end.
#[derive(Args)]
pub(super) struct AtArguments {
    /// Times in Unix milliseconds, such as those of `date -d 2026-01-01 +%s000`
    #[arg(value_name = "TIMESTAMP_MS", required = true, allow_negative_numbers = true, value_parser = unix_ms)]
    times: Vec<i64>,
    #[command(flatten)]
    bits: Bits,
    #[command(flatten)]
    form: Form,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

fn unix_ms(text: &str) -> std::result::Result<i64, &'static str> {
    text.parse().map_err(|_| "allowed: Unix milliseconds, such as those of `date -d 2026-01-01 +%s000`")
}

pub(super) fn at(arguments: &AtArguments, streams: &mut Streams<'_>) -> Outcome {
    let layout = arguments.bits.layout()?;
    let mut all = true;
    for &time in &arguments.times {
        match line(time, &layout, arguments) {
            Ok(line) => writeln!(streams.stdout, "{line}")?,
            Err(error) => {
                all = false;
                streams.complain(error);
            }
        }
    }
    Ok(all)
}

fn line(time: i64, layout: &Layout, arguments: &AtArguments) -> Result<String> {
    let first = arguments.form.format_id(layout.first_id_at(time)?)?;
    let last = arguments.form.format_id(layout.last_id_at(time)?)?;
    Ok(match arguments.json {
        true => format!("{{\"timestamp_ms\":{time},\"first\":\"{first}\",\"last\":\"{last}\"}}"),
        false => format!("{time}\t{first}\t{last}"),
    })
}
