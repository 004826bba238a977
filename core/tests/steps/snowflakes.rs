//! A generator's calls.

use crate::atomic::interrupted;
use crate::{Action, Layout, OnExhausted, Rules, Snowflake, Span};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const NOW_MS: i64 = 1_700_000_000_000;
/// Ticks of the first span, those after it that are never granted, and those that are granted behind them.
const FIRST: u64 = 4;
const GAP: u64 = 3;
const SECOND: u64 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Next,
    /// So long as there are ids.
    All,
    Reserve,
    /// Behind a gap.
    Grant,
    Seal,
    FirstUnused,
}

const CALLS: [Call; 6] = [Call::Next, Call::All, Call::Reserve, Call::Grant, Call::Seal, Call::FirstUnused];

/// A generator, and what came of it.
struct Seen {
    flake: Snowflake,
    layout: Layout,
    from: u64,
    /// Its clock, by ticks from `from`.
    now: i64,
    ids: RefCell<BTreeSet<i64>>,
    end: RefCell<Option<u64>>,
    granted: RefCell<bool>,
}

impl Seen {
    fn new(sequence_bits: u8, on_exhausted: OnExhausted, now: i64) -> Seen {
        let layout = Layout::parse(&format!("41|1|{sequence_bits}")).unwrap();
        let rules = Rules { on_exhausted, random_start: 0, ..Rules::default() };
        let from = layout.tick_at(NOW_MS).unwrap();
        let flake = Snowflake::new(layout, rules, 1, from, 0);
        flake.grant(Span { from, until: from + FIRST });
        Seen {
            flake,
            layout,
            from,
            now,
            ids: RefCell::default(),
            end: RefCell::default(),
            granted: RefCell::default(),
        }
    }

    fn tick(&self, id: i64) -> u64 {
        self.layout.tick_at(self.layout.decode(id).unwrap().timestamp_ms).unwrap()
    }

    fn keep(&self, id: i64) {
        assert!(self.ids.borrow_mut().insert(id), "{id} twice");
        let at = self.tick(id) - self.from;
        let second = FIRST + GAP..FIRST + GAP + SECOND;
        assert!(at < FIRST || *self.granted.borrow() && second.contains(&at), "tick {at} was not granted");
    }

    fn take(&self, most: usize, now: i64) -> Result<usize, Action> {
        if most == 1 {
            self.flake.next(NOW_MS + now).map(|id| (self.keep(id), 1).1)
        } else {
            let run = self.flake.reserve(NOW_MS + now, most)?;
            (0..run.count as i64).for_each(|at| self.keep(run.first + at * run.stride));
            Ok(run.count)
        }
    }

    fn call(&self, call: Call) {
        match call {
            Call::Next => drop(self.take(1, self.now).ok()),
            // More than there are in the spans.
            Call::All => drop((0..1_000).try_for_each(|_| self.take(1, self.now).map(drop))),
            Call::Reserve => drop(self.take(3, self.now)),
            Call::Grant => {
                let from = self.from + FIRST + GAP;
                *self.granted.borrow_mut() = true;
                self.flake.grant(Span { from, until: from + SECOND });
            }
            Call::Seal => {
                let end = self.flake.seal();
                assert!(self.end.borrow().is_none() || end.is_none(), "two ends");
                *self.end.borrow_mut() = self.end.take().or(end);
            }
            Call::FirstUnused => drop(self.flake.first_unused()),
        }
    }

    /// What must hold whatever came before, and what comes after.
    fn check(&self) {
        let last = self.ids.borrow().last().copied();
        for now in self.now..self.now + 8 {
            while self.end.borrow().is_none() && self.take(2, now).is_ok() {}
            assert!(self.ids.borrow().last() >= last.as_ref());
        }
        self.call(Call::Seal);
        let end = self.end.borrow().expect("one of the seals has the end");
        let least = self.ids.borrow().last().map_or(self.from, |last| self.tick(*last) + 1);
        // The gap belongs to no span.
        let skipped = self.from + FIRST + GAP;
        assert!(
            end == least || *self.granted.borrow() && end == skipped && least < skipped,
            "{end}, not {least}"
        );
        assert_eq!(self.flake.next(NOW_MS + 100), Err(Action::Sealed));
        assert_eq!(self.flake.reserve(NOW_MS + 100, 2), Err(Action::Sealed));
    }
}

#[test]
fn a_call_of_a_generator_s_inside_another_at_each_of_its_steps() {
    let mut tried = 0;
    for (outer, inner) in CALLS.iter().flat_map(|outer| CALLS.map(|inner| (*outer, inner))) {
        for (bits, issued, now) in [0, 1, 2].into_iter().flat_map(|bits| {
            [0, 1, 3, 4, 100]
                .into_iter()
                .flat_map(move |issued| [-2, 0, 1, 30].map(|now| (bits, issued, now)))
        }) {
            for on_exhausted in [OnExhausted::Wait, OnExhausted::Borrow] {
                for step in 0.. {
                    let what = format!(
                        "{inner:?} in {outer:?} at step {step}: {bits} {issued} {now} {on_exhausted:?}"
                    );
                    let seen = Rc::new(Seen::new(bits, on_exhausted, now));
                    let _ = (0..issued).try_for_each(|_| seen.take(1, 0).map(drop));
                    let guest = Rc::clone(&seen);
                    if interrupted(step, move || guest.call(inner), || seen.call(outer)).is_none() {
                        break;
                    }
                    tried += 1;
                    let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| seen.check()));
                    assert!(checked.is_ok(), "{what}");
                }
            }
        }
    }
    assert!(tried > 10_000, "only {tried}");
}
