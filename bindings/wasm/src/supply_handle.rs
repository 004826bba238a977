//! A supply, as the exports of [`supply`](crate::supply) use it: its tags, the ids of these, and the calls for them.

use crate::host_call::{CallHandle, Driven, HttpTo, Told};
use crate::ids::{MOST_IDS, with_ids, write_run};
use crate::marks::{Marks, without_host};
use crate::module::{Kind, Module, Result};
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use leafid_core::call::{CallId, Clocks, FileAdvice};
use leafid_core::host::MachineEnd;
use leafid_core::options::SupplyOptions;
use leafid_core::supply::{
    Collected, MarkStore, Notice, Source, Supply, SupplySettings, TagId, Ticket, Wish, closed, would_block,
};
use leafid_core::{Code, DoubleBuffer, Empty, Run, RunLength};

/// The time of each call is kept by the host, in its line.
const WITHOUT_END: Duration = Duration::from_secs(u32::MAX as u64);

/// A supply, and what its host refers to by numbers.
pub(crate) struct SupplyHandle {
    /// That of its calls.
    pub(crate) number: u64,
    pub(crate) supply: Supply,
    options: SupplyOptions,
    marks: Arc<Marks>,
    to: Option<Arc<HttpTo>>,
    /// In the order of their numbers.
    tags: Vec<SupplyTag>,
    /// Ids that were taken, and the host did not get yet, the last ones first.
    taken: Vec<Run>,
}

pub(crate) struct SupplyTag {
    pub(crate) id: TagId,
    /// Ids are taken from it without the supply.
    ids: Arc<DoubleBuffer>,
    length: RunLength,
    /// That of its line.
    ticket: Option<Ticket>,
}

impl Kind for SupplyHandle {
    const NAME: &'static str = "segments";
}

impl Driven for SupplyHandle {
    fn number(&self) -> u64 {
        self.number
    }

    fn done(&mut self, id: CallId, end: MachineEnd, now: Clocks) {
        if let MachineEnd::Supply(end) = end {
            self.supply.done(id, end, now);
        }
    }

    fn next_notice(&mut self, now: Clocks) -> Option<Told> {
        loop {
            match self.supply.next_notice(now)? {
                Notice::Abandon(id) => return Some(Told::Abandon(id)),
                Notice::Wake(ticket) => {
                    if let Some(tag) = self.supply.tag_of(ticket) {
                        return Some(Told::Wake(tag.0 as f64));
                    }
                }
                Notice::Log(level, line) => return Some(Told::Log(level, line)),
                // It is freed instead.
                Notice::Closed(_) => {}
            }
        }
    }

    fn next_time(&self) -> Option<Duration> {
        self.supply.next_time()
    }
}

/// Errors: `closed`, also for the handle 0.
pub(crate) fn supply_of(module: &mut Module, handle: i32) -> Result<&mut SupplyHandle> {
    match module.find::<SupplyHandle>(handle) {
        Some(_) => module.get_mut(handle),
        None => Err(closed().into()),
    }
}

impl SupplyHandle {
    /// `number`: that of its calls; `to`: what its requests need.
    pub(crate) fn new(
        number: u64,
        options: SupplyOptions,
        source: Source,
        to: Option<Arc<HttpTo>>,
        seed: u64,
    ) -> SupplyHandle {
        let store = if options.persist { MarkStore::Files } else { MarkStore::Memory };
        let whose = format!("{} {}", options.name, source.name());
        let settings = SupplySettings::of(&options, source, store, FileAdvice::Store);
        SupplyHandle {
            number,
            supply: Supply::new(settings, seed),
            marks: Arc::new(Marks { whose, order: options.order, is_stored: options.persist }),
            options,
            to,
            tags: Vec::new(),
            taken: Vec::new(),
        }
    }

    /// Where its marks are.
    pub(crate) fn place(&mut self, place: &str) {
        let Marks { whose, order, is_stored } = &*self.marks;
        self.marks =
            Arc::new(Marks { whose: format!("{place} {whose}"), order: *order, is_stored: *is_stored });
    }

    /// Errors: `closed` for a number that is none of its tags.
    pub(crate) fn tag(&mut self, tag: f64) -> Result<(&mut Supply, &mut SupplyTag)> {
        let found = self.tags.binary_search_by_key(&TagId(tag as u64), |tag| tag.id);
        match found.ok().and_then(|at| self.tags.get_mut(at)) {
            Some(tag) => Ok((&mut self.supply, tag)),
            None => Err(closed().into()),
        }
    }

    pub(crate) fn open_tag(&mut self, name: &str) -> Result<TagId> {
        self.options.check_tag(name)?;
        let (id, ids) = self.supply.tag(name)?;
        if let Err(at) = self.tags.binary_search_by_key(&id, |tag| tag.id) {
            self.tags.insert(at, SupplyTag { id, ids, length: RunLength::default(), ticket: None });
        }
        Ok(id)
    }

