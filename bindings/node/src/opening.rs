//! Openings on other threads than the JavaScript thread, because a lease server or a disk may not respond.

use crate::events::Events;
use leafid::{Code, Error, Result};
use std::sync::Arc;

/// Runs an opening on its own thread, and passes its result to `report`. Returns the ticket of that event. `what` is what
/// is opened, for the error if there is no thread.
pub(crate) fn open_soon<T: 'static>(
    events: &Arc<Events>,
    what: &str,
    open: impl FnOnce() -> Result<T> + Send + 'static,
    report: fn(&Events, i64, Result<T>),
) -> i64 {
    let ticket = events.ticket();
    let there = Arc::clone(events);
    let run = move || report(&there, ticket, open());
    if let Err(error) = std::thread::Builder::new().name("leafid-open".into()).spawn(run) {
        let message = format!("the system cannot start a thread to open {what} ({error}); see its limits");
        report(events, ticket, Err(Error::new(Code::StateIo, message)));
    }
    ticket
}
