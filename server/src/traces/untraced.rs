//! What is left of traces in a program that was built without them.

use axum::http::{Method, Request};
use leafid_core::{Error, Result};

pub(crate) struct NoSpan;

impl NoSpan {
    pub(crate) fn begin<B>(_: &Request<B>) -> NoSpan {
        NoSpan
    }

    pub(crate) async fn within<F: Future>(&self, work: F) -> F::Output {
        work.await
    }

    pub(crate) fn routed(&self, _: &Method, _: &'static str) {}

    pub(crate) fn end(&self, _: u16) {}
}

/// Errors: always.
pub(crate) fn start(endpoint: &str) -> Result<()> {
    Err(Error::invalid(
        "otlp-endpoint",
        leafid_core::options::shown_url(endpoint),
        "none: this program was built without traces",
    ))
}

pub(crate) fn is_on() -> bool {
    false
}

pub(crate) fn carried<F: Future>(work: F) -> F {
    work
}

pub(crate) async fn in_store<T>(
    _: &'static str,
    _: &'static str,
    work: impl Future<Output = Result<T>>,
) -> Result<T> {
    work.await
}

pub(crate) async fn stop() {}
