//! The options of segments, with the library's names.

use super::options::Space;
use crate::config::user_options::token_of;
use crate::{Protocol, Result, Segments, SegmentsBuilder};
use clap::Args;
use std::path::PathBuf;

/// The largest step.
const MOST: u64 = 1_000_000;

#[derive(Args)]
pub(super) struct SegmentOptions {
    /// Take ids of this tag from segments, not snowflakes
    #[arg(long, value_name = "TAG", requires = "servers", conflicts_with_all = [
        "worker", "exclusive_range", "no_record_wait_ms", "layout", "epoch_ms",
    ])]
    pub(super) tag: Option<String>,
    /// A server of segments such as http://leaf-1:8080, or file:DIR; can be repeated, the first one is preferred
    #[arg(long = "server", value_name = "URL", requires = "tag")]
    servers: Vec<String>,
    /// The servers' protocol: leaf, leaf-snowflake, range or tinyid [default: leaf]
    #[arg(long, value_name = "P", requires = "tag")]
    protocol: Option<Protocol>,
    /// How many ids to ask the source for [default: COUNT, at most 1000000; tinyid has its own]
    #[arg(long, value_name = "N", requires = "tag")]
    step: Option<i64>,
    /// Of a tag called …-xN: N with protocol leaf; else 1, if nobody takes its numbers for blocks of ids
    #[arg(long, value_name = "N", requires = "tag")]
    block_size: Option<i64>,
    /// A file with the token that is sent to the servers
    #[arg(long, value_name = "FILE", requires = "tag")]
    token_file: Option<PathBuf>,
    /// A PEM file of certificate authorities for the servers
    #[arg(long, value_name = "FILE", requires = "tag")]
    ca_file: Option<PathBuf>,
    /// How long a call waits for a segment, milliseconds [default: 2000]
    #[arg(long, value_name = "N", requires = "tag")]
    timeout_ms: Option<i64>,
}

impl SegmentOptions {
    /// Fetches no more than `count` ids at a time, and stores the unused ones for the next run.
    pub(super) fn builder(&self, space: &Space, count: u64) -> Result<SegmentsBuilder> {
        let mut builder = Segments::builder()
            .servers(self.servers.iter().map(String::as_str))
            .adaptive(false)
            .prefetch(100)
            .keep_unused(true);
        if let Some(name) = &space.name {
            builder = builder.name(name);
        }
        if let Some(dir) = &space.state_dir {
            builder = builder.state_dir(dir);
        }
        if let Some(protocol) = self.protocol {
            builder = builder.protocol(protocol);
        }
        let step = self.step.or((self.protocol != Some(Protocol::Tinyid)).then_some(count.min(MOST) as i64));
        if let Some(step) = step {
            builder = builder.step(step);
        }
        if let Some(ids) = self.block_size {
            builder = builder.block_size(ids);
        }
        if let Some(path) = &self.token_file {
            builder = builder.token(token_of("token_file", path)?);
        }
        if let Some(path) = &self.ca_file {
            builder = builder.ca_file(path);
        }
        if let Some(ms) = self.timeout_ms {
            builder = builder.timeout_ms(ms);
        }
        Ok(builder)
    }
}
