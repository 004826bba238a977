//! `leafid next`: prints new ids.

use super::options::{Bits, ClaimOptions, Form, Space};
use super::segment_options::SegmentOptions;
use super::streams::{End, Outcome, Streams};
use crate::Result;
use clap::Args;

/// The number of ids that are created before they are written.
const AT_ONCE: u64 = 4_096;

/// Create new ids, one per line: claims a worker id and releases it at the end
///
/// With --tag and --server, the ids come from segments of a server or of file:DIR, and no worker id is claimed.
#[derive(Args)]
pub(super) struct NextArguments {
    /// The number of ids
    #[arg(short = 'n', value_name = "COUNT", allow_negative_numbers = true, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    #[command(flatten)]
    claim: ClaimOptions,
    #[command(flatten)]
    segments: SegmentOptions,
    #[command(flatten)]
    space: Space,
    #[command(flatten)]
    bits: Bits,
    #[command(flatten)]
    form: Form,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn next(arguments: &NextArguments, streams: &mut Streams<'_>) -> Outcome {
    let (made, closed) = match &arguments.segments.tag {
        Some(name) => {
            let segments = arguments.segments.builder(&arguments.space, arguments.count)?;
            let segments = segments.shared_fs(arguments.claim.shared_fs).open()?;
            let tag = segments.tag(name)?;
            (print(arguments, streams, |count| tag.take(count)), segments.close())
        }
        None => {
            let builder = arguments.space.builder().layout(arguments.bits.layout()?);
            let flake = arguments.claim.on(builder).open()?;
            (print(arguments, streams, |count| flake.take(count)), flake.close())
        }
    };
    made?;
    closed?;
    Ok(true)
}

fn print(
    arguments: &NextArguments,
    streams: &mut Streams<'_>,
    mut take: impl FnMut(usize) -> Result<Vec<i64>>,
) -> std::result::Result<(), End> {
    let mut left = arguments.count;
    while left > 0 {
        let ids = take(left.min(AT_ONCE) as usize)?;
        left -= ids.len() as u64;
        for id in ids {
            let id = arguments.form.format_id(id)?;
            match arguments.json {
                true => writeln!(streams.stdout, "{{\"id\":\"{id}\"}}")?,
                false => writeln!(streams.stdout, "{id}")?,
            }
        }
        streams.stdout.flush()?;
    }
    Ok(())
}
