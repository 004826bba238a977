//! Two processes, each with a `WorkerRun`, on one host or on two, and a lease server for both.
//!
//! Assumed: a lock is held by one process at a time, and ends with it. A write that is reported as durable is there; one
//! that is not may be read again, become durable later, or be lost with its machine. An operator may reset the record
//! while no process uses it, whether there is a reason or not. The server stores the end of a span before it answers, and
//! lowers it only for a release (docs/LEASES.md). A server that breaks this, and loses a span, may give it to two hosts;
//! even then no process issues an id twice.
//!
//! Most calls end well before anything else happens. A call that is late has its effect and its end in any order with all
//! other events, or never.
//!
//! Faults: a call fails before its effect or after it; a write is torn; an end is reported twice, or as that of another
//! call; an answer is another request's; a process is killed, also in the middle of a write, or stopped while time passes;
//! a clock is set back or ahead, or stops; the server forgets a holder, or a span. Or the newest slot of the record is lost
//! while no clock ever stepped.

mod carry;
mod clock;
#[path = "../../../core/tests/run/disk.rs"]
mod disk;
mod events;
mod kind;
#[path = "../../../core/tests/run/lease_server.rs"]
mod lease_server;
mod process;
#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../../../core/tests/run/seen.rs"]
mod seen;
mod setting;
#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../../../core/tests/run/sources.rs"]
mod sources;
mod state;
#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../../../core/tests/run/told.rs"]
mod told;

use crate::bounds::RunBounds;
pub use events::Event;
pub use setting::{Ids, Kind, Setting};
pub use state::State;
use stateright::Property;

pub struct Model {
    pub bounds: RunBounds,
    pub worlds: Vec<Setting>,
}

impl stateright::Model for Model {
    type State = State;
    type Action = Event;

    fn init_states(&self) -> Vec<State> {
        self.worlds.iter().copied().map(State::new).collect()
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
        let mut all = vec![
            Property::always("no rule is broken", |_, state: &State| state.wrong().is_none()),
            Property::always("soon there are ids, and all is given back at the end", |_, state: &State| {
                state.goes_on()
            }),
        ];
        if self.bounds.starts > 1 {
            all.push(Property::sometimes("both processes issue ids", |_, state: &State| state.both_issue()));
        }
        let own: Vec<Property<Model>> = match self.worlds.iter().any(|world| world.ids == Ids::Fixed) {
            true => vec![
                Property::sometimes("ids go on beside former runs", |_, state: &State| state.remembers()[0]),
                Property::sometimes("ids go on beside what is skipped", |_, state: &State| {
                    state.remembers()[1]
                }),
            ],
            false => {
                vec![Property::sometimes("an id has a renewed lease", |_, state: &State| state.has_renewed())]
            }
        };
        all.extend(own);
        all
    }
}
