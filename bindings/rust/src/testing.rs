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

use leafid_core::options::check_n;
use leafid_core::{Code, Error, Layout, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const NAME: &str = "leafid-testing";

/// Issues ids in a test, with the methods of [`Snowflake`](crate::Snowflake). Its ids are **not unique**.
///
/// It is another type than `Snowflake`: code under test takes a closure, `impl Fn() -> leafid::Result<i64>`, or a trait
/// of its own.
pub struct FakeSnowflake {
    layout: Layout,
    worker_id: u32,
    ids: FakeIds,
}

/// What snowflakes and tags share: the source of ids, `None` once it is closed.
struct FakeIds(Mutex<Option<NextId>>, &'static str);

type NextId = Box<dyn FnMut() -> Result<i64> + Send>;

impl FakeIds {
    fn new(next: impl FnMut() -> Result<i64> + Send + 'static, what: &'static str) -> FakeIds {
        FakeIds(Mutex::new(Some(Box::new(next))), what)
    }

    /// Of what a test gives. Panics when there is no more.
    fn given<I>(results: I, what: &'static str) -> FakeIds
    where
        I: IntoIterator<Item = Result<i64>>,
        I::IntoIter: Send + 'static,
    {
        let mut results = results.into_iter();
        #[allow(clippy::expect_used, reason = "a test fails by panicking")]
        FakeIds::new(move || results.next().expect("the test gave no more ids"), what)
    }

    fn open<T>(&self, call: impl FnOnce(&mut NextId) -> Result<T>) -> Result<T> {
        locked(&self.0).as_mut().map_or_else(|| Err(closed(self.1)), call)
    }

    fn next(&self) -> Result<i64> {
        self.open(|next| next())
    }

    fn take(&self, n: usize) -> Result<Vec<i64>> {
        check_n(n)?;
        self.open(|next| (0..n).map(|_| next()).collect())
    }

    fn fill(&self, out: &mut [i64]) -> Result<()> {
        out.copy_from_slice(&self.take(out.len())?);
        Ok(())
    }

    fn close(&self) {
        *locked(&self.0) = None;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed(what: &str) -> Error {
    Error::new(Code::Closed, format!("this {what} is closed"))
}

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
        FakeSnowflake { layout, worker_id, ids: FakeIds::new(next, "FakeSnowflake") }
    }

    /// Issues what a test gives, ids and errors, in this order. Panics when there is no more.
    pub fn given<I>(results: I) -> FakeSnowflake
    where
        I: IntoIterator<Item = Result<i64>>,
        I::IntoIter: Send + 'static,
    {
        FakeSnowflake { layout: Layout::LEAF, worker_id: 0, ids: FakeIds::given(results, "FakeSnowflake") }
    }

    /// Issues one id.
    pub fn next(&self) -> Result<i64> {
        self.ids.next()
    }

    /// Issues one id, if that is no error.
    pub fn try_next(&self) -> Option<i64> {
        self.next().ok()
    }

    /// Issues `n` ids.
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.ids.take(n)
    }

    /// Fills the slice with ids.
    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        self.ids.fill(out)
    }

    /// Returns an endless iterator of ids.
    pub fn iter(&self) -> impl Iterator<Item = Result<i64>> + '_ {
        std::iter::repeat_with(|| self.next())
    }

    /// The worker id of the ids. Errors: `closed`.
    pub fn worker_id(&self) -> Result<u32> {
        self.ids.open(|_| Ok(self.worker_id))
    }

    /// The id space: `leafid-testing`.
    pub fn name(&self) -> &str {
        NAME
    }

    /// The layout of the ids.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Every later call returns `closed`.
    pub fn close(&self) -> Result<()> {
        self.ids.close();
        Ok(())
    }
}

impl fmt::Debug for FakeSnowflake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeSnowflake {{ worker_id: {}, for tests, not unique }}", self.worker_id)
    }
}

/// Tags for a test, with the methods of [`Segments`](crate::Segments). Their ids are **not unique**.
///
/// ```
/// use leafid::testing::FakeSegments;
///
/// let order = FakeSegments::new(1).tag("order")?;
/// assert_eq!((order.next()?, order.take(2)?), (1, vec![2, 3]));
/// # Ok::<(), leafid::Error>(())
/// ```
pub struct FakeSegments {
    /// Where tags begin to count, if the test gives no ids.
    first: Option<i64>,
    /// `None` once they are closed.
    tags: Mutex<Option<BTreeMap<String, Arc<FakeIds>>>>,
}

