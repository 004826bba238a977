//! A tag, and the callable that its ids come from.

use super::fetch::Fetch;
use crate::errors;
use leafid::{Code, Error, Tag};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

pub(super) struct SourcedTag {
    pub(super) tag: Tag,
    fetch: Option<Arc<Fetch>>,
    /// The `Segments`, open as long as one of its tags is there. They show the collector what `fetch` refers to.
    segments: Py<PyAny>,
}

impl SourcedTag {
    pub(super) fn new(tag: Tag, fetch: Option<Arc<Fetch>>, segments: Py<PyAny>) -> SourcedTag {
        SourcedTag { tag, fetch, segments }
    }

    pub(super) fn clone_ref(&self, py: Python<'_>) -> SourcedTag {
        SourcedTag::new(self.tag.clone(), self.fetch.clone(), self.segments.clone_ref(py))
    }

    /// The same for each tag of this name of the same `Segments`.
    pub(super) fn identity(&self) -> (usize, &str) {
        (self.segments.as_ptr() as usize, self.tag.name())
    }

    /// The error of a call, with the exception of the user callback as its cause.
    pub(super) fn explained(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if let Some(fetch) = &self.fetch {
            fetch.explain(py, self.tag.name(), &error);
        }
        error
    }

    /// Errors: this thread is running the fetch for which the call would wait.
    pub(super) fn may_wait(&self, py: Python<'_>) -> PyResult<()> {
        let tag = self.tag.name();
        match &self.fetch {
            Some(fetch) if fetch.is_asked_here(tag) => {
                let message = format!(
                    "the fetch of the tag {tag:?} asks for an id of that tag, which waits for it; it can use any other one"
                );
                Err(errors::raise(py, &Error::new(Code::SegmentUnavailable, message)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.segments)
    }
}
