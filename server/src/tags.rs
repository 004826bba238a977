//! The tags that this server has used. The core's [`leafid_core::supply`] decides what is fetched when, and who gets it.

mod outage;
mod rates;
mod tag_driver;
mod tag_stats;
mod unseen;

pub(crate) use outage::Outage;
pub(crate) use rates::{Rate, Rates};
pub(crate) use tag_stats::TagStats;

use crate::ids::Ids;
use crate::options::Options;
use crate::store::Store;
use leafid_core::call::Clocks;
use leafid_core::options::check_row_tag;
use leafid_core::supply::{Collected, Supply, TagId, Ticket, Wish};
use leafid_core::{Code, DoubleBuffer, Error, Fetched, Result, Run};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;
use tag_driver::{TagDriver, unknown};
use unseen::UnseenNames;

/// How long a caller waits for an id.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// For the first segment of the tag.
    pub(crate) first: Duration,
    /// For a later one.
    pub(crate) later: Duration,
    /// Whether 0 is an id. Clients of Leaf's API take it for a mode that is switched off.
    pub(crate) issues_zero: bool,
}

/// All tags.
pub(crate) struct Tags {
    store: Store,
    driver: Arc<TagDriver>,
    /// The largest number of tags.
    most: usize,
    /// How long a range may take.
    limit: Duration,
    /// Those whose row was seen.
    held: RwLock<HashMap<Arc<str>, Arc<DoubleBuffer>>>,
    unseen: UnseenNames,
    outage: Arc<Outage>,
}

impl Patience {
    /// The ids of a run that are given.
    fn given(self, run: Run) -> Run {
        match run.first {
            0 if !self.issues_zero && run.count > 0 => Run { first: run.stride, count: run.count - 1, ..run },
            _ => run,
        }
    }

    fn timeout(self, supply: &Supply, tag: TagId) -> Duration {
        let is_later = || supply.tag_stats(tag).is_some_and(|stats| stats.fetches > 0);
        if self.first != self.later && is_later() { self.later } else { self.first }
    }
}

impl Tags {
    pub(crate) fn new(store: Store, options: &Options) -> Tags {
        let (outage, most) = (Arc::<Outage>::default(), options.max_tags as usize);
        Tags {
            driver: TagDriver::new(store.clone(), options, outage.clone()),
            store,
            most,
            limit: options.limit(),
            held: RwLock::default(),
            unseen: UnseenNames::new(most),
            outage,
        }
    }

    /// What is known of the store.
    pub(crate) fn outage(&self) -> &Outage {
        &self.outage
    }

    /// Takes ids of a tag from its buffer: `n` of them, at least one.
    ///
    /// Errors: `invalid_argument`, `unknown_tag`, `segment_unavailable`.
    pub(crate) async fn take(&self, name: &str, n: usize, patience: Patience) -> Result<Ids> {
        let (mut runs, mut left) = (Vec::new(), n);
        let known = self.held.read().get(name).cloned();
        match known {
            // Nothing of it can be at hand.
            None => self.outage.check()?,
            Some(buffer) => {
                while left > 0
                    && let Ok((run, wants_more)) = buffer.take_many(left)
                {
                    if wants_more {
                        self.driver.wants_more(name);
                    }
                    let run = patience.given(run);
                    if run.count == n {
                        return Ok([run].into_iter().collect());
                    }
                    left -= run.count;
                    runs.push(run);
                }
            }
        }
        // Few come here, and what the others keep while they are answered stays small.
        Box::pin(self.waits(name, n, runs, patience)).await
    }

