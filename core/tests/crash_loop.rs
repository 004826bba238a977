//! A service that is killed and started again for ever, on a clock set back at random: every start continues, no id
//! comes twice, and the ids do not run away from the clock.

use crate::common::{NOW_MS, Random, each_seed};
use leafid_core::snowflake::Admission;
use leafid_core::{Action, Layout, OnClockBackwards, Record, Rules, Snowflake as Flake, Span, next_until};

const LEAF: Layout = Layout::LEAF;
const STARTS: u64 = 500;

/// The machine: true time in microseconds, and the clock that is wrong by `offset_ms`. The record survives a crash.
struct Machine {
    random: Random,
    true_us: i64,
    offset_ms: i64,
    record: Record,
    rules: Rules,
    last: i64,
    slowest_ms: i64,
}

impl Machine {
    fn new(seed: u64, rules: Rules) -> Machine {
        let record = Record::unused(7, LEAF);
        Machine { random: Random(seed), true_us: 0, offset_ms: 0, record, rules, last: -1, slowest_ms: 0 }
    }

    fn clock(&self) -> i64 {
        NOW_MS + self.true_us.div_euclid(1_000) + self.offset_ms
    }

    /// Makes a span durable, then answers it.
    fn record_span(&mut self, from: u64, life_ms: i64) -> Option<Span> {
        let now_ms = self.clock();
        let from = self.record.first_free(from);
        let until = next_until(&LEAF, &self.rules, &self.record.skipped, from, now_ms, life_ms)?;
        self.record.run.until = until.max(self.record.run.until);
        self.record.granted_at_ms = now_ms;
        // A durable write.
        self.true_us += 500;
        Some(Span { from, until })
    }

    /// A start: admitted, and with its first span. Virtual time passes while it waits.
    fn start(&mut self) -> Flake {
        let from = loop {
            match self.record.admit(&self.rules, self.clock()) {
                Admission::From(from) => break from,
                Admission::WaitUntil(ms) => self.true_us += (ms - self.clock()) * 1_000,
                Admission::Refused(error) => panic!("refused: {error}"),
            }
        };
        let seed = self.random.next();
        let flake = Flake::new(LEAF, self.rules, 7, from, seed);
        self.record.run.from = from;
        if let Some(span) = self.record_span(from, 0) {
            flake.grant(span);
        }
        flake
    }

    /// One run: `ids` ids, `us_per_id` apart, until the crash, which loses everything but the record.
    fn run(&mut self, life_us: i64, us_per_id: i64) {
        let begun = self.true_us;
        let flake = self.start();
        let mut first = true;
        while first || self.true_us - begun < life_us {
            let now_ms = self.clock();
            match flake.next(now_ms) {
                Ok(id) => {
                    assert!(id > self.last, "{id} after {}", self.last);
                    self.last = id;
                    if first {
                        self.slowest_ms = self.slowest_ms.max((self.true_us - begun) / 1_000);
                    }
                    first = false;
                    self.true_us += us_per_id;
                }
                Err(Action::WaitUntil(ms)) => self.true_us += ((ms - now_ms) * 1_000).max(1),
                Err(Action::NeedSpan) => {
                    let position =
                        flake.first_unused().expect("open").max(LEAF.tick_at(now_ms).expect("a tick"));
                    match self.record_span(position, (self.true_us - begun) / 1_000) {
                        Some(span) => flake.grant(span),
                        None => self.true_us += 1_000,
                    }
                }
                Err(action) => panic!("{}", flake.error(action)),
            }
            assert!(self.true_us - begun < 60_000_000, "no end");
        }
    }

    /// How far the record is ahead of true time, in milliseconds.
    fn lead_ms(&self) -> i64 {
        LEAF.tick_start_ms(self.record.run.until) - (NOW_MS + self.true_us / 1_000)
    }
}

/// HAZARDS 31 and 32: the 200 starts, and more.
#[test]
fn offsets_up_to_two_seconds_and_lives_of_milliseconds() {
    each_seed(20, |seed| {
        let mut machine = Machine::new(seed, Rules::default());
        for _ in 0..STARTS {
            machine.offset_ms = machine.random.between(-2_000, 0);
            let life_us = machine.random.between(5_000, 50_000);
            // 1 to 20,000 ids in a run; a call costs at least a microsecond here.
            let ids = machine.random.between(1, 20_000);
            machine.run(life_us, (life_us / ids).max(1));
            machine.true_us += machine.random.between(0, 2_000);
        }
        let (slowest, lead) = (machine.slowest_ms, machine.lead_ms());
        assert!(slowest <= 100, "a start took {slowest} ms to its first id");
        assert!(lead <= 3_000, "{lead} ms ahead at the end");
    });
}

#[test]
fn a_true_clock_and_lives_too_short_for_their_spans() {
    each_seed(5, |seed| {
        let mut machine = Machine::new(seed, Rules::default());
        for _ in 0..STARTS {
            machine.run(5_000, 1);
        }
        let (slowest, lead) = (machine.slowest_ms, machine.lead_ms());
        assert!(slowest <= 100 && lead <= 3_000, "slowest start {slowest} ms, lead {lead} ms");
    });
}

#[test]
fn under_wait_no_start_waits_longer_than_the_longest_span() {
    each_seed(5, |seed| {
        let rules =
            Rules { on_clock_backwards: OnClockBackwards::Wait, max_backwards_ms: 5, ..Rules::default() };
        let mut machine = Machine::new(seed, rules);
        for _ in 0..50 {
            let life_us = machine.random.between(5_000, 50_000);
            machine.run(life_us, 10);
        }
        assert!(machine.slowest_ms <= 3_001, "a start took {} ms", machine.slowest_ms);
        assert!(machine.lead_ms() <= 3_000, "{} ms ahead", machine.lead_ms());
    });
}

#[test]
fn skipped_spans_on_the_way_are_stepped_over() {
    each_seed(20, |seed| {
        let mut machine = Machine::new(seed, Rules::default());
        let tick = |ms: i64| LEAF.tick_at(NOW_MS + ms).expect("a tick");
        machine.record.skipped = vec![
            Span { from: tick(400), until: tick(900) },
            Span { from: tick(900), until: tick(1_000) },
            Span { from: tick(2_000), until: tick(5_000) },
        ];
        let skipped = machine.record.skipped.clone();
        while machine.true_us < 8_000_000 {
            machine.offset_ms = machine.random.between(-50, 0);
            let life_us = machine.random.between(5_000, 2_000_000);
            machine.run(life_us, 300);
            let last = LEAF.tick_at(LEAF.decode(machine.last).expect("an id").timestamp_ms).expect("a tick");
            assert!(skipped.iter().all(|span| !(span.from..span.until).contains(&last)), "{last} is skipped");
        }
    });
}
