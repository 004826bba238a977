//! Processes that issue ids of segments: sources, marks and buffers, in the order in which the host's threads use them.

use super::issued::IssuedIds;
use super::machine::{Draw, Machine, World};
use super::network::{Answer, Asked, Network};
use crate::os::env::Env;
use crate::os::simulated;
use crate::segments::high_water::tests::of_source::MarksOfSource;
use crate::segments::source::file::FileSource;
use crate::{FetchRequest, FileTag};
use leafid_core::segment::Filler;
use leafid_core::wire::Response;
use leafid_core::wire::range::RangeRequest;
use leafid_core::{DoubleBuffer, Empty, IdOrder, Result, Segment};
use serde_json::json;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

/// The name of a tag. From time to time there is a new one, with new files.
fn tag_of(number: i64) -> String {
    format!("order-{number}")
}

/// A server of ranges for all machines. It returns each range once, but it may repeat earlier responses to the same
/// state directory: as a restored server, a cache, or a fail-over without the last commits does.
pub(crate) struct Ranges {
    pub(crate) space: u32,
    pub(crate) order: IdOrder,
    /// The counters, each of which returns one residue.
    next: Vec<i64>,
    /// By machine and tag.
    given: BTreeMap<(usize, String), Vec<Segment>>,
    pub(crate) lies: bool,
    network: Network,
}

/// The source of a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A directory of its machine.
    File,
    Ranges(usize),
}

pub(crate) struct SegmentUser {
    pub(crate) machine: Arc<Machine>,
    pub(crate) asks: Asks,
    pub(crate) running: Option<Issuer>,
    pub(crate) starts_at_ms: i64,
    /// The number of the tag.
    tag: i64,
}

pub(crate) struct Issuer {
    pub(crate) world: World,
    tag: String,
    marks: MarksOfSource,
    file: Option<FileSource>,
    buffer: DoubleBuffer,
    filler: Filler,
    pending: VecDeque<Segment>,
    /// A response on its way, the mark before its request, and the time of its arrival.
    coming: Option<(i64, i64, Segment)>,
}

impl Ranges {
    pub(crate) fn new(space: u32, order: IdOrder) -> Ranges {
        let next = if order == IdOrder::Ascending { vec![1] } else { vec![1, 2] };
        Ranges { space, order, next, given: BTreeMap::new(), lies: false, network: Network::default() }
    }

