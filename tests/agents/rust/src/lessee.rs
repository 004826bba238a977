//! `lessee`: a holder of a leased worker id, which makes ids until its input ends, whatever befalls the lease.
//!
//! Its ids stand in a file, and what happened in another one, a line each: `<monotonic ms> <what> …`. The runner finds
//! them there however it ended. Opening is tried until it succeeds, and ids continue after errors, without help.

use crate::options::Options;
use leafid::Snowflake;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

/// Arguments: those of a generator, `ids` and `notes` (files), `pause_us` after each take.
pub fn run(options: &Options) -> Result<(), String> {
    let over = Arc::new(AtomicBool::new(false));
    let says_over = Arc::clone(&over);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        says_over.store(true, SeqCst);
    });
    let mut lessee = Lessee { ids: file(options, "ids")?, notes: file(options, "notes")?, over };
    let Some(flake) = lessee.open(options)? else { return Ok(()) };
    lessee.issue(&flake, Duration::from_micros(options.number("pause_us", 2_000)))?;
    flake.close().map_err(|error| error.to_string())?;
    lessee.note("done", "")
}

struct Lessee {
    ids: File,
    notes: File,
    over: Arc<AtomicBool>,
}

impl Lessee {
    fn open(&mut self, options: &Options) -> Result<Option<Snowflake>, String> {
        while !self.over.load(SeqCst) {
            match options.open_raw().and_then(|flake| Ok((flake.worker_id()?, flake))) {
                Ok((worker, flake)) => {
                    self.note("in", &worker.to_string())?;
                    return Ok(Some(flake));
                }
                Err(error) => self.note("refused", &error.to_string())?,
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(None)
    }

    fn issue(&mut self, flake: &Snowflake, pause: Duration) -> Result<(), String> {
        let mut turn = 0;
        while !self.over.load(SeqCst) {
            turn += 1;
            let ids = if turn % 2 == 0 { flake.take(20) } else { flake.next().map(|id| vec![id]) };
            match ids {
                Ok(ids) => {
                    let bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_ne_bytes()).collect();
                    self.ids.write_all(&bytes).map_err(|error| error.to_string())?;
                }
                Err(error) => {
                    self.note("error", &error.to_string())?;
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            std::thread::sleep(pause);
        }
        Ok(())
    }

    fn note(&mut self, what: &str, text: &str) -> Result<(), String> {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let ms = now.tv_sec * 1_000 + now.tv_nsec / 1_000_000;
        let line = format!("{ms} {what} {}\n", text.replace('\n', " "));
        self.notes.write_all(line.as_bytes()).map_err(|error| error.to_string())
    }
}

fn file(options: &Options, key: &str) -> Result<File, String> {
    let path = options.text(key).ok_or_else(|| format!("{key} is not given"))?;
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| format!("{path}: {error}"))
}
