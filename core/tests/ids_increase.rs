//! Whatever the clock does, ids increase, lie inside granted spans, and a call that issues nothing changes nothing.

use crate::common::{Random, each_seed, layout};
use leafid_core::{Action, Layout, LayoutFields, OnClockBackwards, OnExhausted, Rules, Run, Snowflake, Span};

const STEPS: usize = 3_000;

/// A generator under test, what was granted to it, and its last id.
struct Walk {
    random: Random,
    layout: Layout,
    rules: Rules,
    worker_id: u32,
    flake: Snowflake,
    granted: Vec<Span>,
    last: Option<i64>,
    now_ms: i64,
}

fn layouts() -> Vec<Layout> {
    let seconds = LayoutFields { tick_ms: 1_000, timestamp_bits: 32, ..Layout::UID_GENERATOR.fields() };
    vec![
        Layout::LEAF,
        Layout::YITTER,
        Layout::SONYFLAKE,
        Layout::JS_SAFE,
        Layout::new(LayoutFields { worker_bits: 18, ..seconds }).expect("63 bits"),
        layout(35, 5, 23, 1_767_225_600_000),
        layout(41, 22, 0, 1_288_834_974_657),
        layout(41, 0, 1, 1_288_834_974_657),
        layout(32, 0, 31, 1_767_225_600_000),
    ]
}

impl Walk {
    fn new(seed: u64) -> Walk {
        let mut random = Random(seed);
        let layout = random.pick(&layouts());
        let on_clock_backwards = random.pick(&[OnClockBackwards::Continue, OnClockBackwards::Wait]);
        let rules = Rules {
            on_clock_backwards,
            max_backwards_ms: random.pick(&[0, 5, 100, 5_000]),
            on_exhausted: random.pick(&[OnExhausted::Wait, OnExhausted::Borrow]),
            random_start: random.pick(&[0, 1, 2, 100, u32::MAX]),
        };
        let worker_id = random.below(u64::from(layout.max_worker_id()) + 1) as u32;
        let now_ms = layout.epoch_ms() + random.between(0, layout.expires_at_ms() - layout.epoch_ms() - 1);
        let from = layout.tick_at(now_ms).expect("after the epoch");
        let flake = Snowflake::new(layout, rules, worker_id, from, random.next());
        Walk { random, layout, rules, worker_id, flake, granted: Vec::new(), last: None, now_ms }
    }

    /// The clock ticks, jumps, stands still, or reads nonsense.
    fn move_clock(&mut self) {
        let near = self.now_ms;
        self.now_ms = match self.random.below(40) {
            0 => near.saturating_sub(self.random.between(1, 10_000)),
            1 => near.saturating_add(self.random.between(1, 10_000)),
            2 => near.saturating_sub(self.random.between(1, 20)),
            3 => near.saturating_add(self.random.between(1, 3_600_000)),
            4..20 => near.saturating_add(self.random.between(0, 2)),
            _ => near,
        };
    }

    /// What a call that issued nothing must have left as it was.
    fn state(&self) -> (Option<u64>, u64) {
        (self.flake.first_unused(), self.flake.until())
    }

    fn ask(&mut self, now_ms: i64) -> Result<(), Action> {
        let before = self.state();
        let asked = self.random.pick(&[1, 1, 1, 2, 7, 100, 4_096, 1 << 24]);
        let run = if asked == 1 {
            self.flake.next(now_ms).map(|first| Run { first, stride: 0, count: 1 })
        } else {
            self.flake.reserve(now_ms, asked)
        };
        match run {
            Ok(run) => {
                assert!((1..=asked).contains(&run.count));
                self.check(run);
                Ok(())
            }
            Err(action) => {
                assert_eq!(self.state(), before, "{action:?} changed something");
                self.check_action(action, now_ms);
                Err(action)
            }
        }
    }

    fn check(&mut self, run: Run) {
        let tick = |id| self.layout.tick_at(self.layout.decode(id).expect("an id").timestamp_ms);
        let end = run.first + (run.count as i64 - 1) * run.stride;
        assert!(self.last.is_none_or(|last| run.first > last), "{run:?} after {:?}", self.last);
        assert!(run.first >= 0 && end >= run.first);
        assert_eq!(tick(run.first), tick(end), "a run lies within one tick");
        for id in [run.first, end] {
            assert_eq!(self.layout.decode(id).map(|parts| parts.worker_id), Ok(self.worker_id));
        }
        let tick = tick(run.first).expect("after the epoch");
        assert!(
            self.granted.iter().any(|span| (span.from..span.until).contains(&tick)),
            "tick {tick} was never granted: {:?}",
            self.granted.last()
        );
        self.last = Some(end);
    }

