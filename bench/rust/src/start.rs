//! The first id: from the options to it, on a state file that is made and on one that is there, beside a durable write.

use crate::harness::measured;
use leafid::Snowflake;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Instant;

const ROUNDS: usize = 21;

pub fn measure() {
    let directory = PathBuf::from(std::env::var_os("BENCH_STATE").expect("BENCH_STATE names a directory"));
    let file = File::create(directory.join("durable")).expect("a file");
    let write = || file.write_all_at(&[1; 4096], 0).and_then(|()| file.sync_data()).expect("a write");
    write();
    let [mut made, mut found, mut floor] = [const { Vec::new() }; 3];
    for round in 0..ROUNDS {
        let name = format!("bench-start-{}-{round}", std::process::id());
        let first = || {
            let flake = Snowflake::builder().worker(1u32).name(&name).state_dir(&directory);
            let flake = flake.open().expect("open");
            flake.next().expect("an id");
            flake
        };
        floor.push(ms(write));
        made.push(ms(first));
        found.push(ms(first));
    }
    let floor = median(floor);
    measured("first_id_new", median(made), floor);
    measured("first_id", median(found), floor);
}

/// What is made is dropped after it was measured.
fn ms<T>(action: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    let made = action();
    let took = begun.elapsed();
    drop(made);
    took.as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
