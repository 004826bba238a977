//! The paths of a snowflake generator, and of layouts.

use crate::{BATCH, LOCAL_CALLS, in_batches, one_by_one, rounds};
use leafid::{ClockSource, Layout, Snowflake, parse_id};
use std::hint::black_box;
use std::path::PathBuf;

/// A tick of which no loop here comes to the end.
fn opened(name: &str, clock: ClockSource) -> Snowflake {
    let directory = std::env::var_os("BENCH_STATE").expect("BENCH_STATE names a directory for state files");
    let builder = Snowflake::builder().worker(1u32).name(name).state_dir(PathBuf::from(directory));
    let layout = Layout::parse("41|5|17").expect("a layout");
    builder.layout(layout).clock_source(clock).open().expect("open")
}

pub fn count() {
    let flake = opened("system", ClockSource::System);
    one_by_one("Snowflake.next", || {
        black_box(flake.next().expect("an id"));
    });
    let mut ids = flake.iter();
    one_by_one("Snowflake.iter", || {
        black_box(ids.next().expect("no end").expect("an id"));
    });
    let mut local = flake.local();
    rounds("Local.next", LOCAL_CALLS, || {
        black_box(local.next().expect("an id"));
    });
    let mut out = vec![0; BATCH];
    in_batches("Snowflake.fill 1000", || flake.fill(black_box(&mut out)).expect("ids"));
    in_batches("Snowflake.take 1000", || drop(black_box(flake.take(BATCH).expect("ids"))));
    let coarse = opened("coarse", ClockSource::Coarse);
    one_by_one("Snowflake.next, coarse clock", || {
        black_box(coarse.next().expect("an id"));
    });
    layouts(flake.layout(), flake.next().expect("an id"));
}

fn layouts(layout: Layout, id: i64) {
    let layout = black_box(&layout);
    let parts = layout.decode(id).expect("an id of this layout");
    one_by_one("Layout.decode", || {
        black_box(layout.decode(black_box(id)).expect("an id of this layout"));
    });
    one_by_one("Layout.compose", || {
        let parts = black_box(&parts);
        let made = layout.compose(parts.timestamp_ms, parts.worker_id, parts.sequence);
        black_box(made.expect("parts of this layout"));
    });
    // As many digits as an id has that is made today.
    one_by_one("parse_id", || {
        black_box(parse_id(black_box("1169786042799259000")).expect("an id"));
    });
}
