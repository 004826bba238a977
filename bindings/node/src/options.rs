//! The options of a snowflake in the form of JavaScript.

use crate::id::existing;
use crate::layout::{LayoutArgument, layout};
use leafid::{ClockSource, OnClockBackwards, OnExhausted, Result, Snowflake, SnowflakeBuilder, Worker};
use napi::bindgen_prelude::{BigInt, Either, Either4};
use napi_derive::napi;
use std::collections::BTreeMap;

/// A longer wait of the JavaScript thread returns `would_block`.
pub(crate) const MAX_WAIT_MS: i64 = 2;

/// A range of worker ids, both ends included.
#[napi(object, object_to_js = false)]
pub struct WorkerRange {
    /// The smallest id.
    pub first: i64,
    /// The largest id.
    pub last: i64,
}

/// Worker ids: one, the URLs of lease servers, a range, or text. The array comes first, because it is an object too.
pub type WorkerArgument = Either4<i64, Vec<String>, WorkerRange, String>;

/// The options of a snowflake. A missing option has the host's default.
#[napi(object, object_to_js = false)]
pub struct Options {
    /// The worker ids.
    pub worker: Option<WorkerArgument>,
    /// The id space.
    pub name: Option<String>,
    /// The directory of the records.
    pub state_dir: Option<String>,
    /// The layout.
    pub layout: Option<LayoutArgument>,
    /// The epoch, Unix milliseconds.
    pub epoch_ms: Option<i64>,
    /// `continue` or `wait`.
    pub on_clock_backwards: Option<String>,
    /// How far the clock may be behind the last id.
    pub max_backwards_ms: Option<i64>,
    /// `wait` or `borrow`.
    pub on_exhausted: Option<String>,
    /// The upper bound of a tick's first sequence number.
    pub random_start: Option<i64>,
    /// The longest wait of a call.
    pub timeout_ms: Option<i64>,
    /// Whether a record is stored.
    pub persist: Option<bool>,
    /// Whether the directory may be on a network file system.
    pub shared_fs: Option<bool>,
    /// Whether the members of one group share the directory.
    pub shared_group: Option<bool>,
    /// Whether no other container or host has the range.
    pub exclusive_range: Option<bool>,
    /// How long a start without a record issues nothing.
    pub no_record_wait_ms: Option<i64>,
    /// Whether the worker id is claimed at the first id.
    pub lazy: Option<bool>,
    /// `system` or `coarse`.
    pub clock_source: Option<String>,
    /// The largest existing id.
    pub start_after: Option<Either<BigInt, String>>,
    /// The token for lease servers.
    pub token: Option<String>,
    /// More headers for lease servers.
    pub headers: Option<BTreeMap<String, String>>,
    /// Certificate authorities in addition to the system's.
    pub ca_file: Option<String>,
    /// The longest duration of a claim, a renewal or a release.
    pub request_timeout_ms: Option<i64>,
    /// The longest duration of a connection.
    pub connect_timeout_ms: Option<i64>,
}

/// Passes the value of an option to its setter, if there is one.
pub(crate) fn set<B, T>(builder: B, value: Option<T>, setter: impl FnOnce(B, T) -> B) -> B {
    match value {
        Some(value) => setter(builder, value),
        None => builder,
    }
}

pub(crate) fn worker_ids(argument: WorkerArgument) -> Worker {
    match argument {
        Either4::A(id) => Worker::Id(id),
        Either4::B(urls) => Worker::Servers(urls),
        Either4::C(WorkerRange { first, last }) => Worker::Range { first, last },
        Either4::D(text) => Worker::Text(text),
    }
}

impl Options {
    /// For handles that the JavaScript thread uses.
    pub(crate) fn builder(self) -> Result<SnowflakeBuilder> {
        Ok(self.waiting_builder()?.max_wait_ms(MAX_WAIT_MS))
    }

    /// For handles that other threads use.
    pub(crate) fn waiting_builder(self) -> Result<SnowflakeBuilder> {
        let mut builder = Snowflake::builder().layout(layout(self.layout)?);
        if let Some(worker) = self.worker {
            builder = builder.worker(worker_ids(worker));
        }
        builder = set(builder, self.name, SnowflakeBuilder::name);
        builder = set(builder, self.state_dir, SnowflakeBuilder::state_dir);
        builder = set(builder, self.epoch_ms, SnowflakeBuilder::epoch_ms);
        if let Some(rule) = self.on_clock_backwards {
            builder = builder.on_clock_backwards(OnClockBackwards::parse(&rule)?);
        }
        builder = set(builder, self.max_backwards_ms, SnowflakeBuilder::max_backwards_ms);
        if let Some(rule) = self.on_exhausted {
            builder = builder.on_exhausted(OnExhausted::parse(&rule)?);
        }
        builder = set(builder, self.random_start, SnowflakeBuilder::random_start);
        builder = set(builder, self.timeout_ms, SnowflakeBuilder::timeout_ms);
        builder = set(builder, self.persist, SnowflakeBuilder::persist);
        builder = set(builder, self.shared_fs, SnowflakeBuilder::shared_fs);
        builder = set(builder, self.shared_group, SnowflakeBuilder::shared_group);
        builder = set(builder, self.exclusive_range, SnowflakeBuilder::exclusive_range);
        builder = set(builder, self.no_record_wait_ms, SnowflakeBuilder::no_record_wait_ms);
        builder = set(builder, self.lazy, SnowflakeBuilder::lazy);
        if let Some(source) = self.clock_source {
            builder = builder.clock_source(ClockSource::parse(&source)?);
        }
        if let Some(id) = self.start_after {
            builder = builder.start_after(existing(id)?);
        }
        builder = set(builder, self.token, SnowflakeBuilder::token);
        builder = set(builder, self.headers, SnowflakeBuilder::headers);
        builder = set(builder, self.ca_file, SnowflakeBuilder::ca_file);
        builder = set(builder, self.request_timeout_ms, SnowflakeBuilder::request_timeout_ms);
        builder = set(builder, self.connect_timeout_ms, SnowflakeBuilder::connect_timeout_ms);
        Ok(builder)
    }
}
