//! `stream`: opens, says so, and writes ids to standard output until it is killed.
//!
//! Ids are 8 bytes each in the machine's order, written at most 512 at a time: less than a pipe tears apart, so that
//! what the reader holds after a kill is what was issued, but for the ids of one unwritten batch, which are not seen.

use crate::issuer::{Issuer, Opened, text};
use crate::options::Options;
use std::time::Duration;

const BATCH: usize = 512;

/// Arguments: those of `open`, and those of `stream` in ../../../system/subjects.py.
pub fn run(options: &Options) -> Result<(), String> {
    let handle = Opened::open(options).map_err(text)?;
    let issuer = handle.issuer(options.text("tag").unwrap_or("order")).map_err(text)?;
    let first = issuer.next().map_err(text)?;
    put(&[first])?;
    eprintln!("ready");
    let done: Result<Vec<()>, String> = std::thread::scope(|scope| {
        let others: Vec<_> =
            (1..options.number("threads", 1)).map(|_| scope.spawn(|| issue(&issuer, options))).collect();
        let mine = issue(&issuer, options);
        others
            .into_iter()
            .map(|other| other.join().map_err(|_| "a thread panicked".to_owned())?)
            .chain([mine])
            .collect()
    });
    done?;
    match options.text("then").unwrap_or("wait") {
        "close" => handle.close().map_err(text),
        "exit" => Ok(()),
        _ => loop {
            std::thread::sleep(Duration::from_secs(60));
        },
    }
}

fn issue(issuer: &Issuer, options: &Options) -> Result<(), String> {
    let method = options.text("method").unwrap_or("next");
    let pause = Duration::from_micros(options.number("pause_us", 0));
    let batch = (options.number("batch", BATCH as u64) as usize).min(BATCH);
    let mut ids = [0; BATCH];
    let mut left = match options.number("count", 0) {
        0 => usize::MAX,
        count => count as usize,
    };
    while left > 0 {
        let ids = &mut ids[..batch.min(left)];
        issuer.issue(method, ids).map_err(text)?;
        left -= ids.len();
        put(ids)?;
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
    }
    Ok(())
}

fn put(ids: &[i64]) -> Result<(), String> {
    let bytes = unsafe { std::slice::from_raw_parts(ids.as_ptr().cast::<u8>(), size_of_val(ids)) };
    match unsafe { libc::write(1, bytes.as_ptr().cast(), bytes.len()) } {
        written if written == bytes.len() as isize => Ok(()),
        _ => Err(format!("write: {}", std::io::Error::last_os_error())),
    }
}
