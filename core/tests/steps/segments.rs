//! A double buffer's calls.

use crate::atomic::interrupted;
use crate::{DoubleBuffer, Empty, Filler, Run, Segment};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Take,
    TakeMany,
    TakeRun,
    TakePart,
    /// Until it is empty.
    Drain,
    /// By who may fill.
    Offer,
    /// Emptied and filled so often that both slots hold others.
    TurnOver,
    Seal,
    Left,
}

const TAKES: [Call; 5] = [Call::Take, Call::TakeMany, Call::TakeRun, Call::TakePart, Call::Drain];
const FILLS: [Call; 4] = [Call::Offer, Call::TurnOver, Call::Seal, Call::Left];

/// A buffer, and what came of it.
struct Seen {
    buffer: DoubleBuffer,
    filler: RefCell<Filler>,
    ids: RefCell<BTreeSet<i64>>,
    offered: RefCell<BTreeSet<i64>>,
    rest: RefCell<Option<Vec<Segment>>>,
    next: Cell<i64>,
}

impl Seen {
    fn new(segments: usize) -> Seen {
        let (buffer, filler) = DoubleBuffer::new();
        let seen = Seen {
            buffer,
            filler: RefCell::new(filler),
            ids: RefCell::default(),
            offered: RefCell::default(),
            rest: RefCell::default(),
            next: Cell::new(1),
        };
        (0..segments).for_each(|_| seen.call(Call::Offer));
        seen
    }

    fn keep(&self, run: Run) {
        for at in 0..run.count as i64 {
            let id = run.first + at * run.stride;
            assert!(self.offered.borrow().contains(&id), "{id} was not offered");
            assert!(self.ids.borrow_mut().insert(id), "{id} twice");
        }
    }

    fn take(&self, call: Call) -> Result<(), Empty> {
        let (run, _) = match call {
            Call::Take => {
                self.buffer.take().map(|(first, wants)| (Run { first, stride: 1, count: 1 }, wants))
            }
            Call::TakeMany => self.buffer.take_many(3),
            Call::TakeRun => self.buffer.take_run(3),
            _ => self.buffer.take_part(3, 2),
        }?;
        assert!(run.count > 0);
        self.keep(run);
        Ok(())
    }

    fn call(&self, call: Call) {
        let _ = self.tried(call);
    }

    /// An error where a take got nothing.
    fn tried(&self, call: Call) -> Result<(), Empty> {
        match call {
            // Segments of several lengths and strides, with gaps between.
            Call::Offer => {
                let (start, stride) = (self.next.get(), 1 + self.next.get() % 3);
                let segment = Segment::new(start, start + 4 * stride, stride).unwrap();
                let filled = self.buffer.offer(&mut self.filler.borrow_mut(), segment, 10).is_ok();
                if filled {
                    self.offered.borrow_mut().extend((0..segment.len()).filter_map(|at| segment.id(at)));
                    self.next.set(segment.end() + 10);
                }
            }
            Call::Drain => while self.take(Call::TakeMany).is_ok() {},
            Call::TurnOver => {
                for _ in 0..2 {
                    self.call(Call::Drain);
                    self.call(Call::Offer);
                    self.call(Call::Offer);
                    let _ = self.take(Call::Take);
                }
            }
            Call::Seal => {
                let rest = self.buffer.seal(&self.filler.borrow());
                let before = self.rest.take();
                assert!(before.as_ref().is_none_or(|_| rest.is_empty()), "two rests");
                *self.rest.borrow_mut() = before.or(Some(rest));
            }
            Call::Left => {
                let filler = self.filler.borrow();
                assert!(self.buffer.left(&filler) <= 8);
                drop((
                    self.buffer.taken(&filler),
                    self.buffer.wants_fetch(&filler),
                    self.buffer.segments(&filler),
                ));
            }
            take => return self.take(take),
        }
        Ok(())
    }

    /// Each id is issued, or left at the end; none is both.
    fn check(&self) {
        self.call(Call::Offer);
        let _ = self.take(Call::Take);
        self.call(Call::Seal);
        assert_eq!(self.buffer.take(), Err(Empty::Sealed));
        for segment in self.rest.take().unwrap() {
            self.keep(Run {
                first: segment.start(),
                stride: segment.stride(),
                count: segment.len() as usize,
            });
        }
        assert_eq!(*self.ids.borrow(), *self.offered.borrow());
    }
}

#[test]
fn a_call_of_a_buffer_s_inside_another_at_each_of_its_steps() {
    let mut tried = 0;
    // Who fills is the only one: beside its calls there are takes.
    let pairs = TAKES.into_iter().flat_map(|take| {
        let beside = FILLS.map(move |fill| [(take, fill), (fill, take)]).into_iter().flatten();
        beside.chain(TAKES.map(|inner| (take, inner)))
    });
    for (outer, inner) in pairs {
        for (segments, taken) in
            [(0, 0), (1, 0), (1, 3), (1, 4), (2, 0), (2, 1), (2, 3), (2, 4), (2, 7), (2, 8)]
        {
            for step in 0.. {
                let seen = Rc::new(Seen::new(segments));
                (0..taken).for_each(|_| seen.call(Call::Take));
                let guest = Rc::clone(&seen);
                if interrupted(step, move || guest.call(inner), || seen.call(outer)).is_none() {
                    break;
                }
                tried += 1;
                let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| seen.check()));
                assert!(
                    checked.is_ok(),
                    "{inner:?} in {outer:?} at step {step}, {taken} of {segments} segments taken"
                );
            }
        }
    }
    assert!(tried > 3_000, "only {tried}");
}

#[test]
fn a_take_finds_ids_that_others_turned_over_meanwhile() {
    for take in TAKES {
        for step in 0.. {
            let seen = Rc::new(Seen::new(2));
            let guest = Rc::clone(&seen);
            let mut taken = Ok(());
            let inner = move || guest.call(Call::TurnOver);
            if interrupted(step, inner, || taken = seen.tried(take)).is_none() {
                break;
            }
            assert_eq!(taken, Ok(()), "{take:?} at step {step}: there were ids all the time");
        }
    }
}
