//! Ids for tests: the same in each run. **They are not unique**: no worker id is claimed, and nothing is stored.
//!
//! ```
//! use leafid::Layout;
//! use leafid::testing::FakeSnowflake;
//!
//! let flake = FakeSnowflake::new(Layout::LEAF, 3, || 1_767_225_600_000);
//! assert_eq!(flake.next()?, Layout::LEAF.compose(1_767_225_600_000, 3, 0)?);
//! assert_eq!(flake.next()?, Layout::LEAF.compose(1_767_225_600_000, 3, 1)?);
//! # Ok::<(), leafid::Error>(())
//! ```

use leafid_core::{Code, Error, Layout, Result};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Issues ids in a test, with the methods of [`Snowflake`](crate::Snowflake). Its ids are **not unique**.
///
/// It is another type than `Snowflake`: code under test takes a closure, `impl Fn() -> leafid::Result<i64>`, or a trait
/// of its own.
pub struct FakeSnowflake {
    layout: Layout,
    worker_id: u32,
    /// `None` once it is closed.
    next: Mutex<Option<NextId>>,
}

type NextId = Box<dyn FnMut() -> Result<i64> + Send>;

impl FakeSnowflake {
    /// Issues ids of `clock`, which returns Unix milliseconds: a clock that stands counts the sequence up, and then
    /// takes the next tick; one that goes back gives ids of the last tick.
    ///
    /// A worker id that the layout does not have is an error of the first id.
    pub fn new(layout: Layout, worker_id: u32, clock: impl Fn() -> i64 + Send + 'static) -> FakeSnowflake {
        let mut at_ms = i64::MIN;
        let mut sequence = 0;
        let next = move || {
            let now_ms = layout.decode(layout.first_id_at(clock())?)?.timestamp_ms;
            if now_ms > at_ms {
                (at_ms, sequence) = (now_ms, 0);
            } else if sequence < layout.max_sequence() {
                sequence += 1;
            } else {
                (at_ms, sequence) = (at_ms + layout.tick_ms(), 0);
            }
            layout.compose(at_ms, worker_id, sequence)
        };
        FakeSnowflake { layout, worker_id, next: Mutex::new(Some(Box::new(next))) }
    }

    /// Issues what a test gives, ids and errors, in this order. Panics when there is no more.
    pub fn given<I>(results: I) -> FakeSnowflake
    where
        I: IntoIterator<Item = Result<i64>>,
        I::IntoIter: Send + 'static,
    {
        let mut results = results.into_iter();
        #[allow(clippy::expect_used, reason = "a test fails by panicking")]
        let next = move || results.next().expect("the test gave no more ids");
        FakeSnowflake { layout: Layout::LEAF, worker_id: 0, next: Mutex::new(Some(Box::new(next))) }
    }

    fn open<T>(&self, call: impl FnOnce(&mut NextId) -> Result<T>) -> Result<T> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        next.as_mut().map_or_else(|| Err(Error::new(Code::Closed, "this FakeSnowflake is closed")), call)
    }

    /// Issues one id.
    pub fn next(&self) -> Result<i64> {
        self.open(|next| next())
    }

    /// Issues one id, if that is no error.
    pub fn try_next(&self) -> Option<i64> {
        self.next().ok()
    }

    /// Issues `n` ids.
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.open(|next| (0..n).map(|_| next()).collect())
    }

    /// Fills the slice with ids.
    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        out.copy_from_slice(&self.take(out.len())?);
        Ok(())
    }

    /// Returns an endless iterator of ids.
    pub fn iter(&self) -> impl Iterator<Item = Result<i64>> + '_ {
        std::iter::repeat_with(|| self.next())
    }

    /// The worker id of the ids. Errors: `closed`.
    pub fn worker_id(&self) -> Result<u32> {
        self.open(|_| Ok(self.worker_id))
    }

    /// The id space: `leafid-testing`.
    pub fn name(&self) -> &str {
        "leafid-testing"
    }

    /// The layout of the ids.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Every later call returns `closed`.
    pub fn close(&self) -> Result<()> {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(())
    }
}

impl fmt::Debug for FakeSnowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeSnowflake {{ worker_id: {}, for tests, not unique }}", self.worker_id)
    }
}

/// The blocks in Rust of the page are run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/TESTING.md")]
struct Page;
