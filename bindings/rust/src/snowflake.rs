//! Snowflake ids: the builder, the handles, and the driver of the generator that they share.

pub(crate) mod batch;
pub(crate) mod builder;
pub(crate) mod driver;
pub(crate) mod generator;
pub(crate) mod handle;
pub(crate) mod next_run;
pub(crate) mod registry;
pub(crate) mod stats;
pub(crate) mod thread_local;
pub(crate) mod wait;
