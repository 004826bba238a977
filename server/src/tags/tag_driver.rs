//! The core's machine behind its lock, its callers, and the store that carries out its calls.
//!
//! Each event takes the lock, tells the machine, and reads what it has to say: which calls begin, who is woken, and when
//! to look again. All of that is done without the lock.

use super::outage::Outage;
use super::tag_stats::TagStats;
use crate::caught::caught;
use crate::clock::{running, seed, unix_ms};
use crate::dots::Dots;
use crate::options::Options;
use crate::store::Store;
use crate::traces::carried;
use leafid_core::call::{CallId, Clocks, FileAdvice, Level, panicked};
use leafid_core::supply::{
    Call, CallEnd, Collected, FetchCall, MarkStore, Notice, Prewarm, Source, Supply, SupplySettings, TagId,
    Ticket,
};
use leafid_core::{Code, DoubleBuffer, Error, Fetched, IdOrder, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// When more than this percentage of a segment is used, the next one is fetched: Leaf's rule.
const PREFETCH: u32 = 10;
/// The tags of one hold of the lock.
const STATS: usize = 64;

/// The supply of all tags.
pub(super) struct TagDriver {
    store: Store,
    dots: Dots,
    outage: Arc<Outage>,
    runtime: Handle,
    state: Mutex<Driven>,
}

/// What the lock protects.
struct Driven {
    supply: Supply,
    callers: HashMap<Ticket, oneshot::Sender<()>>,
    /// When the machine is looked at if nothing happens until then.
    looks_at: Option<Duration>,
    closed: Option<oneshot::Sender<Result<()>>>,
}

/// What is done without the lock.
#[derive(Default)]
struct Told {
    calls: Vec<(CallId, Call)>,
    wakes: Vec<oneshot::Sender<()>>,
    lines: Vec<(Level, String)>,
    looks_at: Option<Duration>,
}

/// A caller of a tag, until it has gone.
struct Caller<'d> {
    driver: &'d Arc<TagDriver>,
    tag: TagId,
    ticket: Ticket,
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.driver.drive(|state, clocks| {
            state.callers.remove(&self.ticket);
            // Without effect on one that was collected, and on a tag that had ids.
            state.supply.cancel(self.ticket, clocks);
            state.supply.forget(self.tag);
        });
    }
}

impl Driven {
    /// Reads what the machine has to say.
    fn told(&mut self, clocks: Clocks) -> Told {
        let mut told = Told::default();
        loop {
            while let Some(call) = self.supply.next_call(clocks) {
                told.calls.push(call);
            }
            while let Some(notice) = self.supply.next_notice(clocks) {
                match notice {
                    Notice::Wake(ticket) => told.wakes.extend(self.callers.remove(&ticket)),
                    // The store goes on, and its end has no effect.
                    Notice::Abandon(_) => {}
                    Notice::Log(level, line) => told.lines.push((level, line)),
                    Notice::Closed(ended) => {
                        self.closed.take().into_iter().for_each(|closed| _ = closed.send(ended.clone()));
                    }
                }
            }
            if !self.supply.has_calls(clocks) {
                break;
            }
        }
        told.looks_at = self.supply.next_time().filter(|at| self.looks_at.is_none_or(|before| *at < before));
        self.looks_at = told.looks_at.or(self.looks_at);
        told
    }
}

impl TagDriver {
    pub(super) fn new(store: Store, options: &Options, outage: Arc<Outage>) -> Arc<TagDriver> {
        let gives_back = options.give_back.then(|| options.stop_timeout());
        let settings = SupplySettings {
            source: Source::Callback { is_deferred: false },
            source_name: store.name().to_owned(),
            order: IdOrder::Ascending,
            step: None,
            adaptive: true,
            prefetch: PREFETCH,
            marks: MarkStore::Held { gives_back },
            advice: FileAdvice::StateDir,
            keep_unused: false,
            machine_start: None,
            prewarm: Prewarm::None,
        };
        let supply = Supply::new(settings, seed());
        let state = Driven { supply, callers: HashMap::new(), looks_at: None, closed: None };
        let (dots, runtime) = (Dots::of(options), Handle::current());
        Arc::new(TagDriver { store, dots, outage, runtime, state: Mutex::new(state) })
    }

    /// A taker got the id that requests the next fetch.
    pub(super) fn wants_more(self: &Arc<Self>, name: &str) {
        self.tell(|supply, clocks| {
            // Closed, it wants nothing.
            supply.tag(name).into_iter().for_each(|(tag, _)| supply.wants_more(tag, clocks));
        });
    }

    /// Tells the machine.
    fn tell<R>(self: &Arc<Self>, event: impl FnOnce(&mut Supply, Clocks) -> R) -> R {
        self.drive(|state, clocks| event(&mut state.supply, clocks))
    }

