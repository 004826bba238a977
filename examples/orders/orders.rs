//! Order intake in Rust: two threads share one generator. Writes its orders to standard output.
//!
//!     orders COUNT SEED

use leafid::Snowflake;
use std::env::args;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{panic, process, thread};

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// As many orders as go out in one write. The kernel keeps a write of at most 4096 bytes to a pipe in one piece, so a
/// process that is killed leaves no half line.
const BATCH: usize = 50;
const PRICES: [u32; 8] = [249, 499, 899, 1290, 1999, 4950, 12900, 39900];

fn main() -> Result {
    let mut args = args().skip(1);
    let count: usize = args.next().ok_or("usage: orders COUNT SEED")?.parse()?;
    let seed: u32 = args.next().ok_or("usage: orders COUNT SEED")?.parse()?;

    let flake = Snowflake::builder().worker(0..=31).name("orders").open()?;
    let one_by_one = || (0..BATCH).map(|_| flake.next()).collect();
    let in_batches = || flake.take(BATCH);
    thread::scope(|scope| {
        let first = scope.spawn(|| make_orders(count / 2, 2 * seed + 1, one_by_one));
        let second = scope.spawn(|| make_orders(count - count / 2, 2 * seed + 2, in_batches));
        first.join().unwrap_or_else(|cause| panic::resume_unwind(cause))?;
        second.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
    })?;
    Ok(flake.close()?)
}

fn make_orders(count: usize, seed: u32, ids: impl Fn() -> leafid::Result<Vec<i64>>) -> Result {
    let mut random = Random(seed);
    let mut lines = String::new();
    for done in (0..count).step_by(BATCH) {
        lines.clear();
        for id in ids()?.into_iter().take(count - done) {
            let customer = 1 + random.below(200) * random.below(200);
            let amount_cents = PRICES[random.below(8) as usize] * (1 + random.below(4));
            let created_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
            writeln!(lines, "{}\t{id}\tC-{customer:05}\t{amount_cents}\t{created_ms}", process::id())?;
        }
        stdout().write_all(lines.as_bytes())?;
    }
    Ok(())
}

/// Marsaglia's xorshift of 32 bits: the same seed gives the same orders. The seed is not 0.
struct Random(u32);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 % end
    }
}
