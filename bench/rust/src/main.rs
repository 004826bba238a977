//! ns per id of Rust id generators, one JSON line per measured subject. Arguments say what to measure: `floors`, `ours`,
//! `call`, `loop`, `fill`, `footprint`, `peers`.

mod floors;
mod footprint;
mod goals;
mod harness;
mod ours;
#[cfg(feature = "peers")]
mod peers;

fn main() {
    for part in std::env::args().skip(1) {
        match part.as_str() {
            "floors" => floors::measure(),
            "ours" => ours::measure(),
            "call" => goals::call(),
            "loop" => goals::plain_loop(),
            "fill" => goals::fill(),
            "footprint" => footprint::measure(),
            #[cfg(feature = "peers")]
            "peers" => peers::measure(),
            other => panic!("nothing is called {other}"),
        }
    }
}
