//! Order intake in Rust: two threads share one generator. Each order has an id, and a number among those of its shop,
//! from segments of NUMBERS, which is `file:DIR` or the URLs of a Leaf with commas between. Writes its orders to standard
//! output.
//!
//!     orders COUNT SEED NUMBERS SHOP...

use leafid::{Segments, Snowflake, Tag};
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
const USAGE: &str = "usage: orders COUNT SEED NUMBERS SHOP...";

fn main() -> Result {
    let mut args = args().skip(1);
    let count: usize = args.next().ok_or(USAGE)?.parse()?;
    let seed: u32 = args.next().ok_or(USAGE)?.parse()?;
    let numbers = args.next().ok_or(USAGE)?;

    let flake = Snowflake::builder().worker(0..=31).name("orders").timeout_ms(60_000).open()?;
    let directory = numbers.starts_with("file:").then_some(numbers.as_str());
    let servers = directory.map_or_else(|| numbers.split(',').collect(), |directory| vec![directory]);
    // A step that does not grow with the use keeps the gaps small that a killed process leaves.
    let segments =
        Segments::builder().servers(servers).name("orders").adaptive(false).timeout_ms(60_000).open()?;
    let shops: Vec<Tag> = args.map(|shop| segments.tag(&shop)).collect::<leafid::Result<_>>()?;

    let one_by_one = |shop: &Tag, n| (0..n).map(|_| Ok((flake.next()?, shop.next()?))).collect();
    let in_batches = |shop: &Tag, n| Ok(flake.take(n)?.into_iter().zip(shop.take(n)?).collect());
    thread::scope(|scope| {
        let first = scope.spawn(|| make_orders(count / 2, 2 * seed + 1, &shops, one_by_one));
        let second = scope.spawn(|| make_orders(count - count / 2, 2 * seed + 2, &shops, in_batches));
        first.join().unwrap_or_else(|cause| panic::resume_unwind(cause))?;
        second.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
    })?;
    segments.close()?;
    Ok(flake.close()?)
}

/// Makes orders, of which `ids` gives the ids and the numbers of a shop.
fn make_orders(
    count: usize,
    seed: u32,
    shops: &[Tag],
    ids: impl Fn(&Tag, usize) -> leafid::Result<Vec<(i64, i64)>>,
) -> Result {
    let mut random = Random(seed);
    let mut lines = String::new();
    for done in (0..count).step_by(BATCH) {
        let shop = &shops[random.below(shops.len() as u32) as usize];
        lines.clear();
        for (id, number) in ids(shop, BATCH.min(count - done))? {
            let customer = 1 + random.below(200) * random.below(200);
            let amount_cents = PRICES[random.below(8) as usize] * (1 + random.below(4));
            let created_ms = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
            let (process, shop) = (process::id(), shop.name());
            writeln!(
                lines,
                "{process}\t{id}\t{shop}\t{number}\tC-{customer:05}\t{amount_cents}\t{created_ms}"
            )?;
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
