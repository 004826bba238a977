//! Tries all states of a model.

use stateright::{Checker, Expectation, HasDiscoveries, Model};
use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

/// Panics with the shortest list of events that breaks a rule, or with the event that the bounds never let happen.
pub fn holds<M>(name: &str, bounds: impl Debug, model: M)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync + 'static,
    M::Action: Clone + Debug + PartialEq + Send + Sync + 'static,
{
    let begun = Instant::now();
    let properties = model.properties();
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let (states, depth, took) =
        (checker.unique_state_count(), checker.max_depth(), begun.elapsed().as_secs_f32());
    let mut found = checker.discoveries();
    for property in &properties {
        match (&property.expectation, found.remove(property.name)) {
            (Expectation::Sometimes, None) => {
                panic!("{name}: {:?} never happens within {bounds:?}", property.name)
            }
            (Expectation::Sometimes, Some(_)) | (_, None) => {}
            (_, Some(path)) => {
                let (last, events) = (format!("{:#?}", path.last_state()), path.into_actions());
                panic!(
                    "{name}: {:?} is broken, in the state\n{last}\nby these events:\n{events:#?}",
                    property.name
                );
            }
        }
    }
    println!(
        "{name}: {states} states, all that {bounds:?} allow, the deepest after {depth} events, in {took:.0} s"
    );
}
