//! A source without servers.

use super::callback::SegmentSource;
use leafid_core::Error;
use std::sync::Arc;

pub(crate) struct SourceProperties {
    pub(crate) segment_source: SegmentSource,
    pub(crate) name: String,
    pub(crate) native: bool,
    pub(crate) one_by_one: bool,
    pub(crate) threads: usize,
    pub(crate) servers: Option<Arc<dyn Servers>>,
}

pub(crate) trait Servers: Send + Sync {
    fn back_off_ms(&self, urgent: bool) -> Option<i64>;
    fn denies(&self, tag: &str) -> bool;
    fn last_errors(&self) -> Vec<(String, Option<Error>)>;
    fn close_idle(&self);
    fn close(&self);
}
