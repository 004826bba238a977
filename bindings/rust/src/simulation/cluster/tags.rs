//! Forks during fetches and calls of segments. The child has a copy of the ids in memory, of the ids that were taken,
//! and of the fetches on their way. All of them belong to the parent.

use super::issued::IssuedIds;
use super::machine::{Draw, World};
use super::{DISKS, Simulation};
use crate::os::mutex::lock;
use crate::os::simulated::{self, Action};
use crate::segments::{Completion, PendingTake, ReservedRun};
use crate::simulation::opened::Opened;
use crate::{FetchRequest, SegmentSource, Segments};
use leafid_core::{Run, Segment};
use std::sync::{Arc, Mutex};

/// Ids of one counter. This number identifies it.
pub(crate) const SPACE: u32 = 2;

/// The counter that these processes ask, and the open requests.
pub(crate) struct Counter {
    next: i64,
    asked: Vec<(FetchRequest, Completion)>,
}

impl Counter {
    pub(crate) fn new() -> Arc<Mutex<Counter>> {
        Arc::new(Mutex::new(Counter { next: 1, asked: Vec::new() }))
    }
}

/// One of the two processes, with its state of the calls during the fork.
struct Side {
    world: World,
    opened: Opened,
    held: Option<ReservedRun>,
    pending: Option<PendingTake>,
    wanted: usize,
    asked: Vec<(FetchRequest, Completion)>,
    jobs: Vec<Action>,
}

impl Side {
    /// The state before the fork: ids of a running call, reserved ids, and a request without a response. Both sides
    /// have the same, and this thread plays the parent.
    fn middle(&mut self, counter: &Mutex<Counter>, [run, call, empties]: [usize; 3]) {
        self.held = self.opened.tag.take_run(run).ok().flatten();
        self.wanted = call;
        self.pending = self.opened.tag.pending_take(call, None).ok();
        if let Some(pending) = &mut self.pending {
            let _ = pending.poll(|| {});
        }
        (0..empties).for_each(|_| drop(self.opened.tag.try_next()));
        self.jobs = simulated::left();
        // A fetch has several calls: none of them, the first, or all until the request have ended.
        match empties {
            0 => run_all(std::mem::take(&mut self.jobs)),
            2 => std::mem::take(&mut self.jobs).into_iter().for_each(|job| job()),
            _ => {}
        }
        self.asked = std::mem::take(&mut lock(counter).asked);
        // Other actions of the process run later, as on its threads.
        self.jobs.extend(simulated::left());
    }

    /// Uses its ids, then continues.
    fn go_on(
        &mut self,
        counter: &Mutex<Counter>,
        draw: &mut Draw,
        issued: &mut IssuedIds,
    ) -> Result<(), String> {
        simulated::play(self.world.fate.number);
        for _ in 0..4 {
            match self.opened.tag.next_in_memory() {
                Some(id) => one(issued, id)?,
                None => break,
            }
        }
        if let Some(held) = self.held.take().filter(ReservedRun::is_ours) {
            issued.segment(SPACE, held.run)?;
        }
        for round in 0..4 {
            if let Some(pending) = &mut self.pending {
                let mut ids = vec![0; self.wanted];
                if pending.poll(|| {}).unwrap_or(false) && pending.write(&mut ids) {
                    ids.into_iter().try_for_each(|id| one(issued, id))?;
                    self.pending = None;
                }
            }
            for _ in 0..draw.amount(200) {
                match self.opened.tag.try_next() {
                    Ok(Some(id)) => one(issued, id)?,
                    _ => break,
                }
            }
            self.jobs.extend(simulated::left());
            run_all(std::mem::take(&mut self.jobs));
            let asked = std::mem::take(&mut lock(counter).asked);
            for (request, reply) in self.asked.drain(..).chain(asked) {
                let answer = lock(counter).answer(&request, draw);
                reply.answer(Ok(answer.map(Into::into)));
            }
            if round < 3 {
                run_all(simulated::left());
            }
        }
        Ok(())
    }

    fn end(self, kept: bool) {
        simulated::play(self.world.fate.number);
        if !kept {
            self.world.fate.kill();
        }
        drop(self);
        simulated::left();
    }
}

impl Counter {
    fn answer(&mut self, request: &FetchRequest, draw: &mut Draw) -> Option<Segment> {
        let start = self.next.max(request.after);
        self.next = start + 1 + draw.amount(400);
        Segment::new(start, self.next, 1).ok()
    }
}

/// Runs actions, and those that they leave.
fn run_all(mut jobs: Vec<Action>) {
    while !jobs.is_empty() {
        jobs.into_iter().for_each(|job| job());
        jobs = simulated::left();
    }
}

fn one(issued: &mut IssuedIds, id: i64) -> Result<(), String> {
    issued.segment(SPACE, Run { first: id, stride: 1, count: 1 })
}

impl Simulation {
    /// A process with segments forks in the middle of its calls.
    pub(crate) fn fork_among_segments(&mut self) -> Result<(), String> {
        let at = self.draw.below(DISKS as i64) as usize;
        let machine = Arc::clone(&self.machines.0[at]);
        let (world, doomed) = (self.world(&machine, false), self.draw.one_in(4));
        self.processes += 1;
        let seed = self.draw.number();
        let childs = World::new(&self.machines, &machine, self.processes, seed, Some(&world));
        let counter = Arc::clone(&self.counter);
        let asked = Arc::clone(&counter);
        let source = SegmentSource::deferred(move |request, reply| lock(&asked).asked.push((request, reply)));
        let builder = Segments::builder().source(source).state_dir("/simulated").keep_unused(false);
        simulated::play(world.fate.number);
        let env = Arc::new(world.env());
        // The disk may be full.
        let Ok(opened) = Opened::new(&builder, &env) else { return Ok(()) };
        let side = |world, opened| Side {
            world,
            opened,
            held: None,
            pending: None,
            wanted: 0,
            asked: Vec::new(),
            jobs: Vec::new(),
        };
        let mut parent = side(world, opened);
        let (draw, issued) = (&mut self.draw, &mut self.issued);
        for _ in 0..draw.below(4) {
            parent.go_on(&counter, draw, issued)?;
        }
        let Ok(copy) = parent.opened.copy(&env) else {
            parent.end(false);
            return Ok(());
        };
        let mut child = side(childs, copy);
        let middle = [1 + draw.amount(40) as usize, 1 + draw.amount(300) as usize, draw.below(4) as usize];
        child.middle(&counter, middle);
        // The threads for it belong to the parent.
        child.jobs.clear();
        parent.middle(&counter, middle);
        simulated::play(child.world.fate.number);
        let begun = child.opened.begin(&Arc::new(child.world.env()));
        self.count("forked among segments");
        let (draw, issued) = (&mut self.draw, &mut self.issued);
        let child_first = draw.one_in(2);
        if begun.is_ok() && child_first {
            child.go_on(&counter, draw, issued)?;
        }
        parent.go_on(&counter, draw, issued)?;
        if begun.is_ok() && !child_first {
            child.go_on(&counter, draw, issued)?;
        }
        child.end(!doomed);
        parent.end(!doomed);
        Ok(())
    }
}
