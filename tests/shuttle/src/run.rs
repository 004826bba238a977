//! Runs a model, once for each seed.

use crate::world;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

thread_local! {
    /// Of the execution that runs.
    static SEED: Cell<u64> = const { Cell::new(0) };
}

/// Whether time passes also while threads could run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Time {
    WhenAllWait,
    Always,
}

/// The claim of the model holds in this many schedules.
pub fn holds(schedules: u64, time: Time, model: fn()) {
    let name = name();
    let (first, schedules) = match number("SEED") {
        Some(seed) => (seed, 1),
        None => (1, schedules * number("TIMES").unwrap_or(1)),
    };
    let begun = Instant::now();
    if let Err(failed) = try_all(first, schedules, time, model) {
        panic!("{failed}\n  replayed by: make shuttle SEED={} MODEL={name}", SEED.get());
    }
    println!("{name}: {schedules} schedules in {} ms", begun.elapsed().as_millis());
}

fn try_all(first: u64, schedules: u64, time: Time, model: fn()) -> Result<(), String> {
    let mut config = Config::new();
    config.stack_size = 256 * 1024;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(200_000);
    config.silence_warnings = true;
    let scheduler =
        Seeds { next: first, end: first + schedules, time, random: 0, way: Way::Any, order: BTreeMap::new() };
    let ended = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(scheduler, config).run(move || {
            world::begin(time == Time::Always);
            model();
            world::check();
        })
    }));
    ended.map(drop).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
    })
}

/// Chooses who runs, by a seed for each execution.
struct Seeds {
    next: u64,
    end: u64,
    time: Time,
    random: u64,
    way: Way,
    /// Who has a lower number goes first.
    order: BTreeMap<usize, u64>,
}

/// How the next thread is chosen. `n`: one in this many steps is another.
#[derive(Clone, Copy)]
enum Way {
    /// Any of them, at each step.
    Any,
    /// The same one continues until it waits, or another one has its turn.
    GoesOn { n: u64 },
    /// The first of an order that is drawn; now and then the one that runs becomes the last.
    First { n: u64 },
}

/// The second thread of each execution.
const CLOCK: usize = 1;

impl Scheduler for Seeds {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.next == self.end {
            return None;
        }
        (self.random, self.order) = (self.next.wrapping_mul(0x9E37_79B9_7F4A_7C15), BTreeMap::new());
        SEED.set(self.next);
        self.next += 1;
        let n = 1 << (2 + self.next_u64() % 6);
        self.way = match self.next_u64() % 3 {
            0 => Way::Any,
            1 => Way::GoesOn { n },
            _ => Way::First { n },
        };
        Some(Schedule::new(self.random))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, yields: bool) -> Option<TaskId> {
        let clock = runnable.iter().map(|task| task.id()).find(|id| usize::from(*id) == CLOCK);
        let others: Vec<TaskId> =
            runnable.iter().map(|task| task.id()).filter(|id| usize::from(*id) != CLOCK).collect();
        world::set_alone(others.is_empty());
        if others.is_empty() || (self.time == Time::Always && clock.is_some() && self.next_u64() % 64 == 0) {
            return clock;
        }
        let any = others[self.next_u64() as usize % others.len()];
        let current = current.filter(|id| others.contains(id));
        match self.way {
            Way::Any => Some(any),
            Way::GoesOn { n } => {
                let another = yields || self.next_u64() % n == 0;
                Some(current.filter(|_| !another).unwrap_or(any))
            }
            Way::First { n } => {
                for id in &others {
                    let drawn = self.next_u64() >> 1;
                    self.order.entry(usize::from(*id)).or_insert(drawn);
                }
                let another = yields || self.next_u64() % n == 0;
                if let Some(id) = current.filter(|_| another) {
                    let last = self.order.values().max().map_or(0, |last| last + 1);
                    self.order.insert(usize::from(id), last);
                }
                others.into_iter().min_by_key(|id| self.order.get(&usize::from(*id)).copied())
            }
        }
    }

    /// SplitMix64.
    fn next_u64(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Of the test.
fn name() -> String {
    std::thread::current().name().unwrap_or("a model").to_string()
}
