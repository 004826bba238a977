//! The snowflake generator. It is lock-free and issues ids within its granted spans.
//!
//! Construct: [`Snowflake::new`]. Polls: [`Snowflake::next`], [`Snowflake::reserve`], [`Snowflake::reserve_after`],
//! which return ids or the next action. Events: [`Snowflake::grant`], [`Snowflake::seal`]. Queries: all others.
//!
//! | State | Event | Result, next state |
//! | --- | --- | --- |
//! | its next tick is in a granted span | `next`, `reserve` | ids; the position moves up |
//! | its next tick is above the spans | `next`, `reserve` | `NeedSpan`; the same |
//! | the clock's tick is used up | `next`, `reserve` | `WaitUntil` the next tick, or ids of it by the rules; the same or up |
//! | the clock is behind by more than the rules bridge | `next`, `reserve` | `ClockBackwards`; the same |
//! | any but sealed | `grant` | one more span |
//! | any but sealed | `seal` | the first unused tick; sealed |
//! | sealed | all | `Sealed`, nothing; sealed |

use crate::atomic::statistics::AtomicU64 as StatisticU64;
use crate::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use crate::{Action, Error, Layout, OnClockBackwards, OnExhausted, Rules, Run, Span};

/// A position is `tick << sequence_bits | sequence`. It has at most 63 bits, so this value is not a position.
const SEALED: u64 = u64::MAX;
/// No step ahead of the clock was made yet.
const NEVER: u64 = u64::MAX;
/// While the generator is ahead, one tick in this number lasts two ticks of the clock, so that the lead shrinks even
/// under full load.
const MELT: u64 = 256;
/// How old a reading of the clock may be when it is used: longer than a thread usually waits for a processor.
const LAG_MS: i64 = 50;

/// On its own cache line: every id writes this word.
#[repr(align(64))]
struct Hot(AtomicU64);

/// A generator of one worker id. Ids strictly increase whatever the clock does. Any number of threads may call it.
///
#[cfg_attr(feature = "parts", doc = "```")]
#[cfg_attr(not(feature = "parts"), doc = "```ignore")]
/// use leafid_core::{Layout, Rules, Snowflake, Span};
/// let now_ms = 1_600_000_000_000;
/// let tick = Layout::LEAF.tick_at(now_ms).unwrap_or(0);
/// let flake = Snowflake::new(Layout::LEAF, Rules { random_start: 0, ..Rules::default() }, 39, tick, 0);
/// flake.grant(Span { from: tick, until: tick + 3_000 });
/// assert_eq!(flake.next(now_ms), Ok(1_305_120_710_456_406_016));
/// ```
pub struct Snowflake {
    /// The first unused position, or SEALED.
    next: Hot,
    /// The first tick outside the granted spans.
    until: AtomicU64,
    /// The clock's tick when the logical clock last made a step ahead of it, or NEVER.
    pace: AtomicU64,
    layout: Layout,
    rules: Rules,
    sequence_bits: u32,
    sequence_mask: u64,
    tick_shift: u32,
    stride: i64,
    /// The first position of all. A generator that is still at it has issued nothing.
    origin: u64,
    /// The worker id, shifted to its place.
    worker: i64,
    random_start: u64,
    seed: u64,
    issued: Issued,
}

/// The number of issued ids, for metrics. The ids of a tick are counted when a later tick begins, so that most ids cost
/// nothing. These are not the atomic types that tests replace, because nothing is decided by them.
#[derive(Default)]
struct Issued {
    /// The ids of all ticks before that of the position.
    before: StatisticU64,
    /// A position that no id led to: the origin, or the start of a span after a gap.
    untouched: StatisticU64,
    /// The largest number that was returned, because between two of the steps below a number can be too small.
    returned: StatisticU64,
}

/// The target of a step.
struct Target {
    tick: u64,
    /// Whether the tick has begun, so that its ids continue. Otherwise it starts again.
    begun: bool,
    /// The value of `pace` that this step must still find, and the new value.
    pace: Option<(u64, u64)>,
}

impl Snowflake {
    /// A generator that starts at the tick `from` and has no span yet. `worker_id` must be within the layout.
    pub fn new(layout: Layout, rules: Rules, worker_id: u32, from: u64, seed: u64) -> Snowflake {
        let (worker_shift, sequence_shift) = layout.shifts();
        let eighth = (u64::from(layout.max_sequence()) + 1) / 8;
        Snowflake {
            next: Hot(AtomicU64::new(from << layout.sequence_bits())),
            until: AtomicU64::new(from),
            pace: AtomicU64::new(NEVER),
            layout,
            rules,
            sequence_bits: layout.sequence_bits(),
            sequence_mask: u64::from(layout.max_sequence()),
            tick_shift: layout.tick_shift(),
            stride: 1 << sequence_shift,
            origin: from << layout.sequence_bits(),
            worker: i64::from(worker_id.min(layout.max_worker_id())) << worker_shift,
            random_start: u64::from(rules.random_start).min(eighth),
            seed,
            issued: Issued {
                untouched: StatisticU64::new(from << layout.sequence_bits()),
                ..Issued::default()
            },
        }
    }

