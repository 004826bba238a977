//! The deadlines and the connection of the request that runs on this thread, for the parts that ureq calls.

use super::connection_state::ConnectionState;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The deadlines of one request.
#[derive(Clone, Copy)]
pub(crate) struct Deadlines {
    /// The deadline of name look-up, connection and TLS together.
    pub(crate) connect_by: Instant,
    /// The deadline of the response.
    pub(crate) answer_by: Instant,
}

struct Current {
    bounds: Deadlines,
    /// Whether the connection was created for this request, and not kept from an earlier one.
    is_fresh: bool,
    is_connecting: bool,
    /// Whether the request, or its first part, was sent.
    has_begun: bool,
    /// Whether more bytes came than the response announced.
    has_extra_bytes: bool,
    /// What readers of HTTP understand differently in the response.
    ambiguity: Option<&'static str>,
    connection_state: Option<Arc<ConnectionState>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A request that runs on this thread.
pub(crate) struct Exchange(());

impl Exchange {
    pub(crate) fn begin(bounds: Deadlines) -> Exchange {
        let current = Current {
            bounds,
            is_fresh: false,
            is_connecting: false,
            has_begun: false,
            has_extra_bytes: false,
            ambiguity: None,
            connection_state: None,
        };
        CURRENT.set(Some(current));
        Exchange(())
    }

    /// Whether the connection was created for this request.
    pub(crate) fn is_fresh(&self) -> bool {
        with(|current| current.is_fresh).unwrap_or(true)
    }

    /// Whether the request, or its first part, was sent.
    pub(crate) fn has_begun(&self) -> bool {
        with(|current| current.has_begun).unwrap_or(true)
    }

    /// Whether more bytes came than the response announced.
    pub(crate) fn has_extra_bytes(&self) -> bool {
        with(|current| current.has_extra_bytes).unwrap_or(false)
    }

    /// What readers of HTTP understand differently in the response.
    pub(crate) fn ambiguity(&self) -> Option<&'static str> {
        ambiguity()
    }

    /// Shortens the deadline: the rest of the response is wanted only if it comes at once.
    pub(crate) fn shorten(&self, patience: Duration) {
        let by = Instant::now() + patience;
        with(|current| current.bounds.answer_by = current.bounds.answer_by.min(by));
    }

    /// Marks the response as correct: its connection may serve another request.
    pub(crate) fn prove(self) {
        if let Some(connection_state) = with(|current| current.connection_state.take()).flatten() {
            connection_state.prove();
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

fn with<T>(action: impl FnOnce(&mut Current) -> T) -> Option<T> {
    CURRENT.with_borrow_mut(|current| current.as_mut().map(action))
}

/// Marks the start of a connection.
pub(super) fn set_connecting() {
    with(|current| (current.is_fresh, current.is_connecting) = (true, true));
}

/// Marks the end of the connection, with its TLS.
pub(super) fn set_connected() {
    with(|current| current.is_connecting = false);
}

/// Whether the request is sent from its beginning now. True once for each request.
pub(super) fn begins_request() -> bool {
    with(|current| !std::mem::replace(&mut current.has_begun, true)).unwrap_or(false)
}

/// Records that a connection ended with unread bytes.
pub(super) fn has_extra_bytes() {
    with(|current| current.has_extra_bytes = true);
}

/// Records what readers of HTTP understand differently in the response.
pub(super) fn set_ambiguity(what: &'static str) {
    with(|current| current.ambiguity = Some(what));
}

/// What readers of HTTP understand differently in the response.
pub(super) fn ambiguity() -> Option<&'static str> {
    with(|current| current.ambiguity).flatten()
}

/// Sets the connection of the request.
pub(super) fn set_connection_state(connection_state: &Arc<ConnectionState>) {
    with(|current| current.connection_state = Some(Arc::clone(connection_state)));
}

/// The deadline of the current step, and whether this step creates a connection.
pub(super) fn deadline() -> (Instant, bool) {
    let known = with(|current| match current.is_connecting {
        true => (current.bounds.connect_by.min(current.bounds.answer_by), true),
        false => (current.bounds.answer_by, false),
    });
    // Outside a request nothing waits.
    known.unwrap_or_else(|| (Instant::now(), false))
}