    /// What a caller of a tag gets, which `begins` to wait.
    pub(super) async fn served(
        self: &Arc<Self>,
        name: &str,
        begins: impl FnOnce(&mut Supply, TagId, Clocks) -> Ticket,
    ) -> Result<(Arc<DoubleBuffer>, Collected)> {
        let (caller, buffer) = self.tell(|supply, clocks| {
            let (tag, buffer) = supply.tag(name)?;
            let ticket = begins(supply, tag, clocks);
            Ok((Caller { driver: self, tag, ticket }, buffer))
        })?;
        loop {
            let (wake, woken) = oneshot::channel();
            let collected = self.drive(|state, _| {
                let collected = state.supply.collect(caller.ticket);
                if collected == Collected::Waits {
                    state.callers.insert(caller.ticket, wake);
                }
                collected
            });
            match collected {
                Collected::Waits => _ = woken.await,
                Collected::Failed { error, .. } => return Err(error),
                collected => return Ok((buffer, collected)),
            }
        }
    }

    /// The states of these tags, which are held.
    pub(super) fn stats(&self, names: &[impl AsRef<str>]) -> Vec<TagStats> {
        let mut stats = Vec::with_capacity(names.len());
        for some in names.chunks(STATS) {
            let supply = &mut self.state.lock().supply;
            let mut of = |name: &str| supply.tag(name).ok().and_then(|(tag, _)| supply.tag_stats(tag));
            stats.extend(some.iter().filter_map(|name| of(name.as_ref())).map(TagStats::from));
        }
        stats
    }

    /// Ends all tags. Errors: why unused ids are not given back.
    pub(super) async fn close(self: &Arc<Self>) -> Result<()> {
        let (closed, ended) = oneshot::channel();
        self.drive(|state, clocks| {
            state.closed = Some(closed);
            state.supply.close(clocks);
        });
        ended.await.unwrap_or(Ok(()))
    }

    fn drive<R>(self: &Arc<Self>, event: impl FnOnce(&mut Driven, Clocks) -> R) -> R {
        let (result, told) = {
            let mut state = self.state.lock();
            let clocks = Clocks { wall_ms: unix_ms(), boot: running() };
            let result = event(&mut state, clocks);
            (result, state.told(clocks))
        };
        for (id, call) in told.calls {
            // In a box: the memory of a task is aligned, and glibc does not use it for another task once a tag lies behind
            // it. Each new tag would leave a gap as large as this call.
            self.runtime.spawn(carried(Box::pin(Arc::clone(self).carry_out(id, call))));
        }
        told.wakes.into_iter().for_each(|wake| _ = wake.send(()));
        for (level, line) in told.lines {
            match level {
                Level::Info => log::info!("{line}"),
                Level::Warn => log::warn!("{line}"),
            }
        }
        if let Some(at) = told.looks_at {
            self.runtime.spawn(Arc::clone(self).look(at));
        }
        result
    }

    async fn look(self: Arc<Self>, at: Duration) {
        sleep(at.saturating_sub(running())).await;
        self.drive(|state, _| state.looks_at.take_if(|set| *set == at));
    }

    /// It ends also if it panics, because callers wait for it.
    async fn carry_out(self: Arc<Self>, id: CallId, call: Call) {
        let spare = call.clone();
        let end = caught(self.carried_out(call)).await.unwrap_or_else(|| spare.refused(panicked()));
        self.tell(|supply, clocks| supply.done(id, end, clocks));
    }

    async fn carried_out(&self, call: Call) -> CallEnd {
        match call {
            Call::Fetch(fetch) => {
                let fetched = self.fetch(&fetch).await;
                fetch.end(fetched).into()
            }
            Call::GiveBack(back) => {
                let (first, end) = (back.ids.start(), back.ids.end());
                let given = Box::pin(self.store.give_back(&back.tag, first, end)).await;
                back.end(given).into()
            }
            call => call.refused(Error::new(Code::Internal, "a call of another source; report this")),
        }
    }

    async fn fetch(&self, fetch: &FetchCall) -> Result<Option<Fetched>> {
        let tag = &*fetch.tag;
        if fetch.ticket.is_none() && !self.outage.is_over() {
            Box::pin(self.outage.ended()).await;
        }
        if self.dots.may_refuse(tag) {
            Box::pin(self.dots.check(&self.store, tag)).await?;
        }
        let fetched = self.store.take_range(tag, (fetch.step > 0).then_some(fetch.step), fetch.after).await?;
        self.outage.answered();
        if fetched.is_none() {
            return Err(unknown(tag));
        }
        Ok(fetched)
    }
}

pub(super) fn unknown(tag: &str) -> Error {
    Error::new(Code::UnknownTag, format!("the store has no tag {tag:?}; POST /api/tag makes it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F: Future>(_: fn(Arc<TagDriver>, CallId, Call) -> F) -> usize {
        size_of::<F>()
    }

    /// It lies between the tags on the heap while it runs.
    #[test]
    fn a_fetch_is_small() {
        let bytes = size_of_future(TagDriver::carry_out);
        assert!(bytes <= 2048, "{bytes} bytes");
    }
}
