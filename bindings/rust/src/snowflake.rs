//! Snowflake ids: the builder, the handles, and the generator that they share.

pub(crate) mod batch;
pub(crate) mod builder;
pub(crate) mod generator;
pub(crate) mod handle;
pub(crate) mod lease_calls;
pub(crate) mod next_run;
pub(crate) mod recovery;
pub(crate) mod recovery_state;
pub(crate) mod registry;
pub(crate) mod renewal_log;
pub(crate) mod span_writer;
pub(crate) mod stats;
pub(crate) mod thread_local;
pub(crate) mod wait;
