//! The tags that this server has used: each with a double buffer and a guard.

mod rates;
mod tag;

pub(crate) use rates::{Rate, Rates};
pub(crate) use tag::{Patience, Tag, TagStats};

use crate::dots::Dots;
use crate::store::Store;
use leafid_core::options::check_tag;
use leafid_core::{Code, Error, Fetched, Result};
use parking_lot::{Mutex, RwLock};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tag::Shared;

/// All tags.
pub(crate) struct Tags {
    shared: Arc<Shared>,
}

impl Tags {
    /// `most`: the largest number of tags.
    pub(crate) fn new(store: Store, dots: Dots, most: usize) -> Tags {
        Tags {
            shared: Arc::new(Shared { store, dots, most, held: RwLock::default(), asked: Mutex::default() }),
        }
    }

    /// Takes ids of a tag from its buffer: `n` of them, at least one.
    ///
    /// Errors: `invalid_argument`, `unknown_tag`, `segment_unavailable`.
    pub(crate) async fn take(&self, name: &str, n: usize, patience: Patience) -> Result<Vec<i64>> {
        let tag = self.tag(name)?;
        let taken = tag.take(n, patience).await;
        self.forget_refused(&tag, taken.as_ref().err());
        taken
    }

    /// Fetches the first range of a tag, and waits for it. A tag that is in use has one.
    pub(crate) async fn warm(&self, name: &str, limit: Duration) -> Result<()> {
        let tag = self.tag(name)?;
        let warmed = tag.warm(limit).await;
        self.forget_refused(&tag, warmed.as_ref().err());
        warmed
    }

    /// Takes a range of a tag straight from the store, at or above `after`. Errors: as [`Tags::take`], and
    /// `segment_regressed`.
    pub(crate) async fn range(&self, name: &str, step: Option<i64>, after: i64) -> Result<Fetched> {
        let tag = self.tag(name)?;
        let fetched = tag.range(step, after).await;
        self.forget_refused(&tag, fetched.as_ref().err().filter(|error| error.code() == Code::UnknownTag));
        fetched
    }

    /// The number of tags that are held.
    pub(crate) fn len(&self) -> usize {
        self.shared.held.read().len()
    }

    /// The state of each tag, by name.
    pub(crate) fn stats(&self) -> Vec<TagStats> {
        let mut stats: Vec<_> = self.shared.held.read().values().map(|tag| tag.stats()).collect();
        stats.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        stats
    }

    /// Ends all tags, and gives back what of their last ranges is unused. No id is issued from then on. What cannot be
    /// given back becomes a gap.
    pub(crate) async fn give_back(&self) -> Result<()> {
        let tags: Vec<_> = self.shared.held.read().values().cloned().collect();
        for tag in tags {
            if let Some((first, end)) = tag.seal() {
                self.shared.store.give_back(tag.name(), first, end).await?;
            }
        }
        Ok(())
    }

    fn tag(&self, name: &str) -> Result<Arc<Tag>> {
        if let Some(tag) = self.shared.held.read().get(name) {
            return Ok(tag.clone());
        }
        check_tag(name)?;
        let mut asked = self.shared.asked.lock();
        if let Some(tag) = asked.get(name).and_then(Weak::upgrade) {
            return Ok(tag);
        }
        let held = self.shared.held.read();
        // It may have been seen meanwhile.
        if let Some(tag) = held.get(name) {
            return Ok(tag.clone());
        }
        if held.len() >= self.shared.most {
            let message =
                format!("this server holds {} tags, and no more are allowed: see --max-tags", held.len());
            return Err(Error::new(Code::SegmentUnavailable, message));
        }
        let name: Arc<str> = name.into();
        let tag = Arc::new(Tag::new(name.clone(), self.shared.clone()));
        asked.insert(name, Arc::downgrade(&tag));
        Ok(tag)
    }

    /// A tag that was made in the store later is asked for anew. The mark of one that was used stays: its row may come
    /// back with a lower counter.
    fn forget_refused(&self, tag: &Arc<Tag>, error: Option<&Error>) {
        if !error.is_some_and(|error| matches!(error.code(), Code::UnknownTag | Code::InvalidArgument)) {
            return;
        }
        let mut asked = self.shared.asked.lock();
        if asked.get(tag.name()).is_some_and(|known| known.as_ptr() == Arc::as_ptr(tag)) {
            asked.remove(tag.name());
        }
        let replaced = self.shared.held.write().get_mut(tag.name()).and_then(|known| {
            Arc::ptr_eq(known, tag).then(|| std::mem::replace(known, Arc::new(tag.renewed())))
        });
        drop((asked, replaced));
    }
}
