//! Every issued id: a bitmap for each worker and tick, and sorted runs for segments.

use leafid_core::{Layout, Run};
use std::collections::{BTreeMap, HashMap};

const PAGE_TICKS: u64 = 256;

/// The sequence numbers of some ticks of one worker. Those of a tick are nearly always one run, so a run replaces the
/// bitmap. Other ticks have a bitmap.
struct Page {
    runs: [(u16, u16); PAGE_TICKS as usize],
    bitmaps: BTreeMap<u64, Box<[u64; 64]>>,
}

#[derive(Default)]
pub(crate) struct IssuedIds {
    pages: HashMap<(u32, u64), Box<Page>>,
    /// For a space of segments and a residue: start and end of each run.
    runs: BTreeMap<(u32, i64), BTreeMap<i64, i64>>,
    pub(crate) snowflakes: u64,
    pub(crate) segment_ids: u64,
    /// A checksum of all ids in the order in which they were issued.
    pub(crate) digest: u64,
}

impl IssuedIds {
    /// Records the ids of one step of a generator of this worker id. Errors: what is wrong with them.
    pub(crate) fn snowflakes(&mut self, layout: &Layout, worker_id: u32, run: Run) -> Result<u64, String> {
        let last = run.first + (run.count as i64 - 1) * run.stride;
        let (Ok(first), Ok(end)) = (layout.decode(run.first), layout.decode(last)) else {
            return Err(format!("{} is no id", run.first.min(last)));
        };
        if (first.worker_id, end.worker_id) != (worker_id, worker_id)
            || first.timestamp_ms != end.timestamp_ms
        {
            return Err(format!("{} to {last} of worker {worker_id}: bits overlap", run.first));
        }
        let tick = layout.tick_at(first.timestamp_ms).ok_or("before the epoch")?;
        self.mix(run.first, run.count);
        self.snowflakes += run.count as u64;
        if !self.mark(worker_id, tick, first.sequence as u16, end.sequence as u16 + 1) {
            return Err(format!("{} to {last} were issued before, in part", run.first));
        }
        Ok(tick)
    }

    /// Returns whether all of them are new.
    fn mark(&mut self, worker_id: u32, tick: u64, start: u16, end: u16) -> bool {
        let empty = || Page { runs: [(0, 0); PAGE_TICKS as usize], bitmaps: BTreeMap::new() };
        let page = self.pages.entry((worker_id, tick / PAGE_TICKS)).or_insert_with(|| Box::new(empty()));
        let at = tick % PAGE_TICKS;
        let known = &mut page.runs[at as usize];
        if !page.bitmaps.contains_key(&at) {
            match *known {
                (from, until) if from == until => *known = (start, end),
                (from, until) if until == start => *known = (from, end),
                (from, until) => {
                    let bitmap = page.bitmaps.entry(at).or_insert_with(|| Box::new([0; 64]));
                    (from..until).for_each(|bit| bitmap[usize::from(bit / 64)] |= 1 << (bit % 64));
                }
            }
        }
        let Some(bitmap) = page.bitmaps.get_mut(&at) else { return true };
        (start..end).all(|bit| {
            let (word, bit) = (&mut bitmap[usize::from(bit / 64)], 1 << (bit % 64));
            let new = *word & bit == 0;
            *word |= bit;
            new
        })
    }

    /// Records ids of segments. `space` identifies a counter. Errors: what is wrong with them.
    pub(crate) fn segment(&mut self, space: u32, run: Run) -> Result<(), String> {
        let (from, until) = (run.first / run.stride, run.first / run.stride + run.count as i64);
        self.mix(run.first, run.count);
        self.segment_ids += run.count as u64;
        let wrong = || {
            format!("{} and {} more of counter {space} were issued before, in part", run.first, run.count - 1)
        };
        if run.first < 0 {
            return Err(format!("{} is no id", run.first));
        }
        let runs = self.runs.entry((space, run.first % run.stride)).or_default();
        let mut whole = (from, until);
        if let Some((&start, &end)) = runs.range(..until).next_back() {
            if end > from {
                return Err(wrong());
            }
            if end == from {
                whole.0 = start;
            }
        }
        if let Some(end) = runs.remove(&until) {
            whole.1 = end;
        }
        runs.insert(whole.0, whole.1);
        Ok(())
    }

    fn mix(&mut self, first: i64, count: usize) {
        for part in [first as u64, count as u64] {
            self.digest = (self.digest ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        }
    }
}

#[test]
fn an_id_is_seen_twice_wherever_it_lies() {
    let layout = Layout::LEAF;
    let run =
        |sequence: i64, count| Run { first: (5_000_000 << 22) | (7 << 12) | sequence, stride: 1, count };
    let mut issued = IssuedIds::default();
    for (sequence, count, new) in [
        (10, 5, true),
        (15, 5, true),
        (0, 10, true),
        (20, 1, true),
        (19, 1, false),
        (4_095, 1, true),
        (3, 1, false),
    ] {
        assert_eq!(issued.snowflakes(&layout, 7, run(sequence, count)).is_ok(), new, "{sequence}");
    }
    assert!(issued.snowflakes(&layout, 6, run(30, 1)).is_err(), "of another worker id");
    let run = |first, count| Run { first, stride: 2, count };
    for (first, count, new) in [
        (11, 5, true),
        (21, 5, true),
        (1, 5, true),
        (9, 1, false),
        (10, 1, true),
        (29, 2, false),
        (31, 9, true),
    ] {
        assert_eq!(issued.segment(0, run(first, count)).is_ok(), new, "{first}");
    }
}
