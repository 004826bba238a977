//! Plays a scenario step by step. Whatever happens and is not in it, is a failure: a call that it does not answer, a
//! caller that got something, a warning.

use super::actor::{Actor, Got, Names, Stage};
use super::disk::Disk;
use super::flakes::Flakes;
use super::supplies::Supplies;
use super::words::{Words, check_error, check_ids, fits};
use crate::common::NOW_MS;
use leafid_core::Result;
use leafid_core::call::{Clocks, Level};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What a step can be.
const VERBS: [&str; 20] = [
    "open",
    "take",
    "leave",
    "close",
    "kill",
    "reboot_ms",
    "pass_ms",
    "clock_ms",
    "asks",
    "answers",
    "gets",
    "waits",
    "closed",
    "log",
    "abandons",
    "damage",
    "remove",
    "forgets",
    "stats",
    "comment",
];
/// In these nothing happens: calls may wait for their answers meanwhile.
const LOOKS: [&str; 8] = ["asks", "gets", "waits", "closed", "log", "abandons", "stats", "comment"];

/// Plays the scenarios of a file whose names contain `only`. `is_api`: they have no calls to the disk.
pub(super) fn file(file: &Value, is_api: bool, only: &str) {
    let words = Words::of(file);
    assert!(words.text("about").is_some(), "it does not say what it is about");
    let of = words.text("of").unwrap_or_default();
    let options = words.get("options").unwrap_or(&Value::Null);
    let scenarios = words.list("scenarios");
    let calls = words.get("calls").unwrap_or(&Value::Null);
    words.all_read();
    for scenario in scenarios {
        let words = Words::of(scenario);
        let name = words.text("name").unwrap();
        let more = words.get("options").unwrap_or(&Value::Null);
        let calls = words.get("calls").unwrap_or(calls);
        assert_eq!(is_api, calls.is_null(), "calls: of those of machine/ alone");
        let steps = words.list("steps");
        words.all_read();
        assert!(["segments", "snowflake"].contains(&of), "of {of:?}");
        if name.contains(only) {
            play(name, of == "segments", [options, more], calls, steps);
        }
    }
}

struct Player<'v> {
    of_segments: bool,
    options: [&'v Value; 2],
    stage: Stage,
    /// The last of a name is the one that is meant; those before have ended.
    actors: Vec<(String, Box<dyn Actor>)>,
    /// The options with which each name was opened last.
    options_of: BTreeMap<String, Value>,
    /// The number of openings.
    opened: u32,
    /// Where it is, for failures.
    at: String,
}

impl Drop for Player<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "{}, {} ms after its beginning",
                self.at,
                self.stage.clocks.boot.as_millis() - BOOT.as_millis()
            );
        }
    }
}

/// The time since the machine's start at which scenarios begin.
const BOOT: Duration = Duration::from_secs(1_000_000);

fn play(name: &str, of_segments: bool, options: [&Value; 2], calls: &Value, steps: &[Value]) {
    let stage = Stage {
        start_ms: NOW_MS,
        clocks: Clocks { wall_ms: NOW_MS, boot: BOOT },
        boot: "the first start".into(),
        calls: calls.clone(),
        disk: Disk::default(),
        log: VecDeque::new(),
        outcomes: BTreeMap::new(),
        closed: BTreeMap::new(),
        abandoned: Vec::new(),
        leases: BTreeMap::new(),
        random: 0,
        names: Names::default(),
    };
    let mut player = Player {
        of_segments,
        options,
        stage,
        actors: Vec::new(),
        options_of: BTreeMap::new(),
        opened: 0,
        at: name.into(),
    };
    for (at, step) in steps.iter().enumerate() {
        player.at = format!("{name:?}, step {}: {step}", at + 1);
        let words = Words::of(step);
        let verb = words.one_of(&VERBS);
        if !LOOKS.contains(&verb) {
            player.nothing_is_asked();
        }
        player.step(verb, &words);
        player.drive();
        if matches!(verb, "open" | "take") {
            player.look_at_wish(verb, &words);
        }
        words.all_read();
    }
    player.at = format!("{name:?}, at its end");
    player.nothing_is_left();
}

