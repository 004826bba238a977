//! Time, and what waits for it, of one execution. Locks and atomics are shuttle's, whose waits have no end.
//!
//! Time passes while all threads wait, and then up to the first of their ends: so what happened without a wait, or on a
//! wake-up that came, took no time; and what waited for a wake-up that was lost did. Where a model says so it also passes
//! while others could run, as if these were slow.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

/// All threads of an execution are of one thread of the system.
#[derive(Default)]
struct World {
    now: Cell<Duration>,
    /// No other thread can run.
    alone: Cell<bool>,
    slow: Cell<bool>,
    sleepers: RefCell<Vec<Sleeper>>,
    threads: RefCell<BTreeMap<&'static CStr, usize>>,
    wrong: RefCell<Option<String>>,
}

struct Sleeper {
    /// What it waits for: an address. None when it just sleeps.
    place: Option<usize>,
    until: Option<Duration>,
    woken: Rc<Cell<bool>>,
    waker: Rc<RefCell<Option<Waker>>>,
}

std::thread_local! {
    static WORLD: World = World::default();
}

/// Begins an execution: its clock is the second thread.
pub(crate) fn begin(slow: bool) {
    WORLD.with(|world| {
        world.slow.set(slow);
        world.now.set(Duration::ZERO);
        world.alone.set(false);
        // Of an execution that failed.
        std::mem::forget(world.sleepers.take());
        world.threads.take();
        world.wrong.take();
    });
    shuttle::thread::spawn(clock);
}

/// Whether time passes also while threads could run.
pub(crate) fn is_slow() -> bool {
    WORLD.with(|world| world.slow.get())
}

/// Says what was seen to be wrong on a thread whose panics are caught.
pub(crate) fn check() {
    if let Some(wrong) = WORLD.with(|world| world.wrong.take()) {
        panic!("{wrong}");
    }
}

pub(crate) fn wrong(what: String) {
    WORLD.with(|world| {
        world.wrong.borrow_mut().get_or_insert(what);
    });
}

/// Since the execution began.
pub fn now() -> Duration {
    WORLD.with(|world| world.now.get())
}

/// For the scheduler: whether the clock is the only one that can run.
pub(crate) fn set_alone(alone: bool) {
    WORLD.with(|world| world.alone.set(alone));
}

/// Whoever else is to run here may.
pub(crate) fn point() {
    sync::atomic::AtomicBool::new(false).load(sync::atomic::Ordering::SeqCst);
}

/// Is run last of all; ends when no thread will ever run again.
fn clock() {
    loop {
        shuttle::thread::yield_now();
        let next = WORLD.with(|world| world.sleepers.borrow().iter().filter_map(|s| s.until).min());
        let Some(next) = next else {
            if WORLD.with(|world| world.alone.get()) {
                return;
            }
            continue;
        };
        WORLD.with(|world| world.now.set(next.max(world.now.get())));
        wake(|sleeper| sleeper.until.is_some_and(|until| until <= next));
    }
}

fn wake(which: impl Fn(&Sleeper) -> bool) -> usize {
    let woken: Vec<_> =
        WORLD.with(|world| world.sleepers.borrow_mut().extract_if(.., |s| which(s)).collect());
    for sleeper in &woken {
        sleeper.woken.set(true);
        if let Some(waker) = sleeper.waker.take() {
            waker.wake();
        }
    }
    woken.len()
}

/// Wakes one, whichever, or all that wait for a place.
fn wake_at(place: usize, all: bool) {
    let waits = |sleeper: &Sleeper| sleeper.place == Some(place);
    if all {
        wake(waits);
        return;
    }
    let waiting: Vec<_> = WORLD.with(|world| {
        let sleepers = world.sleepers.borrow();
        sleepers.iter().filter(|s| waits(s)).map(|s| Rc::as_ptr(&s.woken) as usize).collect()
    });
    if !waiting.is_empty() {
        let one = waiting
            [shuttle::rand::RngCore::next_u64(&mut shuttle::rand::thread_rng()) as usize % waiting.len()];
        wake(|sleeper| Rc::as_ptr(&sleeper.woken) as usize == one);
    }
}

