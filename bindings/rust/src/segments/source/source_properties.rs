//! A chosen source and its properties.

use super::callback::SegmentSource;
use leafid_core::{Error, IdOrder, Result};
use std::sync::Arc;

/// A source and its properties.
pub(crate) struct SourceProperties {
    pub(crate) segment_source: SegmentSource,
    /// The name under which its marks are stored.
    pub(crate) name: String,
    /// Whether it has its own step.
    pub(crate) native: bool,
    /// The order of its ids.
    pub(crate) order: IdOrder,
    /// Whether each request returns one id or one block, so that a stock is kept.
    pub(crate) one_by_one: bool,
    /// The number of concurrent requests.
    pub(crate) threads: usize,
    /// Its servers, if it has some.
    pub(crate) servers: Option<Arc<dyn Servers>>,
    /// Errors: `invalid_argument` for a tag that the servers would confuse with another.
    pub(crate) check_tag: Option<Box<CheckTag>>,
}

type CheckTag = dyn Fn(&str) -> Result<()> + Send + Sync;

/// The state of the servers of a source.
pub(crate) trait Servers: Send + Sync {
    /// How long no server may be asked, in milliseconds; `None` if one may be asked now. `urgent`: a caller waits.
    fn back_off_ms(&self, urgent: bool) -> Option<i64>;
    /// Whether each server has refused this tag, and would refuse it until somebody changes the server.
    fn denies(&self, tag: &str) -> bool;
    /// The URL and the last error of each server.
    fn last_errors(&self) -> Vec<(String, Option<Error>)>;
    /// Closes the connections that no request uses.
    fn close_idle(&self);
    /// Ends the running requests; later ones are refused.
    fn close(&self);
}

impl SourceProperties {
    pub(crate) fn new(
        segment_source: SegmentSource,
        name: String,
        native: bool,
        order: IdOrder,
    ) -> SourceProperties {
        SourceProperties {
            segment_source,
            name,
            native,
            order,
            one_by_one: false,
            threads: 1,
            servers: None,
            check_tag: None,
        }
    }
}
