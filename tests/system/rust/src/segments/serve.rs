//! `serve`: as the snowflakes' one, of tags.

use super::crowd::{self, Crowd};
use super::{source, text};
use crate::options::Options;
use leafid::{Segments, Tag};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

/// Reads and answers until the input ends or `quit`.
pub fn run() -> Result<(), String> {
    let mut opened = Opened::default();
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        if words == ["quit"] {
            break;
        }
        let begun = Instant::now();
        let answer = opened.obey(&words);
        let micros = begun.elapsed().as_micros();
        let text = match answer {
            Ok(text) => format!("ok {micros} {text}"),
            Err(text) => format!("err {micros} {text}"),
        };
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[derive(Default)]
struct Opened {
    segments: HashMap<String, Segments>,
    tags: HashMap<(String, String), Tag>,
    crowd: Option<Crowd>,
}

impl Opened {
    fn obey(&mut self, words: &[&str]) -> Result<String, String> {
        let word = |at: usize| words.get(at).copied().unwrap_or("");
        let number = |at: usize| word(at).parse::<u64>().unwrap_or(0);
        let options = |at: usize| Options::parse(words.iter().skip(at).map(|&word| word.to_owned()));
        match word(0) {
            "open" => {
                let segments = source::builder(&options(2)).open().map_err(text)?;
                self.segments.insert(word(1).to_owned(), segments);
                Ok(String::new())
            }
            "close" => {
                self.tags.retain(|(handle, _), _| handle != word(1));
                match self.segments.remove(word(1)) {
                    Some(segments) => segments.close().map(|()| String::new()).map_err(text),
                    None => Err("no such segments".into()),
                }
            }
            // Opens, takes an id and closes, so many times.
            "rounds" => {
                for _ in 0..number(1) {
                    let segments = source::builder(&options(2)).open().map_err(text)?;
                    segments.tag("order").map_err(text)?.next().map_err(text)?;
                    segments.close().map_err(text)?;
                }
                Ok(format!("{} true", number(1)))
            }
            // Each server's last error, one after another.
            "servers" => {
                let stats = self.segments.get(word(1)).ok_or("no such segments")?.stats().map_err(text)?;
                let told = stats.servers.into_iter().filter_map(|server| server.last_error);
                Ok(told.collect::<Vec<_>>().join(" | "))
            }
            // So many tags, with so many calls each that wait.
            "crowd" => {
                let (tags, calls) = (number(3) as usize, number(4).max(1) as usize);
                let names = (0..tags).map(|n| format!("{}{n}", word(2))).collect::<Vec<_>>();
                let tags: Result<Vec<Tag>, String> =
                    names.iter().map(|name| self.tag(word(1), name).cloned()).collect();
                self.crowd = Some(Crowd::begin(&tags?, calls));
                Ok(crowd::now_us().to_string())
            }
            "crowd-done" => self.crowd.take().ok_or("no crowd")?.done(Duration::from_millis(number(1))),
            _ => one(self.tag(word(1), word(2))?, word(0), number(3), number(4)),
        }
    }

    fn tag(&mut self, handle: &str, name: &str) -> Result<&Tag, String> {
        let key = (handle.to_owned(), name.to_owned());
        if !self.tags.contains_key(&key) {
            let segments = self.segments.get(handle).ok_or("no such segments")?;
            self.tags.insert(key.clone(), segments.tag(name).map_err(text)?);
        }
        self.tags.get(&key).ok_or_else(|| "no such tag".into())
    }
}

/// A deed of one tag.
fn one(tag: &Tag, deed: &str, first: u64, second: u64) -> Result<String, String> {
    let list = |ids: Vec<i64>| ids.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
    match deed {
        "next" => {
            let ids: leafid::Result<Vec<i64>> = (0..first.max(1)).map(|_| tag.next()).collect();
            ids.map(list).map_err(text)
        }
        "take" => tag.take(first as usize).map(list).map_err(text),
        // As many as are at hand, at most so many.
        "try" => {
            let mut ids = Vec::new();
            while ids.len() < first.max(1) as usize {
                match tag.try_next().map_err(text)? {
                    Some(id) => ids.push(id),
                    None => break,
                }
            }
            Ok(list(ids))
        }
        // Ids at a low rate for so many milliseconds: how many, the slowest in microseconds, first, last, in order?
        "run" => {
            let end = Instant::now() + Duration::from_millis(first);
            let pause = Duration::from_micros(second.max(100));
            let (mut ids, mut slowest) = (Vec::new(), Duration::ZERO);
            while Instant::now() < end {
                let begun = Instant::now();
                ids.push(tag.next().map_err(text)?);
                slowest = slowest.max(begun.elapsed());
                std::thread::sleep(pause);
            }
            let rising = ids.windows(2).all(|pair| pair[0] < pair[1]);
            let (first, last) = (ids.first().unwrap_or(&0), ids.last().unwrap_or(&0));
            Ok(format!("{} {} {first} {last} {rising}", ids.len(), slowest.as_micros()))
        }
        "stats" => {
            let stats = tag.stats().map_err(text)?;
            let error = stats.last_error.unwrap_or_default();
            Ok(format!(
                "{} {} {} {} {} {error}",
                stats.left, stats.fetches, stats.failures, stats.waits, stats.step
            ))
        }
        other => Err(format!("unknown command {other:?}")),
    }
}