    /// The result of a request of this machine's client, over the network; `None` if it failed.
    pub(crate) fn ask(
        &mut self,
        machine: usize,
        request: &FetchRequest,
        draw: &mut Draw,
        count: &mut dyn FnMut(&'static str),
    ) -> Option<Segment> {
        let nonce = draw.number().into();
        let FetchRequest { tag, step, after, .. } = request;
        let wire = RangeRequest { tag, step: *step, after: *after, ordered: false };
        let asked = Asked { from: machine, path: wire.request(nonce).path, body: Vec::new() };
        let mut network = std::mem::take(&mut self.network);
        let (mut theirs, mut met) = (Draw::new(draw.number()), Vec::new());
        let mut serve = |asked: &Asked| self.serve(asked, &mut theirs, &mut |kind| met.push(kind));
        let answer = network.carry(&asked, &mut serve, draw, count);
        met.into_iter().for_each(count);
        self.network = network;
        let (status, body) = answer?;
        let reply = Response::new("http://127.0.0.1", status, &body, "servers");
        wire.judge(&reply, nonce).into_result().ok().map(|fetched| fetched.segment)
    }

    fn serve(&mut self, asked: &Asked, draw: &mut Draw, count: &mut dyn FnMut(&'static str)) -> Answer {
        let (path, query) = asked.path.split_once('?').unwrap_or_default();
        let told = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let tag = path.rsplit('/').next().unwrap_or_default();
        let after = told("after").and_then(|after| after.parse().ok()).unwrap_or_default();
        match self.fetch((asked.from, tag.to_owned()), after, draw, count) {
            Some(segment) => {
                let (start, end) = (segment.start().to_string(), segment.end().to_string());
                let (stride, nonce) = (segment.stride(), told("nonce"));
                let answer =
                    json!({"tag": tag, "start": start, "end": end, "stride": stride, "nonce": nonce});
                (200, answer.to_string().into_bytes())
            }
            None => (503, Vec::new()),
        }
    }

    fn fetch(
        &mut self,
        whose: (usize, String),
        after: i64,
        draw: &mut Draw,
        count: &mut dyn FnMut(&'static str),
    ) -> Option<Segment> {
        if draw.one_in(20) {
            count("segment source fails");
            return None;
        }
        let before = self.given.entry(whose).or_default();
        if self.lies && !before.is_empty() && draw.one_in(4) {
            // A recent range, or a part of it.
            let lately = if draw.one_in(4) { 400 } else { 3 };
            let back = draw.below(before.len().min(lately) as i64) as usize;
            let told = before[before.len() - 1 - back];
            let from = draw.below(told.len() as i64) as u64;
            count("segment source lies or is stale");
            let last = self.next.iter_mut().find(|next| **next == told.end());
            return match (draw.below(4), last) {
                (0 | 1, _) => Some(told),
                // One id of it, and new ones above.
                (2, Some(next)) => {
                    *next += 100 * told.stride();
                    Segment::new(told.end() - told.stride(), *next, told.stride()).ok()
                }
                _ => Segment::new(told.id(from)?, told.end(), told.stride()).ok(),
            };
        }
        let counters = self.next.len() as i64;
        let counter = draw.below(counters) as usize;
        let stride = counters;
        if self.order == IdOrder::Ascending {
            // As a server that continues above `after`.
            self.next[counter] = self.next[counter].max(after);
        }
        let start = self.next[counter];
        let end = start + (1 + draw.amount(20_000)) * stride;
        self.next[counter] = end;
        let segment = Segment::new(start, end, stride).ok()?;
        before.push(segment);
        Some(segment)
    }
}

impl SegmentUser {
    pub(crate) fn new(machine: &Arc<Machine>, asks: Asks) -> SegmentUser {
        SegmentUser { machine: Arc::clone(machine), asks, running: None, starts_at_ms: 0, tag: 0 }
    }

    pub(crate) fn space(&self, all: &[Ranges]) -> u32 {
        match self.asks {
            Asks::File => 1_000 + 100_000 * self.machine.number as u32 + self.tag as u32,
            Asks::Ranges(at) => all[at].space,
        }
    }

    /// Starts a process with the unused ids of the last one. Returns whether there are any.
    pub(crate) fn start(&mut self, world: World, all: &[Ranges], tag: Option<i64>) -> Result<bool> {
        simulated::play(world.fate.number);
        self.tag = tag.unwrap_or(self.tag);
        let tag = tag_of(self.tag);
        let env: Arc<Env> = Arc::new(world.env());
        let (name, order, file) = match self.asks {
            Asks::File => {
                let tags = [(tag.clone(), FileTag { start: 1, step: 5_000 })];
                let file =
                    FileSource::open(Arc::clone(&env), Path::new("/simulated/numbers"), true, &tags, false)?;
                (file.source_name(), IdOrder::Ascending, Some(file))
            }
            Asks::Ranges(at) => (format!("ranges {at}"), all[at].order, None),
        };
        let marks = MarksOfSource::new(env, Some(Path::new("/simulated/default")), &name, order, false)?;
        let (buffer, filler) = DoubleBuffer::new();
        let pending: VecDeque<_> = marks.take_unused(&tag)?.into();
        let has_rest = !pending.is_empty();
        if !world.fate.is_dead() {
            self.running = Some(Issuer { world, tag, marks, file, buffer, filler, pending, coming: None });
        }
        Ok(has_rest)
    }

    pub(crate) fn kill(&mut self) {
        if let Some(issuer) = self.running.take() {
            issuer.world.fate.kill();
            simulated::play(issuer.world.fate.number);
            drop(issuer);
        }
    }

    /// Closes the process and stores the unused ids for the next start.
    pub(crate) fn close(&mut self, space: u32, issued: &mut IssuedIds) -> std::result::Result<(), String> {
        let Some(issuer) = self.running.take() else { return Ok(()) };
        simulated::play(issuer.world.fate.number);
        let mut rest = issuer.buffer.seal(&issuer.filler);
        rest.extend(issuer.pending.iter().copied());
        // An error loses the unused ids. Then a call in another thread, which began before:
        let _ = issuer.marks.keep_unused(&issuer.tag, &rest);
        match issuer.buffer.take_many(1) {
            Ok((run, _)) if !issuer.world.fate.is_dead() => issued.segment(space, run),
            _ => Ok(()),
        }
    }
}

impl Issuer {
    /// Takes some ids, and fetches what is needed.
    pub(crate) fn issue(
        &mut self,
        ask: &mut dyn FnMut(&FetchRequest) -> Option<Segment>,
        draw: &mut Draw,
        space: u32,
        issued: &mut IssuedIds,
        now_ms: i64,
    ) -> std::result::Result<(), String> {
        simulated::play(self.world.fate.number);
        for _ in 0..20 {
            if let Some((due_ms, after, segment)) = self.coming.take() {
                match due_ms <= now_ms {
                    true => self.take(after, segment),
                    false => self.coming = Some((due_ms, after, segment)),
                }
            }
            self.refill();
            let most = if draw.one_in(3) { 1 } else { draw.amount(4_000) as usize + 1 };
            let taken = match most {
                1 => self
                    .buffer
                    .take()
                    .map(|(id, wants)| (leafid_core::Run { first: id, stride: 1, count: 1 }, wants)),
                _ => self.buffer.take_many(most),
            };
            if self.world.fate.is_dead() {
                break;
            }
            match taken {
                Ok((run, wants)) => {
                    // With the residue of its counter, even if only one id was taken.
                    let stride = if space == 1 { 2 } else { 1 };
                    issued.segment(space, leafid_core::Run { stride, ..run })?;
                    if wants && self.pending.is_empty() {
                        self.fetch(ask, draw, now_ms);
                    }
                }
                Err(Empty::UsedUp) if self.coming.is_none() => self.fetch(ask, draw, now_ms),
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn refill(&mut self) {
        while self.buffer.has_room(&self.filler)
            && let Some(segment) = self.pending.pop_front()
        {
            let _ = self.buffer.offer(&mut self.filler, segment, 10);
        }
    }

    fn fetch(&mut self, ask: &mut dyn FnMut(&FetchRequest) -> Option<Segment>, draw: &mut Draw, now_ms: i64) {
        if self.coming.is_some() {
            return;
        }
        let Ok(after) = self.marks.after(&self.tag) else { return };
        let request = FetchRequest { tag: self.tag.clone(), step: draw.below(9_000), after };
        let answer = match &self.file {
            Some(file) => {
                let fetched = file.fetch(&request.tag, request.step, request.after, false);
                fetched.ok().map(|fetched| fetched.segment)
            }
            None => ask(&request),
        };
        let Some(segment) = answer else { return };
        match draw.one_in(6) {
            true => self.coming = Some((now_ms + draw.below(2_000), after, segment)),
            false => self.take(after, segment),
        }
    }

    /// Makes a response durable and puts it into use.
    fn take(&mut self, after: i64, segment: Segment) {
        if let Ok(accepted) = self.marks.accept(&self.tag, &[segment], after)
            && !self.world.fate.is_dead()
        {
            self.pending.extend(accepted);
        }
    }
}
