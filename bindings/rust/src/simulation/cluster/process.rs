//! A running process that issues snowflake ids.

use super::issued::IssuedIds;
use super::machine::Draw;
use super::snowflakes::{Process, Turn};
use crate::Snowflake;
use crate::os::mutex::lock;
use crate::os::simulated;
use crate::snowflake::generator::Generator;
use crate::storage::state_file;
use crate::tasks::renewal_timer::Renewable;
use leafid_core::format::state;
use leafid_core::run::{RunWait, Waiting};
use leafid_core::{Action, Run, Snowflake as Core, Span};
use std::sync::Arc;
use std::time::Duration;

/// How far ahead of the clock a process still waits for it.
const PATIENCE_MS: i64 = 3_000;

impl Process {
    /// A copy of the generator as a fork makes it: at its position, with its spans.
    pub(crate) fn copy(&self) -> Option<Generator> {
        let generator = self.newest();
        let core = &generator.core;
        let from = core.first_unused()?;
        let copy = Core::new(*core.layout(), *core.rules(), core.worker_id(), from, from);
        copy.grant(Span { from, until: core.until().max(from) });
        Some(Generator { core: Arc::new(copy), ..generator })
    }

    /// The generator of now: another one after a lost lease.
    pub(crate) fn newest(&self) -> Generator {
        Generator::of(&self.generator.driver).unwrap_or_else(|| self.generator.clone())
    }

    pub(crate) fn play(&mut self) {
        self.highest_ms = self.highest_ms.max(self.world.machine.now_ms());
        simulated::play(self.world.fate.number);
    }

    /// The work of its background thread, and the calls of the lease server whose turn has come.
    pub(crate) fn background(&mut self, now_ms: i64) {
        self.play();
        Arc::clone(&self.generator.driver).renew();
        self.take_calls(now_ms);
        let mut at = 0;
        while at < self.calls.len() {
            if self.calls[at].0 <= now_ms {
                (self.calls.swap_remove(at).1)();
                self.take_calls(now_ms);
            } else {
                at += 1;
            }
        }
    }

    fn take_calls(&mut self, now_ms: i64) {
        for call in simulated::left() {
            let delay_ms = if self.world.fate.below(8) == 0 { self.world.fate.amount(9_000) } else { 0 };
            self.calls.push((now_ms + delay_ms, call));
        }
    }

    pub(crate) fn call_all(&mut self) {
        for _ in 0..10 {
            let calls = std::mem::take(&mut self.calls);
            calls.into_iter().for_each(|(_, call)| call());
            self.take_calls(0);
        }
        self.calls.clear();
    }

    /// Issues some ids, a few at a time.
    pub(crate) fn issue(&mut self, draw: &mut Draw, issued: &mut IssuedIds, now_ms: i64) -> Turn {
        self.play();
        let many = draw.one_in(2);
        let mut left = if draw.one_in(40) { draw.below(40_000) } else { draw.below(1_000) };
        let late = draw.one_in(10);
        for _ in 0..400 {
            if left <= 0 || self.world.fate.is_dead() {
                break;
            }
            if !self.generator.is_current() {
                self.generator = self.newest();
                self.flake = Snowflake::of(self.generator.clone());
            }
            let generator = self.generator.clone();
            let before = generator.core.until();
            if !many && !late {
                // As in a user's call.
                while left > 0
                    && let Some(id) = self.flake.try_next()
                {
                    self.issued(&generator, Run { first: id, stride: 1, count: 1 }, issued, before)?;
                    left -= 1;
                }
            }
            let clock_ms = if late { self.old_ms } else { generator.now_ms() };
            let most = if many { draw.below(3_000) as usize + 1 } else { 1 };
            match generator.core.reserve(clock_ms, most) {
                Ok(run) => {
                    left -= run.count as i64;
                    self.issued(&generator, run, issued, before)?;
                }
                Err(Action::NeedSpan) => match self.obtain(&generator, now_ms) {
                    true => {}
                    false => break,
                },
                Err(Action::WaitUntil(ms)) => {
                    let wait_ms = ms - generator.now_ms();
                    if late || wait_ms > PATIENCE_MS {
                        break;
                    }
                    self.world.machines.pass(wait_ms.max(1));
                    if draw.one_in(8) {
                        break;
                    }
                }
                Err(_) => break,
            }
        }
        self.old_ms = self.generator.now_ms();
        self.highest_ms = self.highest_ms.max(self.world.machine.now_ms());
        Ok(())
    }

    /// Whether all usable spans are durable, that is, in the record after a power cut.
    pub(crate) fn is_durable(&self) -> bool {
        let generator = self.newest();
        if generator.core.first_unused().is_none() || !generator.driver.settings.options.persist {
            return true;
        }
        let path = state_file::path_of(&generator.driver.settings.directory, generator.worker_id());
        let file = lock(&self.world.machine.files).get(&path).cloned();
        let durable = file.and_then(|file| state::read_file(path.display(), &lock(&file).durable).ok());
        self.world.machine.is_named(&path)
            && durable.is_some_and(|durable| durable.newest.record.run.until >= generator.core.until())
    }

    fn issued(&self, generator: &Generator, run: Run, issued: &mut IssuedIds, until: u64) -> Turn {
        let tick = issued.snowflakes(generator.core.layout(), generator.worker_id(), run)?;
        match tick < until {
            true => Ok(()),
            false => Err(format!("{} lies outside the spans that were granted", run.first)),
        }
    }

    /// Issues one id or a few, if that needs no wait.
    pub(crate) fn issue_few(&mut self, issued: &mut IssuedIds, now_ms: i64) -> Turn {
        self.play();
        if self.world.fate.is_dead() {
            return Ok(());
        }
        let generator = self.newest();
        for _ in 0..2 {
            let before = generator.core.until();
            match generator.core.reserve(generator.now_ms(), 3) {
                Ok(run) => return self.issued(&generator, run, issued, before),
                Err(Action::NeedSpan) if self.obtain(&generator, now_ms) && !self.world.fate.is_dead() => {}
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Gets a span for a caller, which does not wait. Returns whether to call again.
    fn obtain(&mut self, generator: &Generator, now_ms: i64) -> bool {
        let before = generator.core.until();
        let mut wait = RunWait::new(Waiting::new(Duration::ZERO, None));
        generator.driver.wish(&mut wait, &generator.core, now_ms, Duration::ZERO);
        wait.leave().into_iter().for_each(|ticket| generator.driver.give_up(ticket));
        self.take_calls(now_ms);
        generator.core.until() != before
    }
}