    fn check_action(&self, action: Action, now_ms: i64) {
        let last_ms = self.last.map(|id| self.layout.decode(id).expect("an id").timestamp_ms);
        let floored = |ms| self.layout.tick_at(ms).map(|tick| self.layout.tick_start_ms(tick));
        match action {
            Action::WaitUntil(ms) => assert!(ms > now_ms, "{action:?} at {now_ms}"),
            Action::ClockBackwards { last_ms: said, now_ms: given } => {
                assert_eq!(given, now_ms);
                // Before the first id, the first tick it may use stands for it.
                assert!(last_ms.is_none_or(|last_ms| said >= last_ms), "{action:?}, last id at {last_ms:?}");
                assert!(said - floored(now_ms).expect("after the epoch") > self.rules.max_backwards_ms);
            }
            Action::BeforeEpoch { .. } => assert!(now_ms < self.layout.epoch_ms()),
            Action::TimeExhausted { .. } => {
                let led = self.flake.first_unused().expect("not sealed") > self.layout.last_tick();
                assert!(led || now_ms >= self.layout.expires_at_ms());
            }
            Action::NeedSpan => {}
            Action::Sealed => panic!("sealed by nobody"),
        }
        assert!(!self.flake.error(action).message().is_empty());
    }

    fn grant(&mut self) {
        let until = self.flake.until();
        let now = self.layout.tick_at(self.now_ms).unwrap_or(0);
        let from = match self.random.below(4) {
            // A gap, as over a skipped span.
            0 => until.max(now) + self.random.below(50),
            _ => until,
        };
        let reach = self.random.pick(&[1, 2, 8, 500, 3_000]);
        let span = Span { from, until: (from.max(now) + reach).min(self.layout.last_tick() + 1) };
        if !span.is_empty() {
            self.granted.push(span);
        }
        self.flake.grant(span);
    }
}

#[test]
fn under_any_clock() {
    let issued = std::cell::Cell::new(0u64);
    each_seed(300, |seed| {
        let mut walk = Walk::new(seed);
        for _ in 0..STEPS {
            walk.move_clock();
            match walk.ask(walk.now_ms) {
                Ok(()) => issued.set(issued.get() + 1),
                Err(Action::NeedSpan) => walk.grant(),
                Err(Action::WaitUntil(ms)) if walk.random.below(4) == 0 => {
                    walk.now_ms = ms;
                    // A second wait is possible: the end of the first one was foretold without knowing whether the
                    // reading was old or the clock went back.
                    if let Err(Action::WaitUntil(ms)) = walk.ask(ms) {
                        walk.now_ms = ms;
                        let again = walk.ask(ms);
                        assert!(
                            !matches!(again, Err(Action::WaitUntil(_) | Action::ClockBackwards { .. })),
                            "waited twice, until {ms}, for {again:?}"
                        );
                    }
                }
                Err(_) => {}
            }
        }
        let first_unused = walk.flake.first_unused();
        assert_eq!(walk.flake.seal(), first_unused, "the seal answers what stood there");
    });
    // The walk would prove nothing if nearly everything were refused.
    assert!(issued.get() > 100_000 || std::env::var_os("LEAFID_SEED").is_some(), "{} runs", issued.get());
}

#[test]
fn at_absurd_times_nothing_is_issued() {
    for layout in layouts() {
        for (on_clock_backwards, on_exhausted) in [
            (OnClockBackwards::Continue, OnExhausted::Wait),
            (OnClockBackwards::Continue, OnExhausted::Borrow),
            (OnClockBackwards::Wait, OnExhausted::Wait),
        ] {
            let rules = Rules { on_clock_backwards, on_exhausted, ..Rules::default() };
            let flake = Snowflake::new(layout, rules, 0, 0, 0);
            flake.grant(Span { from: 0, until: layout.last_tick() + 1 });
            let end = layout.expires_at_ms();
            for now_ms in [i64::MAX, i64::MAX - 1, 1 << 62, 1 << 53, end + 1, end] {
                assert_eq!(flake.next(now_ms), Err(Action::TimeExhausted { now_ms }), "{layout}");
                assert_eq!(
                    flake.reserve(now_ms, 9).err(),
                    Some(Action::TimeExhausted { now_ms }),
                    "{layout}"
                );
            }
            for now_ms in [i64::MIN, i64::MIN + 1, -1, layout.epoch_ms() - 1] {
                assert_eq!(flake.next(now_ms), Err(Action::BeforeEpoch { now_ms }), "{layout}");
            }
            assert_eq!(flake.first_unused(), Some(0), "{layout}");
            assert!(flake.next(layout.epoch_ms()).is_ok_and(|id| id >= 0), "{layout}");
        }
    }
}
