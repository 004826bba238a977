//! `stream`: ids of one tag, written to standard output until it is killed, as the snowflakes' one does.

use super::{source, text};
use crate::options::Options;
use crate::stream::put;
use std::time::{Duration, Instant};

const BATCH: usize = 512;

/// Arguments: those of segments, `tag`, `method` (next, take, fill), `pause_us` after each batch, `count` ids (0: without
/// end), `batch` ids at a time, `then` (wait, close).
pub fn run(options: &Options) -> Result<(), String> {
    let begun = Instant::now();
    let segments = source::builder(options).open().map_err(text)?;
    let opened = begun.elapsed();
    let tag = segments.tag(options.text("tag").unwrap_or("order")).map_err(text)?;
    put(&[tag.next().map_err(text)?])?;
    let took = begun.elapsed();
    eprintln!("ready {} 0 {} {} 0", std::process::id(), opened.as_micros(), took.as_micros());
    let pause = Duration::from_micros(options.number("pause_us", 0));
    let batch = (options.number("batch", BATCH as u64) as usize).min(BATCH);
    let mut ids = [0; BATCH];
    let mut left = match options.number("count", 0) {
        0 => usize::MAX,
        count => count as usize,
    };
    while left > 0 {
        let ids = &mut ids[..batch.min(left)];
        match options.text("method").unwrap_or("next") {
            "fill" => tag.fill(ids).map_err(text)?,
            "take" => ids.copy_from_slice(&tag.take(ids.len()).map_err(text)?),
            _ => {
                for id in ids.iter_mut() {
                    *id = tag.next().map_err(text)?;
                }
            }
        }
        left -= ids.len();
        put(ids)?;
        std::thread::sleep(pause);
    }
    match options.text("then").unwrap_or("wait") {
        "close" => segments.close().map_err(text),
        _ => loop {
            std::thread::sleep(Duration::from_secs(60));
        },
    }
}
