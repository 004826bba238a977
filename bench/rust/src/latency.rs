//! How long calls take that are made at a steady pace, and what of it came of earlier ones.

/// Buckets of a power of two: percentiles are reported within one in 64.
const PARTS: usize = 64;

/// Counts of times in nanoseconds.
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    max: u64,
}

impl Histogram {
    pub fn new() -> Histogram {
        Histogram { counts: vec![0; 64 * PARTS], count: 0, max: 0 }
    }

    fn place_of(ns: u64) -> usize {
        // Below PARTS each number has a bucket of its own.
        let shift = (63 - (ns | PARTS as u64).leading_zeros() as u64).saturating_sub(PARTS.ilog2().into());
        shift as usize * PARTS + (ns >> shift) as usize
    }

    /// The largest time of a bucket.
    fn end_of(place: usize) -> u64 {
        let shift = (place / PARTS).saturating_sub(1);
        ((place - shift * PARTS + 1) as u64).saturating_mul(1 << shift) - 1
    }

    pub fn add(&mut self, ns: u64) {
        self.counts[Self::place_of(ns)] += 1;
        self.count += 1;
        self.max = self.max.max(ns);
    }

    pub fn join(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.count += other.count;
        self.max = self.max.max(other.max);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    /// What so large a share of all times does not exceed, 0 to 1.
    pub fn percentile(&self, share: f64) -> u64 {
        let rank = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        let place = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        });
        place.map_or(0, Self::end_of).min(self.max)
    }
}

/// Calls that are due one every `interval_ns`, whether those before have ended or not.
///
/// A call's time begins when it is due. It is late when those before it lasted longer than they may, as in a queue: what
/// they were over is carried to the next ones until short calls have made up for it. So a call that stalls for 1 ms at
/// 100,000 a second makes a hundred calls late, each a little less, though none of them stalls. How late the pacing itself
/// is, which sleeps between bursts, is not counted.
pub struct Queue {
    interval_ns: u64,
    over_ns: u64,
    pub times: Histogram,
}

impl Queue {
    pub fn new(interval_ns: u64) -> Queue {
        Queue { interval_ns, over_ns: 0, times: Histogram::new() }
    }

    /// A call was made, which took this long by itself.
    pub fn made(&mut self, ns: u64) {
        let time = self.over_ns + ns;
        self.times.add(time);
        self.over_ns = time.saturating_sub(self.interval_ns);
    }

    /// Forgets all times, and not what is still to be made up for.
    pub fn begin(&mut self) {
        self.times = Histogram::new();
    }
}