    /// Issues one id, or returns the action to take first.
    #[inline]
    pub fn next(&self, now_ms: i64) -> core::result::Result<i64, Action> {
        match self.one_more(now_ms) {
            Some(id) => Ok(id),
            None => self.next_by_step(now_ms),
        }
    }

    /// Issues 1 to `most` ids of one tick in one step, or returns the action to take first. Call again for the rest.
    pub fn reserve(&self, now_ms: i64, most: usize) -> core::result::Result<Run, Action> {
        // More than any tick holds is as good as 2^32, which adds to a position without overflow.
        let (position, count) = self.step(now_ms, (most as u64).clamp(1, 1 << 32))?;
        Ok(Run { first: self.id(position), stride: self.stride, count: count as usize })
    }

    /// As [`Snowflake::reserve`], but more than one only if the clock's tick has begun, and its ids so far end at the
    /// position `after`: then no other caller has taken one.
    pub fn reserve_after(&self, now_ms: i64, after: u64, most: usize) -> core::result::Result<Run, Action> {
        let follows = self.layout.is_begun(after)
            && self.layout.tick_at(now_ms) == Some(after >> self.sequence_bits)
            && self.next.0.load(Relaxed) == after;
        self.reserve(now_ms, if follows { most } else { 1 })
    }

    /// The address of the first unused position, `tick << sequence_bits | sequence`. Each step raises it; a sealed
    /// generator has the largest number there. As long as it is the position after a run, the ids of the run are above all
    /// others that were issued.
    #[doc(hidden)]
    pub fn position(&self) -> *const u64 {
        core::ptr::from_ref(&self.next.0).cast()
    }

    /// Adds a span. It starts where the last one ended, or above. Ticks in between are never used.
    #[cfg(feature = "parts")]
    pub fn grant(&self, span: Span) {
        self.add(span);
    }

    /// As `grant`, whose order a machine holds.
    pub(crate) fn add(&self, span: Span) {
        if span.is_empty() || span.until > self.layout.last_tick() + 1 {
            return;
        }
        if span.from > self.until.load(Relaxed) {
            // Before the bound is raised, because no step may land in the gap. A sealed generator stays sealed.
            let begin = span.from << self.sequence_bits;
            let before = self.next.0.fetch_max(begin, Relaxed);
            if before < begin {
                self.count_tick_of(before);
                self.issued.untouched.store(begin, Relaxed);
            }
        }
        self.until.fetch_max(span.until, Release);
    }

    /// Seals the generator in one atomic step and returns the exact first unused tick; `None` if it was sealed before.
    pub fn seal(&self) -> Option<u64> {
        let position = self.next.0.swap(SEALED, Relaxed);
        self.count_tick_of(position);
        self.first_unused_of(position)
    }

    /// The number of ids that were issued or reserved so far, for metrics. It never falls. While other threads take ids,
    /// it may be short of those of the last tick.
    pub fn issued(&self) -> u64 {
        let before = self.issued.before.load(Relaxed);
        let now = before + self.issued_in_tick_of(self.next.0.load(Relaxed));
        self.issued.returned.fetch_max(now, Relaxed).max(now)
    }

    /// The first tick without an issued id; `None` if the generator is sealed.
    pub fn first_unused(&self) -> Option<u64> {
        self.first_unused_of(self.next.0.load(Relaxed))
    }

    /// The number of ids that one [`Snowflake::reserve`] could return now, within the tick.
    pub fn left_in_tick(&self, now_ms: i64) -> usize {
        let at = self.next.0.load(Relaxed);
        let now = self.layout.tick_at(now_ms).unwrap_or(0).min(self.layout.last_tick());
        let tick = at >> self.sequence_bits;
        if tick > now && at & self.sequence_mask == 0 {
            return 0;
        }
        let start = if now > tick { self.begin(now) } else { at };
        ((self.sequence_mask + 1) - (start & self.sequence_mask)) as usize
    }

