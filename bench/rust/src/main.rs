//! ns per id of Rust id generators, one JSON line per measured subject. Arguments say what to measure: `ours`, `call`,
//! `two`, `loop`, `fill`, `public_ids`, `tags`, `footprint`, `scale`, `threads`, `start`, `tail`, and with the feature
//! `peers` also `peers`.

mod footprint;
mod goals;
mod harness;
mod latency;
mod line;
mod open;
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod scale;
mod start;
mod tags;
mod tail;
mod threads;
mod together;

fn main() {
    for part in std::env::args().skip(1) {
        match part.as_str() {
            "ours" => ours::measure(),
            "call" => goals::call(),
            "two" => goals::two(),
            "loop" => goals::plain_loop(),
            "fill" => goals::fill(),
            "public_ids" => goals::public_ids(),
            "tags" => tags::measure(),
            "footprint" => footprint::measure(),
            "scale" => scale::measure(),
            "threads" => threads::measure(),
            "start" => start::measure(),
            "tail" => tail::measure(),
            #[cfg(feature = "peers")]
            "peers" => peers::measure(),
            other => panic!("nothing is called {other}"),
        }
    }
}
