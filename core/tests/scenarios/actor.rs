//! What all processes of a scenario share, and what the player asks of each.

use super::disk::Disk;
use super::words::Words;
use leafid_core::call::{CallId, Clocks, Level};
use leafid_core::run::ProcessLeases;
use leafid_core::{Error, Result};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What a caller got.
pub(super) enum Got {
    WorkerId(u32),
    /// As a scenario writes them.
    Ids(Vec<Value>),
}

pub(super) struct Stage {
    pub(super) start_ms: i64,
    pub(super) clocks: Clocks,
    /// The start of the machine.
    pub(super) boot: String,
    /// The calls to the disk that the scenario has, too: "all", or their names.
    pub(super) calls: Value,
    pub(super) disk: Disk,
    pub(super) log: VecDeque<(Level, String)>,
    /// How calls ended that the scenario has not looked at.
    pub(super) outcomes: BTreeMap<String, Result<Got>>,
    pub(super) closed: BTreeMap<String, Result<()>>,
    pub(super) abandoned: Vec<CallId>,
    /// What the runs of a process share, by the name of the process.
    pub(super) leases: BTreeMap<String, ProcessLeases>,
    pub(super) random: u128,
    /// What the scenario calls by a name of its own, as nonces: "<one>".
    pub(super) names: Names,
}

#[derive(Default)]
pub(super) struct Names(BTreeMap<String, Value>);

impl Names {
    /// Whether a value is what the scenario says. A name is of the first value that it stands for, and of no other.
    fn fit(&mut self, said: &Value, sent: &Value) -> bool {
        match said.as_str().filter(|said| said.starts_with('<')) {
            None => said == sent,
            Some(name) => {
                let of_it = self.0.entry(name.into()).or_insert_with(|| sent.clone()) == sent;
                of_it && self.0.values().filter(|value| *value == sent).count() == 1
            }
        }
    }
}

impl Stage {
    pub(super) fn random(&mut self) -> u128 {
        self.random += 1;
        self.random
    }

    pub(super) fn ends(&mut self, caller: &str, outcome: Result<Got>) {
        let before = self.outcomes.insert(caller.into(), outcome);
        assert!(before.is_none(), "what {caller} got before was not looked at");
    }

    /// Whether the scenario answers the calls of this name to the disk.
    pub(super) fn lists(&self, name: &str) -> bool {
        self.calls == "all" || self.calls.as_array().is_some_and(|names| names.iter().any(|its| its == name))
    }

    /// The boot time at which this much of a wait is over.
    pub(super) fn after_ms(&self, ms: i64) -> Duration {
        self.clocks.boot + Duration::from_millis(ms.try_into().unwrap_or(0))
    }
}

/// A call that is under way: its number, its name, and what it sends.
pub(super) struct Asked<C> {
    pub(super) id: CallId,
    pub(super) name: String,
    pub(super) sent: Value,
    pub(super) call: C,
}

/// The calls of a process that the scenario answers.
pub(super) struct Desk<C> {
    pub(super) new: VecDeque<Asked<C>>,
    /// Those that it answers later, by the names that it gives them.
    later: BTreeMap<String, Asked<C>>,
}

impl<C> Default for Desk<C> {
    fn default() -> Desk<C> {
        Desk { new: VecDeque::new(), later: BTreeMap::new() }
    }
}

impl<C> Desk<C> {
    /// Takes the next one, which must send what the step says. `None` if the step ends it later.
    pub(super) fn take(&mut self, words: &Words<'_>, names: &mut Names) -> Option<Asked<C>> {
        let asked = self.new.pop_front()?;
        // A host adds them.
        words.get("headers");
        for (name, sent) in asked.sent.as_object().into_iter().flatten() {
            if let Some(said) = words.get(name) {
                assert!(names.fit(said, sent), "{name} of {}: {}", asked.name, asked.sent);
            }
        }
        match words.text("later") {
            None => Some(asked),
            Some(name) => {
                self.end_later(name, asked);
                None
            }
        }
    }

    pub(super) fn end_later(&mut self, name: &str, asked: Asked<C>) {
        assert!(self.later.insert(name.into(), asked).is_none(), "two calls are named {name}");
    }

    /// A scenario that lets a call wait says so.
    pub(super) fn check_abandoned(&self, id: CallId) {
        let asked = self.new.iter().find(|asked| asked.id == id);
        assert!(
            asked.is_none(),
            "it does not answer {:?}, which is given up",
            asked.map(|asked| &asked.name)
        );
    }

    pub(super) fn take_later(&mut self, name: &str) -> Option<Asked<C>> {
        self.later.remove(name)
    }

    pub(super) fn id_of(&self, name: &str) -> Option<CallId> {
        self.later.get(name).map(|asked| asked.id)
    }
}

/// A process with its machine.
pub(super) trait Actor {
    /// Another opening by the same process. False after a close: then it is a new one.
    fn open_again(&mut self, words: &Words<'_>, stage: &mut Stage) -> bool;
    /// Pulls notices and calls until there are none, and carries out those that the scenario does not have.
    fn drive(&mut self, stage: &mut Stage);
    /// When to drive it again.
    fn next_time(&self, stage: &Stage) -> Option<Duration>;
    /// The name of the next call that the scenario has to answer.
    fn asked(&self) -> Option<&str>;
    /// Its end is as the step says.
    fn answer(&mut self, words: &Words<'_>, stage: &mut Stage);
    /// The end of a call that the scenario named before, reported as that of another one. False if there is none of this
    /// name.
    fn answer_later(
        &mut self,
        name: &str,
        other: Option<CallId>,
        words: &Words<'_>,
        stage: &mut Stage,
    ) -> bool;
    fn id_of(&self, name: &str) -> Option<CallId>;
    fn take(&mut self, words: &Words<'_>, caller: &str, stage: &mut Stage);
    /// Whether this caller waits.
    fn waits(&self, caller: &str) -> bool;
    fn leave(&mut self, caller: &str, stage: &mut Stage);
    fn close(&mut self, words: &Words<'_>, stage: &mut Stage);
    fn stats(&self, words: &Words<'_>, stage: &Stage) -> Value;
    /// The name by which it holds locks.
    fn owner(&self) -> &str;
}

/// Of a call's Debug text: the name of its kind, in the spelling of scenarios.
pub(super) fn kind_of(debug: &str) -> String {
    let name = debug.split(['(', ' ']).next().unwrap_or_default();
    let mut kind = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.extend(letter.to_lowercase());
    }
    kind
}

/// An error that a scenario calls by the opening of a process.
pub(super) type Opened = std::result::Result<Box<dyn Actor>, Error>;
