//! Entry points for the fuzz targets: functions that read bytes, text and options, each unchanged.
//!
//! They exist only with `--cfg fuzzing`, which `make fuzz` and cargo-fuzz set.

#![allow(missing_docs)]

mod of_segments;

pub use of_segments::{accept, ask, segments_options, stored_of_segments, take};

use crate::http::ServerUrl;
use crate::os::env;
use crate::storage::shared_file;
use crate::worker::lease_cache::LeaseFiles;
use crate::worker::settings::SnowflakeSettings;
use crate::{SnowflakeBuilder, Worker};
use leafid_core::ClockFilter;
use leafid_core::format::cached_lease::LeaseFile;
use leafid_core::format::state::{self, SlotPair};
use leafid_core::format::two_slots::SLOT_BYTES;
use leafid_core::options::of_hostname;
use leafid_core::run::cache_read::{CacheRead, CacheSeeker};
use leafid_core::{Layout, Lease, Record, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The content of a state file.
#[derive(Debug)]
pub struct State {
    pub number: u64,
    pub name: String,
    pub record: Record,
    pub spare: usize,
    pub damaged: bool,
    /// The slot as it would be written.
    pub again: Result<[u8; SLOT_BYTES]>,
}

pub fn state(bytes: &[u8]) -> Result<State> {
    let SlotPair { newest, spare, damaged } = state::read_file("file", bytes)?;
    // The clock filter gets the times of its writer, for the same start of the machine.
    let (writer, filter, ns) = (&newest.writer, ClockFilter::new(), |ms: i64| ms.saturating_mul(1_000_000));
    let then = (ns(newest.record.granted_at_ms), ns(writer.counted_ms));
    filter.observe(
        then,
        writer.leap_ms.map(|(leap, since)| (ns(leap), ns(since))),
        (ns(1 << 41), ns(1 << 30)),
    );
    let _ = filter.leap();
    let again = newest.to_bytes();
    Ok(State { number: newest.number, name: newest.name, record: newest.record, spare, damaged, again })
}

/// Reads the file of a cached lease and writes its content. Returns whether a slot was damaged.
pub fn stored_lease(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    shared_file::rewrite::<LeaseFile>(bytes)
}

/// The lease with which a start continues.
pub fn find_cached(
    builder: &SnowflakeBuilder,
    servers: &[String],
    worker_id: u32,
    owner: u128,
) -> Result<Option<(Lease, Duration)>> {
    let (env, settings) = (env::of_process(), SnowflakeSettings::parse(&builder.options)?);
    let name = settings.options.name.clone();
    let seeker = CacheSeeker { name, servers: servers.to_vec(), boot: env.clock.boot_id() };
    let files = LeaseFiles { env, directory: &settings.directory };
    files.find(CacheRead::new(seeker, worker_id, owner)).into_result()
}

/// This start of the machine, and the boot time.
pub fn clock() -> (String, i64) {
    let clock = &env::of_process().clock;
    (clock.boot_id(), clock.boot_time().as_millis() as i64)
}

pub fn worker_ids(worker: &Worker, layout: &Layout) -> Result<Option<(u32, u32)>> {
    let builder = crate::Snowflake::builder().worker(worker.clone()).layout(*layout);
    Ok(snowflake_options(&builder)?.worker_ids)
}

pub fn ids_of_hostname(wanted: &str, host: &str) -> std::result::Result<(i64, i64), String> {
    of_hostname(wanted, host)
}

/// The stored form of a URL, and whether it is on this machine.
pub fn server_url(text: &str) -> Result<(String, bool)> {
    ServerUrl::parse("servers", text).map(|url| (url.join(""), url.is_loopback()))
}

/// The options of a snowflake that were accepted.
#[derive(Debug, PartialEq, Eq)]
pub struct Taken {
    pub name: String,
    pub directory: PathBuf,
    pub worker_ids: Option<(u32, u32)>,
    pub layout: Layout,
    pub start: u64,
    pub times: (Duration, Option<Duration>),
    pub random_start: u32,
    pub max_backwards_ms: i64,
    pub persist: bool,
}

/// Checks options and opens nothing.
pub fn snowflake_options(builder: &SnowflakeBuilder) -> Result<Taken> {
    let SnowflakeSettings { options, directory, max_wait, .. } = SnowflakeSettings::parse(&builder.options)?;
    Ok(Taken {
        worker_ids: options.worker.ids().map(|ids| (ids.first, ids.last)),
        name: options.name,
        directory,
        layout: options.layout,
        start: options.start,
        times: (options.timeout, max_wait),
        random_start: options.rules.random_start,
        max_backwards_ms: options.rules.max_backwards_ms,
        persist: options.persist,
    })
}

/// Whether the command line is valid. It is not run.
#[cfg(feature = "cli")]
pub fn command_line(arguments: Vec<OsString>) -> bool {
    crate::cli::is_right(arguments)
}
