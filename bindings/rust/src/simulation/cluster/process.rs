//! A running process that issues snowflake ids.

use super::issued::IssuedIds;
use super::machine::{Draw, World};
use super::snowflakes::{Process, Turn};
use crate::Snowflake;
use crate::os::env::HostLock;
use crate::os::mutex::lock;
use crate::os::simulated;
use crate::snowflake::generator::Generator;
use crate::snowflake::renewal_log::RenewalLog;
use crate::storage::state_file::{self, StateFile, this_process};
use crate::worker::acquire::Acquired;
use crate::worker::claim::{Claim, ClaimContext};
use crate::worker::settings::SnowflakeSettings;
use leafid_core::format::state;
use leafid_core::{Action, Run, Span};
use std::sync::Arc;

/// How far ahead of the clock a process still waits for it.
const PATIENCE_MS: i64 = 3_000;

struct Nowhere;
impl HostLock for Nowhere {}

impl Process {
    /// A copy of the generator as a fork makes it: at its position, with its spans.
    pub(crate) fn copy(&self, world: &World, settings: &Arc<SnowflakeSettings>) -> Option<Arc<Generator>> {
        let generator = self.generator.newest();
        let from = generator.core.first_unused()?;
        let record = {
            let span_writer = lock(&generator.span_writer);
            span_writer.as_ref()?.file.record().clone()
        };
        let env = Arc::new(world.env());
        let mut file = StateFile::unpersisted(&settings.key.space, generator.worker_id);
        let (writer, seed) = (this_process(&env), (record.owner >> 64) as u64);
        file.write(record, &writer).ok()?;
        let first = Span { from, until: generator.core.until().max(from) };
        let rules = *generator.core.rules();
        let claim = Claim {
            file,
            host_lock: Box::new(Nowhere),
            first,
            begins_ms: None,
            writer,
            seed,
            rules,
            lease: None,
        };
        let context =
            ClaimContext { rules, floor: 0, acquired: Acquired::Nothing, forgets: false, inherited: false };
        let (renewer, settings) = (Arc::clone(&self.registry.renewer), Arc::clone(settings));
        let copy = Generator::new(env, renewer, settings, context, claim, RenewalLog::default(), 0);
        copy.core.grant(first);
        Some(Arc::new(copy))
    }

    pub(crate) fn play(&mut self) {
        self.highest_ms = self.highest_ms.max(self.world.machine.now_ms());
        simulated::play(self.world.fate.number);
    }

    /// The work of its background thread, and the calls of the lease server whose turn has come.
    pub(crate) fn background(&mut self, now_ms: i64) {
        self.play();
        let generator = Arc::clone(self.generator.newest());
        generator.renew(false);
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
            if self.generator.successor.get().is_some() {
                self.generator = Arc::clone(self.generator.newest());
                self.flake = Snowflake::of(&self.generator);
            }
            let generator = Arc::clone(&self.generator);
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
            let clock_ms = if late { self.old_ms } else { generator.env.clock.filtered_ms() };
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
                    let wait_ms = ms - generator.env.clock.filtered_ms();
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
        self.old_ms = self.generator.env.clock.filtered_ms();
        self.highest_ms = self.highest_ms.max(self.world.machine.now_ms());
        Ok(())
    }

    /// Whether all usable spans are durable, that is, in the record after a power cut.
    pub(crate) fn is_durable(&self) -> bool {
        let generator = self.generator.newest();
        if generator.core.first_unused().is_none() || !generator.settings.key.persist {
            return true;
        }
        let path = state_file::path_of(&self.generator.settings.directory, generator.worker_id);
        let file = lock(&self.world.machine.files).get(&path).cloned();
        let durable = file.and_then(|file| state::read_file(path.display(), &lock(&file).durable).ok());
        self.world.machine.is_named(&path)
            && durable.is_some_and(|durable| durable.newest.record.run.until >= generator.core.until())
    }

    fn issued(&self, generator: &Generator, run: Run, issued: &mut IssuedIds, until: u64) -> Turn {
        let tick = issued.snowflakes(generator.core.layout(), generator.worker_id, run)?;
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
        let generator = Arc::clone(self.generator.newest());
        for _ in 0..2 {
            let before = generator.core.until();
            match generator.core.reserve(generator.env.clock.filtered_ms(), 3) {
                Ok(run) => return self.issued(&generator, run, issued, before),
                Err(Action::NeedSpan) if self.obtain(&generator, now_ms) && !self.world.fate.is_dead() => {}
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Gets a span for a caller, as `Generator::obtain` does. Returns whether to call again.
    fn obtain(&mut self, generator: &Arc<Generator>, now_ms: i64) -> bool {
        let before = generator.core.until();
        match generator.locked(|log| log.first.take()).flatten() {
            Some(first) => generator.core.grant(first),
            None => {
                generator.renew(true);
            }
        }
        self.take_calls(now_ms);
        generator.core.until() != before
    }
}
