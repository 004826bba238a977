//! Two processes of one host, each with a `WorkerRun`, and a lease server for both.
//!
//! Assumed: a lock is held by one process at a time, and ends with it. A write that is reported as durable is there. The
//! server stores the end of a span before it answers, and lowers it only for a release (docs/LEASES.md).
//!
//! Most calls end well before anything else happens. A call that is late has its effect and its end in any order with all
//! other events, or never.
//!
//! Faults: a call fails before its effect or after it; a write is torn; an end is reported twice; a process is killed, also
//! in the middle of a write; the clock of the host is set back or ahead; the server forgets a holder.

mod carry;
mod host;
#[path = "../../../core/tests/run/lease_server.rs"]
mod lease_server;
mod process;
#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../../../core/tests/run/sources.rs"]
mod sources;
mod state;
#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../../../core/tests/run/told.rs"]
mod told;

use crate::bounds::RunBounds;
pub use state::{Event, State};
use stateright::Property;

pub struct Model {
    pub bounds: RunBounds,
    pub ids: Ids,
}

/// Where worker ids come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ids {
    /// One fixed id, without leases.
    Fixed,
    /// A user's object has this number of leased ids.
    Object(usize),
}

impl Ids {
    fn leased(self) -> usize {
        match self {
            Ids::Fixed => 0,
            Ids::Object(ids) => ids,
        }
    }
}

impl stateright::Model for Model {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self.ids)]
    }

    fn actions(&self, state: &State, events: &mut Vec<Event>) {
        if state.wrong().is_none() && state.issued() < self.bounds.ids {
            state.events(&self.bounds, events);
        }
    }

    fn next_state(&self, last: &State, event: Event) -> Option<State> {
        let mut state = last.clone();
        state.happens(event)?;
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Model>> {
        vec![
            Property::always("no rule is broken", |_, state: &State| state.wrong().is_none()),
            Property::always("soon there are ids, and all is given back at the end", |_, state: &State| {
                state.goes_on()
            }),
            Property::sometimes("both processes issue ids", |_, state: &State| state.both_issue()),
        ]
    }
}