impl Player<'_> {
    fn actor(&mut self, name: &str) -> (&mut Box<dyn Actor>, &mut Stage) {
        let found = self.actors.iter_mut().rev().find(|(known, _)| known == name);
        let (_, actor) = found.unwrap_or_else(|| panic!("{name} was not opened"));
        (actor, &mut self.stage)
    }

    fn drive(&mut self) {
        self.actors.iter_mut().for_each(|(_, actor)| actor.drive(&mut self.stage));
    }

    fn nothing_is_asked(&self) {
        let asked: Vec<_> = self.actors.iter().filter_map(|(_, actor)| actor.asked()).collect();
        assert!(asked.is_empty(), "it does not answer {asked:?}");
        let given_up = if self.stage.calls.is_null() { 0 } else { self.stage.abandoned.len() };
        assert_eq!(given_up, 0, "calls are given up, and it does not say so");
    }

    fn nothing_is_left(&mut self) {
        self.nothing_is_asked();
        let Stage { outcomes, closed, log, .. } = &self.stage;
        let got: Vec<_> = outcomes.keys().collect();
        assert!(got.is_empty(), "{got:?} got something");
        assert!(closed.is_empty(), "closed: {closed:?}");
        let warnings: Vec<_> = log.iter().filter(|(level, _)| *level == Level::Warn).collect();
        assert!(warnings.is_empty(), "it does not say {warnings:?}");
    }

    fn step(&mut self, verb: &str, words: &Words<'_>) {
        let text = || words.text(verb).unwrap_or_default();
        match verb {
            "open" => self.open(text(), words),
            "take" => {
                // Without a name it is of the process that was opened last.
                let of = words.text("of").map(Into::into).or_else(|| Some(self.actors.last()?.0.clone()));
                let (actor, stage) = self.actor(&of.unwrap_or_default());
                actor.take(words, words.text("by").unwrap_or("it"), stage);
            }
            "leave" => {
                let (caller, stage) = (text(), &mut self.stage);
                let its = self.actors.iter_mut().map(|(_, actor)| actor).find(|actor| actor.waits(caller));
                its.unwrap_or_else(|| panic!("no caller {caller} waits")).leave(caller, stage);
            }
            "close" => {
                let (actor, stage) = self.actor(text());
                actor.close(words, stage);
            }
            "kill" => self.kill(text()),
            "reboot_ms" => self.reboot(words.int(verb).unwrap()),
            "pass_ms" => self.pass(words.int(verb).unwrap() as u64),
            "clock_ms" => self.stage.clocks.wall_ms += words.int(verb).unwrap(),
            "asks" => self.asks(text(), words),
            "answers" => {
                let Player { actors, stage, .. } = self;
                let other =
                    words.text("as").map(|name| actors.iter().find_map(|(_, actor)| actor.id_of(name)));
                let other =
                    other.map(|id| id.unwrap_or_else(|| panic!("there is no other call of this name")));
                let found =
                    actors.iter_mut().any(|(_, actor)| actor.answer_later(text(), other, words, stage));
                assert!(found, "there is no call named {}", text());
            }
            "gets" => {
                let outcome = self.stage.outcomes.remove(text());
                check_outcome(words, &outcome.unwrap_or_else(|| panic!("{} waits", text())));
            }
            "waits" => {
                let waits = self.actors.iter().any(|(_, actor)| actor.waits(text()));
                assert!(waits, "{} does not wait: {}", text(), self.shown(text()));
            }
            "closed" => match self.stage.closed.remove(text()) {
                Some(Ok(())) => {}
                Some(Err(error)) => check_error(words, &error),
                None => panic!("it is not closed"),
            },
            "log" => self.log(text(), words),
            "abandons" => {
                let ids = self.actors.iter().filter_map(|(_, actor)| actor.id_of(text())).collect::<Vec<_>>();
                let at = self.stage.abandoned.iter().position(|id| ids.contains(id));
                self.stage.abandoned.remove(at.unwrap_or_else(|| panic!("it waits for {}", text())));
            }
            "damage" => self.stage.disk.damage(text(), words.text("slot").unwrap_or("newest")),
            "remove" => self.stage.disk.remove(text()),
            "forgets" => {
                let known = self.stage.leases.remove(text());
                assert!(known.is_some(), "{} knows nothing of leases", text());
            }
            "stats" => {
                let (actor, stage) = self.actor(text());
                let stats = actor.stats(words, stage);
                for (name, value) in stats.as_object().into_iter().flatten() {
                    assert!(words.get(name).is_none_or(|said| said == value), "{name}: {stats}");
                }
            }
            _ => _ = words.get(verb),
        }
    }

    fn open(&mut self, name: &str, words: &Words<'_>) {
        let again = self.actors.iter_mut().rev().find(|(known, _)| known == name);
        let more = words.get("options").unwrap_or(&Value::Null);
        let before = self.options_of.insert(name.into(), more.clone());
        if let Some((_, actor)) = again.filter(|_| before.as_ref() == Some(more))
            && actor.open_again(words, &mut self.stage)
        {
            return;
        }
        self.opened += 1;
        let owner = format!("{name} {}", self.opened);
        let said = [self.options[0], self.options[1], more];
        let opened = match self.of_segments {
            true => Supplies::open((name, owner), &said, &mut self.stage),
            false => Flakes::open((name, owner), &said, words, &mut self.stage),
        };
        match opened {
            Ok(actor) => self.actors.push((name.into(), actor)),
            Err(error) => self.stage.ends(name, Err(error)),
        }
    }

    /// A wish that does not say what comes has to wait.
    fn look_at_wish(&mut self, verb: &str, words: &Words<'_>) {
        let caller = if verb == "open" { words.text("open") } else { words.text("by").or(Some("it")) };
        let caller = caller.unwrap_or_default();
        let says = ["error", "ids", "worker_id"].iter().any(|name| words.get(name).is_some());
        match self.stage.outcomes.remove(caller) {
            Some(outcome) => check_outcome(words, &outcome),
            None if verb == "open" && self.of_segments => assert!(!says, "segments are open at once"),
            None => assert!(!says, "{caller} waits"),
        }
    }

    fn shown(&self, caller: &str) -> String {
        match self.stage.outcomes.get(caller) {
            None => "it got nothing".into(),
            Some(Ok(Got::WorkerId(worker_id))) => format!("it got worker id {worker_id}"),
            Some(Ok(Got::Ids(ids))) => format!("it got {} ids", ids.len()),
            Some(Err(error)) => format!("{error}"),
        }
    }

    fn kill(&mut self, name: &str) {
        for (_, actor) in self.actors.iter().filter(|(known, _)| known == name) {
            self.stage.disk.unlock_all(actor.owner());
        }
        let before = self.actors.len();
        self.actors.retain(|(known, _)| known != name);
        assert!(self.actors.len() < before, "{name} was not opened");
        self.stage.leases.remove(name);
    }

    /// The machine ends, and starts again so much later.
    fn reboot(&mut self, ms: i64) {
        self.actors.clear();
        self.stage.disk.unlock();
        self.stage.leases.clear();
        self.stage.boot = "another start".into();
        self.stage.clocks.wall_ms += ms;
        // Scenarios count their time by it, and nothing else shows how much it is.
        self.stage.clocks.boot += Duration::from_millis(ms as u64);
    }

    /// All that is due happens on the way, each at its time.
    fn pass(&mut self, ms: u64) {
        let until = self.stage.clocks.boot + Duration::from_millis(ms);
        for _ in 0..100_000 {
            let times = self.actors.iter().filter_map(|(_, actor)| actor.next_time(&self.stage));
            let due = times.min().unwrap_or(until).clamp(self.stage.clocks.boot, until);
            // Up to the next millisecond, as clocks show it.
            let passed = (due - self.stage.clocks.boot).as_nanos().div_ceil(1_000_000) as u64;
            self.stage.clocks.wall_ms += passed as i64;
            self.stage.clocks.boot += Duration::from_millis(passed);
            self.drive();
            if self.stage.clocks.boot >= until {
                return;
            }
        }
        panic!("no time passes");
    }

    fn asks(&mut self, name: &str, words: &Words<'_>) {
        let of = words.text("of");
        let its = self.actors.iter_mut().filter(|(known, _)| of.is_none_or(|of| of == known));
        let its = its.map(|(_, actor)| actor).find(|actor| actor.asked().is_some());
        let actor = its.unwrap_or_else(|| panic!("nothing is asked"));
        assert_eq!(actor.asked(), Some(name));
        actor.answer(words, &mut self.stage);
    }

    /// The next warning; of informations those that are not named are left out.
    fn log(&mut self, says: &str, words: &Words<'_>) {
        let level = if words.is_set("info") { Level::Info } else { Level::Warn };
        let log = &mut self.stage.log;
        let at = log.iter().position(|(of, text)| *of == level && (level == Level::Warn || fits(says, text)));
        let line = at.and_then(|at| log.remove(at));
        assert!(line.as_ref().is_some_and(|(_, text)| fits(says, text)), "{line:?}, {log:?}");
    }
}

fn check_outcome(words: &Words<'_>, outcome: &Result<Got>) {
    match outcome {
        Err(error) => check_error(words, error),
        Ok(Got::WorkerId(worker_id)) => assert_eq!(words.int("worker_id"), Some(i64::from(*worker_id))),
        Ok(Got::Ids(ids)) => match words.get("ids") {
            Some(said) => check_ids(said, ids),
            None => panic!("it got {ids:?}"),
        },
    }
}