/// Stands in line for a place before it lets go of what it holds, and waits then. Whether it was in time.
fn wait_at(place: Option<usize>, most: Option<Duration>, let_go: impl FnOnce()) {
    let (woken, waker) = (Rc::new(Cell::new(false)), Rc::new(RefCell::new(None)));
    let until = most.map(|most| now() + most);
    let sleeper = Sleeper { place, until, woken: Rc::clone(&woken), waker: Rc::clone(&waker) };
    WORLD.with(|world| world.sleepers.borrow_mut().push(sleeper));
    let_go();
    shuttle::future::block_on(std::future::poll_fn(|context| {
        if woken.get() {
            return Poll::Ready(());
        }
        *waker.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }));
}

/// Counts a thread as long as it lives.
pub(crate) struct Alive(&'static CStr);

impl Alive {
    pub(crate) fn new(name: &'static CStr) -> Alive {
        WORLD.with(|world| *world.threads.borrow_mut().entry(name).or_default() += 1);
        Alive(name)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        WORLD.with(|world| *world.threads.borrow_mut().entry(self.0).or_default() -= 1);
    }
}

/// How many threads of this name live.
pub(crate) fn alive(name: &CStr) -> usize {
    WORLD.with(|world| world.threads.borrow().get(name).copied().unwrap_or_default())
}

pub mod time {
    use std::ops::{Add, Sub};
    pub use std::time::Duration;

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Instant(Duration);

    impl Instant {
        pub fn now() -> Instant {
            Instant(super::now())
        }

        pub fn elapsed(&self) -> Duration {
            super::now() - self.0
        }

        pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Instant;

        fn add(self, time: Duration) -> Instant {
            Instant(self.0 + time)
        }
    }

    impl Sub<Instant> for Instant {
        type Output = Duration;

        fn sub(self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }
}

pub mod thread {
    /// No job of a model panics. All threads here are one of the system's: while a model's own unwinds, and waits for
    /// others as it closes, these do not panic.
    pub fn panicking() -> bool {
        false
    }

    pub fn sleep(time: std::time::Duration) {
        super::point();
        super::wait_at(None, Some(time), || ());
    }
}

pub mod sync {
    pub use shuttle::sync::{LockResult, PoisonError, atomic};
    use std::ops::{Deref, DerefMut};
    pub use std::sync::{Arc, Weak};
    use std::time::Duration;

    /// One whose guard knows it.
    #[derive(Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    pub struct MutexGuard<'a, T> {
        guard: shuttle::sync::MutexGuard<'a, T>,
        mutex: &'a Mutex<T>,
    }

    impl<T> Mutex<T> {
        pub const fn new(value: T) -> Mutex<T> {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            // A panic of another holder fails the model by itself.
            let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(MutexGuard { guard, mutex: self })
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }

    /// One whose waits end by themselves.
    #[derive(Default)]
    pub struct Condvar {
        /// So that each has an address.
        _place: u8,
    }

    pub struct WaitTimeoutResult;

    impl Condvar {
        pub fn new() -> Condvar {
            Condvar::default()
        }

        fn place(&self) -> usize {
            self as *const Condvar as usize
        }

        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            most: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            super::point();
            let mutex = guard.mutex;
            super::wait_at(Some(self.place()), Some(most), || drop(guard));
            mutex.lock().map(|guard| (guard, WaitTimeoutResult)).map_err(|_| unreachable!())
        }

        pub fn notify_one(&self) {
            super::point();
            super::wake_at(self.place(), false);
        }

        pub fn notify_all(&self) {
            super::point();
            super::wake_at(self.place(), true);
        }
    }
}

/// Waits for a word to change.
pub mod futex {
    use super::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::time::Duration;

    pub fn wait(word: &AtomicU32, seen: u32, most: Duration) {
        // From the load on no other thread runs until this one waits.
        if word.load(SeqCst) == seen {
            super::wait_at(Some(word as *const AtomicU32 as usize), Some(most), || ());
        }
    }

    pub fn wake(word: &AtomicU32, most: u32) {
        super::point();
        super::wake_at(word as *const AtomicU32 as usize, most > 1);
    }
}
