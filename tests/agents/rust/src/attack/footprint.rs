//! `footprint`: what ten thousand tags cost at rest.

use crate::issuer::text;
use crate::options::Options;
use crate::process::{HANGS, count, resident};
use crate::segments::builder;
use std::time::{Duration, Instant};

/// Arguments: those of segments, `count` tags.
pub fn run(options: &Options) -> Result<(), String> {
    let tags = options.number("count", 10_000) as usize;
    let (threads, descriptors) = (count("task"), count("fd"));
    let segments = builder(options).open().map_err(text)?;
    // Warm: what is made once is not counted ten thousand times.
    for n in 0..100 {
        segments.tag(&format!("warm-{n}")).map_err(text)?.next().map_err(text)?;
    }
    let before = resident();
    let begun = Instant::now();
    let held: Result<Vec<_>, String> = (0..tags)
        .map(|n| {
            let tag = segments.tag(&format!("shop-{n}")).map_err(text)?;
            tag.next().map_err(text)?;
            Ok(tag)
        })
        .collect();
    let held = held?;
    let took = begun.elapsed();
    let each = resident().saturating_sub(before) / tags;
    segments.close().map_err(text)?;
    drop(held);
    drop(segments);
    let closed = Instant::now();
    while (count("task") > threads || count("fd") > descriptors) && closed.elapsed() < HANGS {
        std::thread::sleep(Duration::from_millis(10));
    }
    println!(
        "tags={tags} each_bytes={each} took_ms={} threads_left={} descriptors_left={}",
        took.as_millis(),
        count("task") - threads,
        count("fd") - descriptors
    );
    Ok(())
}