    /// What [`Snowflake::next`] would return now instead of an id; `None` for an id.
    pub fn lacks(&self, now_ms: i64) -> Option<Action> {
        let Some(now) = self.layout.tick_at(now_ms) else { return Some(Action::BeforeEpoch { now_ms }) };
        self.target(self.next.0.load(Relaxed), now, now_ms).err()
    }

    /// The first tick outside the granted spans.
    pub fn until(&self) -> u64 {
        self.until.load(Acquire)
    }

    /// The worker id.
    pub fn worker_id(&self) -> u32 {
        // It fits: it was a worker id before it was shifted.
        (self.worker >> self.layout.shifts().0) as u32
    }

    /// Another generator at the same place.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn copy(&self) -> Snowflake {
        let (next, until, pace) = self.place();
        let copied = |number: &StatisticU64| StatisticU64::new(number.load(Relaxed));
        let Issued { before, untouched, returned } = &self.issued;
        Snowflake {
            next: Hot(AtomicU64::new(next)),
            until: AtomicU64::new(until),
            pace: AtomicU64::new(pace),
            layout: self.layout,
            rules: self.rules,
            sequence_bits: self.sequence_bits,
            sequence_mask: self.sequence_mask,
            tick_shift: self.tick_shift,
            stride: self.stride,
            origin: self.origin,
            worker: self.worker,
            random_start: self.random_start,
            seed: self.seed,
            issued: Issued {
                before: copied(before),
                untouched: copied(untouched),
                returned: copied(returned),
            },
        }
    }

    /// What tells it from another generator of the same worker id: the position, the end of its spans, and its pace.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn place(&self) -> (u64, u64, u64) {
        (self.next.0.load(Relaxed), self.until.load(Acquire), self.pace.load(Relaxed))
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The error of an action: of a refusal, or of the reason for a wait.
    #[cold]
    pub fn error(&self, action: Action) -> Error {
        action.error(&self.layout, &self.rules)
    }

    /// Issues one more id of the clock's tick, if the tick has begun and is not used up. Nearly every call ends here.
    /// It is the same as a step of one position, without the other cases. `None` means nothing: make a step.
    #[inline(always)]
    fn one_more(&self, now_ms: i64) -> Option<i64> {
        let now = self.layout.tick_at(now_ms)?;
        // Before the shift, as in `step`.
        if now >= self.until.load(Acquire) {
            return None;
        }
        let at = self.next.0.load(Relaxed);
        // 0 in a tick that has not begun. Larger than any sequence number in an earlier or later tick, or if sealed.
        let sequence = at.wrapping_sub(now << self.sequence_bits);
        if sequence.wrapping_sub(1) >= self.sequence_mask {
            return None;
        }
        self.next.0.compare_exchange_weak(at, at + 1, Relaxed, Relaxed).ok()?;
        Some(self.composed(now, sequence))
    }

    #[cold]
    #[inline(never)]
    fn next_by_step(&self, now_ms: i64) -> core::result::Result<i64, Action> {
        self.step(now_ms, 1).map(|(position, _)| self.id(position))
    }

    /// The only step: takes up to `want` positions of one tick.
    #[inline(always)]
    fn step(&self, now_ms: i64, want: u64) -> core::result::Result<(u64, u64), Action> {
        let Some(now) = self.layout.tick_at(now_ms) else { return Err(Action::BeforeEpoch { now_ms }) };
        let mut at = self.next.0.load(Relaxed);
        loop {
            let target = self.target(at, now, now_ms)?;
            if let Some((found, left)) = target.pace
                && self.pace.compare_exchange(found, left, Relaxed, Relaxed).is_err()
            {
                at = self.next.0.load(Relaxed);
                continue;
            }
            let start = if target.begun { at } else { self.begin(target.tick) };
            let end = (start + want).min((target.tick + 1) << self.sequence_bits);
            match self.next.0.compare_exchange_weak(at, end, Relaxed, Relaxed) {
                Ok(_) => {
                    if !target.begun {
                        self.count_tick_of(at);
                    }
                    return Ok((start, end - start));
                }
                Err(found) => at = found,
            }
        }
    }

    /// Where the step from the position `at` leads.
    #[inline(always)]
    fn target(&self, at: u64, now: u64, now_ms: i64) -> core::result::Result<Target, Action> {
        let tick = at >> self.sequence_bits;
        let target = if now >= tick {
            let begun = now == tick && at & self.sequence_mask != 0;
            Target { tick: now, begun, pace: None }
        } else {
            self.ahead(at, now, now_ms)?
        };
        // Before the shift in `begin`: after the last tick it would lose bits.
        if target.tick >= self.until.load(Acquire) {
            return Err(self.outside(target.tick, now_ms));
        }
        Ok(target)
    }

    /// The next action at a position whose tick is ahead of the clock.
    #[cold]
    #[inline(never)]
    fn ahead(&self, at: u64, now: u64, now_ms: i64) -> core::result::Result<Target, Action> {
        if at == SEALED {
            return Err(Action::Sealed);
        }
        let tick = at >> self.sequence_bits;
        let begun = at & self.sequence_mask != 0;
        let last = if begun { tick } else { tick - 1 };
        let bound = self.rules.max_backwards_ms;
        let lead_ms = (last - now) as i64 * self.layout.tick_ms();
        if lead_ms > bound {
            if at == self.origin && self.rules.on_clock_backwards == OnClockBackwards::Continue {
                // Admitted, but no span may be granted so far ahead: a restart after a step back starts a little later.
                return Err(Action::WaitUntil(self.layout.tick_start_ms(tick + 1) - bound));
            }
            return Err(Action::ClockBackwards { last_ms: self.layout.tick_start_ms(last), now_ms });
        }
        if self.rules.on_clock_backwards == OnClockBackwards::Wait {
            return Err(Action::WaitUntil(self.layout.tick_start_ms(tick)));
        }
        if begun {
            return Ok(Target { tick, begun, pace: None });
        }
        let fresh = Target { tick, begun, pace: None };
        // In whole ticks, so that the wait ends when the step becomes possible, for any length of the tick. After a
        // step beyond the bound, the next call would be a refusal.
        let soonest = tick.saturating_sub((bound / self.layout.tick_ms()).max(0) as u64);
        if self.rules.on_exhausted == OnExhausted::Borrow {
            return if now >= soonest {
                Ok(fresh)
            } else {
                Err(Action::WaitUntil(self.layout.tick_start_ms(soonest)))
            };
        }
        if last == now {
            return Err(Action::WaitUntil(self.layout.tick_start_ms(tick)));
        }
        // Ahead of the clock: make one step for each tick of the clock. If the clock reads a little less than at the
        // last step, the calling thread has slept since it read the clock. It must not get its own step, or the lead
        // grows with every such reading. If the clock reads much less, it went back: make one step, and count from
        // here.
        let paced = self.pace.load(Relaxed);
        let lag = 1 + (LAG_MS / self.layout.tick_ms()) as u64;
        let again = paced == NEVER || now + lag < paced;
        let due = if again { now } else { paced + 1 + u64::from(tick.is_multiple_of(MELT)) };
        let due = due.max(soonest);
        if now >= due {
            return Ok(Target { pace: Some((paced, now)), ..fresh });
        }
        Err(Action::WaitUntil(self.layout.tick_start_ms(due)))
    }

    #[cold]
    fn outside(&self, tick: u64, now_ms: i64) -> Action {
        if tick > self.layout.last_tick() { Action::TimeExhausted { now_ms } } else { Action::NeedSpan }
    }

    /// The first position of a new tick: a pseudo-random sequence number below `random_start`.
    #[inline]
    fn begin(&self, tick: u64) -> u64 {
        let mut position = tick << self.sequence_bits;
        if self.random_start > 1 {
            // The last steps of splitmix64: every bit of the tick reaches the high bits.
            let mut z = (tick ^ self.seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            position |= ((z >> 32) * self.random_start) >> 32;
        }
        position
    }

    /// Counts the ids of the last tick that has any, after the step away from this position.
    #[cold]
    #[inline(never)]
    fn count_tick_of(&self, position: u64) {
        self.issued.before.fetch_add(self.issued_in_tick_of(position), Relaxed);
    }

    /// The number of ids in the tick of the id before this position.
    fn issued_in_tick_of(&self, position: u64) -> u64 {
        if position == SEALED {
            return 0;
        }
        let tick = position.wrapping_sub(1) >> self.sequence_bits;
        // At the start of a span after a gap, which is not granted yet or is untouched.
        if tick >= self.until.load(Acquire) || position == self.issued.untouched.load(Relaxed) {
            return 0;
        }
        position - self.begin(tick)
    }

    #[inline]
    fn id(&self, position: u64) -> i64 {
        self.composed(position >> self.sequence_bits, position & self.sequence_mask)
    }

    #[inline]
    fn composed(&self, tick: u64, sequence: u64) -> i64 {
        // At most 63 bits, checked by Layout::new.
        (tick << self.tick_shift) as i64 | self.worker | (sequence as i64 * self.stride)
    }

    fn first_unused_of(&self, position: u64) -> Option<u64> {
        let begun = u64::from(position & self.sequence_mask != 0);
        (position != SEALED).then_some((position >> self.sequence_bits) + begun)
    }
}
