//! Fetches from counters, for tests that carry out the calls for them one by one.

use super::super::FileSource;
use leafid_core::call::CallId;
use leafid_core::supply::counter_update::{CounterUpdate, NamedCounter};
use leafid_core::{Fetched, Result};
use std::sync::Arc;

impl FileSource {
    /// The name of the directory for the marks, by its path.
    pub(crate) fn source_name(&self) -> String {
        self.known.name.clone()
    }

    /// Takes ids from a tag's counter. `told`: whether a fetch wrote the step that the user named before.
    pub(crate) fn fetch(&self, tag: &str, step: i64, after: i64, told: bool) -> Result<Fetched> {
        let named = self.tags.iter().find(|(named, _)| named == tag);
        let named = named.map(|(_, named)| NamedCounter { told, ..*named });
        let directory = Arc::clone(&self.known);
        let update = CounterUpdate::new(CallId(1), directory, tag.into(), step, after, named);
        self.update(update).into_result()
    }
}
