//! `stream`: opens, tells the runner how long that took, and writes ids to standard output until it is killed.
//!
//! Ids are 8 bytes each in the machine's order, written at most 512 at a time: less than a pipe tears apart, so that
//! what the reader holds after a kill is what was issued, but for the ids of one unwritten batch, which nobody saw.

use crate::options::Options;
use crate::process::kept_waiting;
use leafid::Snowflake;
use std::time::{Duration, Instant};

const BATCH: usize = 512;

/// Arguments: those of a generator, `count` ids of each thread (0: without end), `threads`, `method` (next, take,
/// fill), `then` (wait, close, exit).
pub fn run(options: &Options) -> Result<(), String> {
    let begun = Instant::now();
    let waited = kept_waiting();
    let flake = options.open()?;
    let opened = begun.elapsed();
    let first = flake.next().map_err(|error| error.to_string())?;
    let took = begun.elapsed();
    let waited = kept_waiting() - waited;
    put(&[first])?;
    let worker = flake.worker_id().map_err(|error| error.to_string())?;
    eprintln!(
        "ready {} {worker} {} {} {}",
        std::process::id(),
        opened.as_micros(),
        took.as_micros(),
        waited.as_micros()
    );
    let count = options.number("count", 0) as usize;
    let threads = options.number("threads", 1);
    let method = options.text("method").unwrap_or("next");
    let done: Result<Vec<()>, String> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| issue(&flake, method, count))).collect();
        let mine = issue(&flake, method, count);
        others
            .into_iter()
            .map(|other| other.join().map_err(|_| "a thread panicked".to_owned())?)
            .chain([mine])
            .collect()
    });
    done?;
    match options.text("then").unwrap_or("wait") {
        "close" => flake.close().map_err(|error| error.to_string()),
        "exit" => Ok(()),
        _ => loop {
            std::thread::sleep(Duration::from_secs(60));
        },
    }
}

fn issue(flake: &Snowflake, method: &str, count: usize) -> Result<(), String> {
    let mut ids = [0; BATCH];
    let mut left = if count == 0 { usize::MAX } else { count };
    while left > 0 {
        let batch = &mut ids[..left.min(BATCH)];
        match method {
            "fill" => flake.fill(batch).map_err(|error| error.to_string())?,
            "take" => batch.copy_from_slice(&flake.take(batch.len()).map_err(|error| error.to_string())?),
            _ => {
                for id in batch.iter_mut() {
                    *id = flake.next().map_err(|error| error.to_string())?;
                }
            }
        }
        left -= batch.len();
        put(batch)?;
    }
    Ok(())
}

pub(crate) fn put(ids: &[i64]) -> Result<(), String> {
    let bytes = unsafe { std::slice::from_raw_parts(ids.as_ptr().cast::<u8>(), size_of_val(ids)) };
    match unsafe { libc::write(1, bytes.as_ptr().cast(), bytes.len()) } {
        written if written == bytes.len() as isize => Ok(()),
        _ => Err(format!("write: {}", std::io::Error::last_os_error())),
    }
}