    /// A run of ids, at most `most`; with 0 as long as the use of the tag asks for, to be issued one by one. Also whether
    /// there may be something to do. Without ids `None`: a fetch for `need` ids is asked for.
    pub(crate) fn run(
        &mut self,
        tag: f64,
        most: usize,
        need: usize,
        now: Clocks,
    ) -> Result<Option<(Run, bool)>> {
        let (supply, tag) = self.tag(tag)?;
        let taken = match most {
            0 => tag.ids.take_run(tag.length.next()),
            most => tag.ids.take_many(most.min(MOST_IDS)),
        };
        let (run, wants_fetch) = match taken {
            Ok((run, wants_fetch)) => {
                if wants_fetch {
                    supply.wants_more(tag.id, now);
                }
                (run, wants_fetch)
            }
            Err(Empty::Sealed) => return Err(closed().into()),
            Err(Empty::UsedUp) => {
                let most = if most == 0 { tag.length.next() } else { most.min(MOST_IDS) };
                match supply.run_at_hand(tag.id, most, need, now)? {
                    Some(run) => (run, true),
                    None => return Ok(None),
                }
            }
        };
        if most == 0 {
            tag.length.taken(run.count, now.boot.as_millis() as i64);
        }
        Ok(Some((run, wants_fetch)))
    }

    /// All of these ids, or none of them. Returns whether there may be something to do.
    pub(crate) fn take(&mut self, tag: f64, count: usize, now: Clocks) -> Result<bool> {
        // Its memory is used again.
        let mut runs = core::mem::take(&mut self.taken);
        runs.clear();
        let (supply, tag) = self.tag(tag)?;
        let (mut left, mut wants_fetch) = (count, false);
        while left > 0 {
            match tag.ids.take_many(left) {
                Ok((run, wants)) => {
                    left -= run.count;
                    wants_fetch |= wants;
                    runs.push(run);
                }
                Err(Empty::Sealed) => return Err(closed().into()),
                Err(Empty::UsedUp) => {
                    runs = supply.at_hand(tag.id, left, runs, now).map_err(|error| match error.code() {
                        // Every fetch ends on the thread that calls.
                        Code::WouldBlock => {
                            let name = supply.tag_stats(tag.id).map(|stats| stats.tag).unwrap_or_default();
                            would_block(&name, true)
                        }
                        _ => error,
                    })?;
                    (left, wants_fetch) = (0, true);
                }
            }
        }
        if wants_fetch {
            supply.wants_more(tag.id, now);
        }
        runs.reverse();
        self.taken = runs;
        Ok(wants_fetch)
    }

    /// The next of the taken ids, into the memory of ids; their number.
    pub(crate) fn write_taken(&mut self) -> i32 {
        let mut written = 0;
        with_ids(|ids| {
            while written < MOST_IDS
                && let Some(run) = self.taken.last_mut()
            {
                let part = run.take_first(MOST_IDS - written);
                write_run(&part, &mut ids[written..]);
                written += part.count;
                if run.count == 0 {
                    self.taken.pop();
                }
            }
        });
        written as i32
    }

    /// Whether the line of a tag may find ids in memory; else it waits, and gets none by itself: ids stay in their order.
    pub(crate) fn wait(&mut self, tag: f64, now: Clocks) -> Result<bool> {
        let (supply, tag) = self.tag(tag)?;
        let ticket = tag.ticket.unwrap_or_else(|| {
            let wish = Wish { timeout: WITHOUT_END, ..Wish::default() };
            supply.wait(tag.id, wish, now)
        });
        let collected = supply.collect(ticket);
        tag.ticket = matches!(collected, Collected::Waits).then_some(ticket);
        match collected {
            Collected::Waits => Ok(false),
            Collected::Ids(_) | Collected::Range(_) => Ok(true),
            Collected::Failed { error, .. } => Err(error.into()),
        }
    }

    /// No call of the tag waits any more.
    pub(crate) fn rest(&mut self, tag: f64, now: Clocks) -> Result<()> {
        let (supply, tag) = self.tag(tag)?;
        if let Some(ticket) = tag.ticket.take() {
            supply.cancel(ticket, now);
        }
        Ok(())
    }

    /// The next call that only the host can carry out.
    pub(crate) fn next_call(&mut self, now: Clocks) -> Option<CallHandle> {
        loop {
            let (id, call) = self.supply.next_call(now)?;
            match without_host(call, &self.marks) {
                Ok(end) => self.supply.done(id, end, now),
                Err(call) => {
                    let (to, marks) = (self.to.clone(), Some(Arc::clone(&self.marks)));
                    return Some(CallHandle { id: (self.number, id), call: call.into(), to, marks });
                }
            }
        }
    }
}
