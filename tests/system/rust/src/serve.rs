//! `serve`: does what it is told on standard input, a line each, and answers with a line each:
//! `ok <microseconds> …` or `err <microseconds> <code>: <message>`.

use crate::options::Options;
use crate::process;
use crate::rounds;
use leafid::{Snowflake, SnowflakeBuilder};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::os::fd::IntoRawFd;
use std::time::{Duration, Instant};

/// Reads and answers until the input ends or `quit`.
pub fn run() -> Result<(), String> {
    let mut flakes = HashMap::new();
    let mut held = Vec::new();
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if words.first().is_some_and(|word| word == "quit") {
            break;
        }
        let begun = Instant::now();
        let answer = obey(&mut flakes, &mut held, &words);
        let micros = begun.elapsed().as_micros();
        let text = match answer {
            Ok(text) => format!("ok {micros} {text}"),
            Err(text) => format!("err {micros} {text}"),
        };
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// A descriptor that is held open, its path and what the file holds.
type Held = Vec<(i32, String, String)>;

fn obey(
    flakes: &mut HashMap<String, Snowflake>,
    held: &mut Held,
    words: &[String],
) -> Result<String, String> {
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let number = |at: usize| word(at).parse::<u64>().unwrap_or(0);
    let failed = |error: leafid::Error| error.to_string();
    if word(0) == "open" {
        let builder: SnowflakeBuilder = Options::parse(words.iter().skip(2).cloned()).builder();
        let flake = builder.open().map_err(failed)?;
        let worker = flake.worker_id().map_err(failed)?;
        flakes.insert(word(1).to_owned(), flake);
        return Ok(worker.to_string());
    }
    match word(0) {
        // An idle child, made by a fork.
        "fork" => {
            let pid = process::fork(process::Kind::parse(word(1)));
            if pid == 0 {
                loop {
                    unsafe { libc::pause() };
                }
            }
            return Ok(pid.to_string());
        }
        // An idle child, made by a fork and an exec.
        "exec" => {
            let child = std::process::Command::new("sleep").arg("60").spawn().map_err(|e| e.to_string())?;
            return Ok(child.id().to_string());
        }
        "count" => return Ok(process::count(word(1)).to_string()),
        "rounds" => {
            return rounds::open_and_close(&Options::parse(words.iter().skip(2).cloned()), number(1));
        }
        "end" => end(word(1), flakes),
        "close-descriptors" => {
            for fd in 3..1024 {
                unsafe { libc::close(fd) };
            }
            return Ok(String::new());
        }
        // Foreign files in the numbers that became free; never closed here.
        "hold-files" => {
            for n in 0..number(1) {
                let path = format!("{}-{n}", word(2));
                std::fs::write(&path, format!("foreign {n}\n")).map_err(|e| e.to_string())?;
                let file = std::fs::OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(&path)
                    .map_err(|e| e.to_string())?;
                held.push((file.into_raw_fd(), path, format!("foreign {n}\n")));
            }
            return Ok(String::new());
        }
        // Whether each is still open, still itself, and as it was.
        "check-files" => {
            for (fd, path, text) in held.iter() {
                let link =
                    std::fs::read_link(format!("/proc/self/fd/{fd}")).map_err(|e| format!("{path}: {e}"))?;
                let now = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
                if link.to_str() != Some(path) || now != *text {
                    return Err(format!("{path}: descriptor {fd} is {link:?}, holds {now:?}"));
                }
            }
            return Ok(String::new());
        }
        // No descriptor is left, and the limit is low.
        "hold-all-descriptors" => {
            let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
            unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
            while let Ok(file) = std::fs::File::open("/dev/null") {
                held.push((file.into_raw_fd(), String::new(), String::new()));
            }
            return Ok(String::new());
        }
        "free-descriptors" => {
            for (fd, _, _) in held.drain(..) {
                unsafe { libc::close(fd) };
            }
            return Ok(String::new());
        }
        _ => {}
    }
    let flake = flakes.get(word(1)).ok_or("no such generator")?;
    match word(0) {
        "next" => {
            let ids: Result<Vec<i64>, _> = (0..number(2).max(1)).map(|_| flake.next()).collect();
            Ok(ids.map_err(failed)?.iter().map(i64::to_string).collect::<Vec<_>>().join(" "))
        }
        // Ids at a low rate for so many milliseconds: how many, the slowest in microseconds, first, last, in order?
        "run" => {
            let end = Instant::now() + Duration::from_millis(number(2));
            let pause = Duration::from_micros(number(3).max(100));
            let (mut ids, mut slowest) = (Vec::new(), Duration::ZERO);
            while Instant::now() < end {
                let begun = Instant::now();
                ids.push(flake.next().map_err(failed)?);
                slowest = slowest.max(begun.elapsed());
                std::thread::sleep(pause);
            }
            let rising = ids.windows(2).all(|pair| pair[0] < pair[1]);
            let (first, last) = (ids.first().unwrap_or(&0), ids.last().unwrap_or(&0));
            Ok(format!("{} {} {first} {last} {rising}", ids.len(), slowest.as_micros()))
        }
        "stats" => {
            let stats = flake.stats().map_err(failed)?;
            Ok(format!(
                "{} {} {} {} {}",
                stats.reserved_until_ms,
                stats.lead_ms,
                stats.renewals,
                stats.renewal_failures,
                stats.last_error.unwrap_or_default()
            ))
        }
        "pace" => rounds::pace(flake, number(2)),
        "forks" => rounds::forks(flake, number(2)),
        "close" => flake.close().map(|()| String::new()).map_err(failed),
        "drop" => {
            drop(flakes.remove(word(1)));
            Ok(String::new())
        }
        // Calls next in a thread of its own, and closes meanwhile: how long both
        // took, the largest id, and what each answered.
        "close-under" => {
            let wait = Duration::from_millis(number(2));
            std::thread::scope(|scope| {
                let next = scope.spawn(|| {
                    let (begun, mut largest) = (Instant::now(), 0);
                    loop {
                        match flake.next() {
                            Ok(id) => largest = id,
                            Err(error) => return (begun.elapsed(), largest, error.to_string()),
                        }
                    }
                });
                std::thread::sleep(wait);
                let begun = Instant::now();
                let closed = flake.close().map_or_else(|error| error.to_string(), |()| "closed".into());
                let close_took = begun.elapsed();
                let (took, largest, answer) = next.join().map_err(|_| "panicked")?;
                Ok(format!("{} {} {largest} | {closed} | {answer}", close_took.as_micros(), took.as_micros()))
            })
        }
        other => Err(format!("unknown command {other:?}")),
    }
}

/// Ends the process: by `exit` or `abort`, which drop nothing, or by a panic that unwinds from where a generator is held.
fn end(how: &str, flakes: &mut HashMap<String, Snowflake>) -> ! {
    match how {
        "exit" => std::process::exit(0),
        "panic" => {
            let _held = std::mem::take(flakes);
            panic!("meant to be");
        }
        _ => std::process::abort(),
    }
}
