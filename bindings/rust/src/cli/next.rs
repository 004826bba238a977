//! `leafid next`: prints new ids.

use super::options::{Bits, ClaimOptions, Form, Space};
use super::streams::{End, Outcome, Streams};
use clap::Args;

/// The number of ids that are created before they are written.
const AT_ONCE: u64 = 4_096;

/// Create new ids, one per line: claims a worker id and releases it at the end
#[derive(Args)]
pub(super) struct NextArguments {
    /// The number of ids
    #[arg(short = 'n', value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    #[command(flatten)]
    claim: ClaimOptions,
    #[command(flatten)]
    space: Space,
    #[command(flatten)]
    bits: Bits,
    #[command(flatten)]
    form: Form,
}

pub(super) fn next(arguments: &NextArguments, streams: &mut Streams<'_>) -> Outcome {
    let builder = arguments.space.builder().layout(arguments.bits.layout()?);
    let flake = arguments.claim.on(builder).open()?;
    let mut left = arguments.count;
    let mut made = || -> Result<(), End> {
        while left > 0 {
            let ids = flake.take(left.min(AT_ONCE) as usize)?;
            left -= ids.len() as u64;
            for id in ids {
                writeln!(streams.stdout, "{}", arguments.form.format_id(id)?)?;
            }
            streams.stdout.flush()?;
        }
        Ok(())
    };
    let made = made();
    let closed = flake.close();
    made?;
    closed?;
    Ok(true)
}
