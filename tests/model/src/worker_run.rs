//! Two processes, each with a `WorkerRun`: the world of `core/tests/run`, which says what is assumed and what goes wrong.

#[path = "../../../core/tests/run/world/mod.rs"]
#[allow(dead_code, reason = "walks use the rest")]
mod world;

use stateright::Property;
pub use world::{Event, Ids, RunBounds, Setting, State};

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
