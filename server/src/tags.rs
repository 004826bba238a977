//! The tags that this server has used: each with a double buffer and a guard.

mod rates;
mod tag;

pub(crate) use rates::{Rate, Rates};
pub(crate) use tag::{Patience, Tag, TagStats};

use crate::store::Store;
use leafid_core::options::check_tag;
use leafid_core::{Code, Error, Fetched, Result};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

/// All tags. Tags that the store does not know are not kept, unless it knew them before.
pub(crate) struct Tags {
    store: Arc<Store>,
    most: usize,
    by_name: RwLock<HashMap<Arc<str>, Arc<Tag>>>,
}

impl Tags {
    /// `most`: the largest number of tags.
    pub(crate) fn new(store: Store, most: usize) -> Tags {
        Tags { store: Arc::new(store), most, by_name: RwLock::default() }
    }

    /// Takes ids of a tag from its buffer: `n` of them, at least one.
    ///
    /// Errors: `invalid_argument`, `unknown_tag`, `segment_unavailable`.
    pub(crate) async fn take(&self, name: &str, n: usize, patience: Patience) -> Result<Vec<i64>> {
        let tag = self.tag(name)?;
        let taken = tag.take(n, patience).await;
        self.forget_unknown(&tag, taken.as_ref().err());
        taken
    }

    /// Fetches the first range of a tag, and waits for it. A tag that is in use has one.
    pub(crate) async fn warm(&self, name: &str, limit: Duration) -> Result<()> {
        let tag = self.tag(name)?;
        let warmed = tag.warm(limit).await;
        self.forget_unknown(&tag, warmed.as_ref().err());
        warmed
    }

    /// Takes a range of a tag straight from the store, at or above `after`. Errors: as [`Tags::take`], and
    /// `segment_regressed`.
    pub(crate) async fn range(&self, name: &str, step: Option<i64>, after: i64) -> Result<Fetched> {
        let tag = self.tag(name)?;
        let fetched = tag.range(step, after).await;
        self.forget_unknown(&tag, fetched.as_ref().err());
        fetched
    }

    /// The number of tags that are held.
    pub(crate) fn len(&self) -> usize {
        self.by_name.read().len()
    }

    /// The state of each tag, by name.
    pub(crate) fn stats(&self) -> Vec<TagStats> {
        let mut stats: Vec<_> = self.by_name.read().values().map(|tag| tag.stats()).collect();
        stats.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        stats
    }

    /// Ends all tags, and gives back what of their last ranges is unused. No id is issued from then on. What cannot be
    /// given back becomes a gap.
    pub(crate) async fn give_back(&self) -> Result<()> {
        let tags: Vec<_> = self.by_name.read().values().cloned().collect();
        for tag in tags {
            if let Some((first, end)) = tag.seal() {
                self.store.give_back(tag.name(), first, end).await?;
            }
        }
        Ok(())
    }

    fn tag(&self, name: &str) -> Result<Arc<Tag>> {
        if let Some(tag) = self.by_name.read().get(name) {
            return Ok(tag.clone());
        }
        check_tag(name)?;
        let mut tags = self.by_name.write();
        let len = tags.len();
        match tags.entry(name.into()) {
            Entry::Occupied(tag) => Ok(tag.get().clone()),
            Entry::Vacant(_) if len >= self.most => {
                let message =
                    format!("this server holds {len} tags, and no more are allowed: see --max-tags");
                Err(Error::new(Code::SegmentUnavailable, message))
            }
            Entry::Vacant(place) => {
                let tag = Tag::new(place.key().clone(), self.store.clone());
                Ok(place.insert(Arc::new(tag)).clone())
            }
        }
    }

    /// A tag that was made in the store later is asked for anew. The mark of one that was used stays: its row may come
    /// back with a lower counter.
    fn forget_unknown(&self, tag: &Arc<Tag>, error: Option<&Error>) {
        if error.is_some_and(|error| error.code() == Code::UnknownTag) {
            let mut tags = self.by_name.write();
            if let Entry::Occupied(mut known) = tags.entry(tag.name().into())
                && Arc::ptr_eq(known.get(), tag)
            {
                match tag.renewed() {
                    Some(renewed) => drop(known.insert(Arc::new(renewed))),
                    None => drop(known.remove()),
                }
            }
        }
    }
}