impl FakeSegments {
    /// Each tag counts from `first`.
    pub fn new(first: i64) -> FakeSegments {
        FakeSegments { first: Some(first), tags: Mutex::new(Some(BTreeMap::new())) }
    }

    /// Each tag issues what a test gives for it, ids and errors, in this order, and panics when there is no more. Other
    /// tags are `unknown_tag`.
    pub fn given<N, I>(tags: impl IntoIterator<Item = (N, I)>) -> FakeSegments
    where
        N: Into<String>,
        I: IntoIterator<Item = Result<i64>>,
        I::IntoIter: Send + 'static,
    {
        let ids = |results| Arc::new(FakeIds::given(results, "FakeTag"));
        let tags = tags.into_iter().map(|(name, results)| (name.into(), ids(results))).collect();
        FakeSegments { first: None, tags: Mutex::new(Some(tags)) }
    }

    /// The tag of this name. All of one name share their ids. Errors: `closed`.
    pub fn tag(&self, name: &str) -> Result<FakeTag> {
        let mut tags = locked(&self.tags);
        let tags = tags.as_mut().ok_or_else(|| closed("FakeSegments"))?;
        let ids = tags.entry(name.to_owned()).or_insert_with(|| Arc::new(self.source(name)));
        Ok(FakeTag { name: name.into(), ids: Arc::clone(ids) })
    }

    fn source(&self, name: &str) -> FakeIds {
        let unknown = Error::new(Code::UnknownTag, format!("the test gave no ids of the tag {name:?}"));
        let mut next = self.first.ok_or(unknown);
        let count = move || {
            let id = next.clone()?;
            next = Ok(id + 1);
            Ok(id)
        };
        FakeIds::new(count, "FakeTag")
    }

    /// The id space: `leafid-testing`.
    pub fn name(&self) -> &str {
        NAME
    }

    /// Every later call, of their tags too, returns `closed`.
    pub fn close(&self) -> Result<()> {
        let tags = locked(&self.tags).take();
        tags.into_iter().flatten().for_each(|(_, ids)| ids.close());
        Ok(())
    }
}

impl fmt::Debug for FakeSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeSegments { for tests, not unique }")
    }
}

/// A tag of [`FakeSegments`], with the methods of [`Tag`](crate::Tag). It never waits.
#[derive(Clone)]
pub struct FakeTag {
    name: Arc<str>,
    ids: Arc<FakeIds>,
}

impl FakeTag {
    /// Issues the next id.
    pub fn next(&self) -> Result<i64> {
        self.ids.next()
    }

    /// As [`FakeTag::next`].
    pub fn next_within(&self, _timeout_ms: i64) -> Result<i64> {
        self.next()
    }

    /// Issues the next id: there is always one.
    pub fn try_next(&self) -> Result<Option<i64>> {
        self.next().map(Some)
    }

    /// Issues `n` ids.
    pub fn take(&self, n: usize) -> Result<Vec<i64>> {
        self.ids.take(n)
    }

    /// As [`FakeTag::take`].
    pub fn take_within(&self, n: usize, _timeout_ms: i64) -> Result<Vec<i64>> {
        self.take(n)
    }

    /// Fills the slice with ids.
    pub fn fill(&self, out: &mut [i64]) -> Result<()> {
        self.ids.fill(out)
    }

    /// [`FakeTag::next`] as a future, which issues the id when it is polled.
    pub fn next_async(&self) -> impl Future<Output = Result<i64>> + Send + Unpin + use<> {
        let tag = self.clone();
        Box::pin(async move { tag.next() })
    }

    /// [`FakeTag::take`] as a future.
    pub fn take_async(&self, n: usize) -> impl Future<Output = Result<Vec<i64>>> + Send + Unpin + use<> {
        let tag = self.clone();
        Box::pin(async move { tag.take(n) })
    }

    /// Returns an endless iterator of ids.
    pub fn iter(&self) -> impl Iterator<Item = Result<i64>> + '_ {
        std::iter::repeat_with(|| self.next())
    }

    /// The name of the tag.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for FakeTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FakeTag {{ {:?}, for tests, not unique }}", self.name)
    }
}

/// The blocks in Rust of the page are run as tests of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/TESTING.md")]
struct Page;
