//! What one request may take, and what became of its connection: known to the parts that ureq calls on this thread.

use super::standing::Standing;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bounds of one request.
#[derive(Clone, Copy)]
pub(crate) struct Deadlines {
    /// The lookup of the name, the connection and TLS are done by then.
    pub(crate) connect_by: Instant,
    /// The answer is read by then.
    pub(crate) answer_by: Instant,
}

struct Current {
    bounds: Deadlines,
    /// Whether a connection was made for this request, and none kept from an earlier one.
    is_fresh: bool,
    is_connecting: bool,
    /// More came than the answer said.
    has_extra_bytes: bool,
    standing: Option<Arc<Standing>>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// A request under way on this thread.
pub(crate) struct Exchange(());

impl Exchange {
    pub(crate) fn begin(bounds: Deadlines) -> Exchange {
        let current =
            Current { bounds, is_fresh: false, is_connecting: false, has_extra_bytes: false, standing: None };
        CURRENT.set(Some(current));
        Exchange(())
    }

    /// Whether the request went over a connection of its own.
    pub(crate) fn is_fresh(&self) -> bool {
        with(|current| current.is_fresh).unwrap_or(true)
    }

    /// Whether more came than the answer said.
    pub(crate) fn has_extra_bytes(&self) -> bool {
        with(|current| current.has_extra_bytes).unwrap_or(false)
    }

    /// The rest of the answer is wanted only if it comes at once.
    pub(crate) fn shorten(&self, patience: Duration) {
        let by = Instant::now() + patience;
        with(|current| current.bounds.answer_by = current.bounds.answer_by.min(by));
    }

    /// The answer was a right one: its connection may serve another request.
    pub(crate) fn prove(self) {
        if let Some(standing) = with(|current| current.standing.take()).flatten() {
            standing.prove();
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

/// A connection is being made.
pub(super) fn set_connecting() {
    with(|current| (current.is_fresh, current.is_connecting) = (true, true));
}

/// It stands, with its TLS.
pub(super) fn set_connected() {
    with(|current| current.is_connecting = false);
}

/// A connection ended with something unread.
pub(super) fn has_extra_bytes() {
    with(|current| current.has_extra_bytes = true);
}

/// The request goes over this connection.
pub(super) fn set_standing(standing: &Arc<Standing>) {
    with(|current| current.standing = Some(Arc::clone(standing)));
}

/// When the present step has to be done, and whether that is the making of a connection.
pub(super) fn deadline() -> (Instant, bool) {
    let known = with(|current| match current.is_connecting {
        true => (current.bounds.connect_by.min(current.bounds.answer_by), true),
        false => (current.bounds.answer_by, false),
    });
    // Outside a request nothing is waited for.
    known.unwrap_or_else(|| (Instant::now(), false))
}