    /// The same after these runs were at hand.
    async fn waits(&self, name: &str, n: usize, mut runs: Vec<Run>, patience: Patience) -> Result<Ids> {
        let mut left = n - runs.iter().map(|run| run.count).sum::<usize>();
        while left > 0 {
            let (had, away) = (take(&mut runs), self.outage.check().err());
            let collected = self.served(name, |supply, tag, clocks| {
                // What is at hand behind the buffer is given without a wait.
                let timeout = away.as_ref().map_or_else(|| patience.timeout(supply, tag), |_| Duration::ZERO);
                supply.wait(tag, Wish { count: left, had, timeout, blocks_at_most: None }, clocks)
            });
            match collected.await {
                Ok(Collected::Ids(came)) => runs.extend(came.into_iter().map(|run| patience.given(run))),
                Err(error) if error.code() == Code::SegmentUnavailable => return Err(away.unwrap_or(error)),
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            left = n - runs.iter().map(|run| run.count).sum::<usize>();
        }
        Ok(runs.into_iter().collect())
    }

    /// Fetches the first range of a tag, unless it has ids, and waits for it. Errors: as [`Tags::take`].
    pub(crate) async fn warm(&self, name: &str) -> Result<()> {
        let wish = Wish { timeout: self.limit, ..Wish::default() };
        self.served(name, |supply, tag, clocks| supply.wait(tag, wish, clocks)).await.map(drop)
    }

    /// Takes a range of a tag straight from the store, at or above `after`. Errors: as [`Tags::take`], and
    /// `segment_regressed`.
    pub(crate) async fn range(&self, name: &str, step: Option<i64>, after: i64) -> Result<Fetched> {
        let (step, limit) = (step.unwrap_or(0), self.limit);
        let collected =
            self.served(name, |supply, tag, clocks| supply.take_range(tag, step, after, limit, clocks));
        match collected.await? {
            Collected::Range(fetched) => Ok(fetched),
            _ => Err(Error::new(Code::Internal, "a range came as ids; report this")),
        }
    }

    /// The number of tags that are held.
    pub(crate) fn len(&self) -> usize {
        self.held.read().len()
    }

    /// The state of each tag, by name.
    pub(crate) fn stats(&self) -> Vec<TagStats> {
        let names: Vec<Arc<str>> = self.held.read().keys().cloned().collect();
        let mut stats = self.driver.stats(&names);
        stats.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        stats
    }

    /// Ends all tags, and gives back what of their last ranges is unused, if this server does. No id is issued from then
    /// on. What cannot be given back becomes a gap.
    pub(crate) async fn close(&self) -> Result<()> {
        self.driver.close().await
    }

    /// What a caller of a tag gets. The tag is held from then on.
    async fn served(
        &self,
        name: &str,
        begins: impl FnOnce(&mut Supply, TagId, Clocks) -> Ticket,
    ) -> Result<Collected> {
        self.check_room(name)?;
        if !self.held.read().contains_key(name) {
            self.check_unseen(name).await?;
        }
        let (buffer, collected) = self.driver.served(name, begins).await?;
        let is_new = !self.held.read().contains_key(name);
        // With the machine's own copy of the name.
        if is_new && let Some(stats) = self.driver.stats(&[name]).pop() {
            let mut held = self.held.write();
            // Others may have come first.
            if held.len() < self.most {
                held.entry(stats.name).or_insert(buffer);
            }
        }
        Ok(collected)
    }

    /// Errors: `unknown_tag`; the store does not answer.
    async fn check_unseen(&self, name: &str) -> Result<()> {
        let store = self.store.clone();
        let read = move |after: String, most| {
            let store = store.clone();
            async move { store.tag_names(&after, most).await }
        };
        match self.unseen.may_exist(name, read).await? {
            true => Ok(()),
            false => Err(unknown(name)),
        }
    }

    fn check_room(&self, name: &str) -> Result<()> {
        check_row_tag(name)?;
        let held = self.held.read();
        if held.len() >= self.most && !held.contains_key(name) {
            let message =
                format!("this server holds {} tags, and no more are allowed: see --max-tags", held.len());
            return Err(Error::new(Code::SegmentUnavailable, message));
        }
        Ok(())
    }
}
