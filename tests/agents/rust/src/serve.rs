//! `serve`: obeys commands on standard input, a line each, and answers with a line each.

use crate::crowd::Crowd;
use crate::issuer::{Issuer, Opened, text};
use crate::options::Options;
use crate::process;
use crate::rounds;
use leafid::Tag;
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::os::fd::IntoRawFd;
use std::time::{Duration, Instant};

/// Reads and answers until the input ends or `quit`.
pub fn run() -> Result<(), String> {
    let mut serve = Serve::default();
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<&str> = line.split_whitespace().collect();
        if words == ["quit"] {
            break;
        }
        let begun = Instant::now();
        let answer = serve.obey(&words);
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
struct Serve {
    /// By handle; of segments, with the tags that were asked for.
    handles: HashMap<String, (Opened, HashMap<String, Issuer>)>,
    /// Descriptors that are held open, the paths and what the files hold.
    held: Vec<(i32, String, String)>,
    crowd: Option<Crowd>,
}

impl Serve {
    fn obey(&mut self, words: &[&str]) -> Result<String, String> {
        let word = |at: usize| words.get(at).copied().unwrap_or("");
        let number = |at: usize| word(at).parse::<u64>().unwrap_or(0);
        let options = || Options::parse(words.iter().skip(2).map(|&word| word.to_owned()));
        match word(0) {
            "open" => {
                let opened = Opened::open(&options()).map_err(text)?;
                let worker = opened.worker_id().map_err(text)?;
                self.handles.insert(word(1).to_owned(), (opened, HashMap::new()));
                Ok(worker.map_or_else(String::new, |worker| worker.to_string()))
            }
            "close" => {
                let (opened, tags) = self.handles.get_mut(word(1)).ok_or(NOT_OPEN)?;
                tags.clear();
                opened.close().map(|()| String::new()).map_err(text)
            }
            "drop" => {
                drop(self.handles.remove(word(1)));
                Ok(String::new())
            }
            "rounds" => rounds::open_and_close(&options(), number(1)),
            "end" => self.end(word(1)),
            "crowd" => {
                let (count, calls) = (number(3) as usize, number(4).max(1) as usize);
                let tags: Result<Vec<Tag>, String> =
                    (0..count).map(|n| self.tag(word(1), &format!("{}{n}", word(2)))).collect();
                self.crowd = Some(Crowd::begin(&tags?, calls));
                Ok(String::new())
            }
            "crowd-done" => self.crowd.take().ok_or("no crowd")?.done(Duration::from_millis(number(1))),
            "fork" => {
                let pid = process::fork(process::Kind::parse(word(1)));
                if pid == 0 {
                    loop {
                        unsafe { libc::pause() };
                    }
                }
                Ok(pid.to_string())
            }
            "exec" => {
                let child =
                    std::process::Command::new("sleep").arg("3600").spawn().map_err(|e| e.to_string())?;
                Ok(child.id().to_string())
            }
            "count" => Ok(process::count(word(1)).to_string()),
            "close-descriptors" => {
                for fd in 3..1024 {
                    unsafe { libc::close(fd) };
                }
                Ok(String::new())
            }
            "hold-files" => self.hold_files(number(1), word(2)),
            "check-files" => self.check_files(),
            "hold-all-descriptors" => {
                let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
                unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
                while let Ok(file) = std::fs::File::open("/dev/null") {
                    self.held.push((file.into_raw_fd(), String::new(), String::new()));
                }
                Ok(String::new())
            }
            "free-descriptors" => {
                for (fd, _, _) in self.held.drain(..) {
                    unsafe { libc::close(fd) };
                }
                Ok(String::new())
            }
            command => {
                let issuer = self.issuer(word(1), word(2))?;
                let own = if matches!(issuer, Issuer::Tag(_)) { 3 } else { 2 };
                one(&issuer, command, number(own), number(own + 1))
            }
        }
    }

    fn issuer(&mut self, handle: &str, tag: &str) -> Result<Issuer, String> {
        let (opened, tags) = self.handles.get_mut(handle).ok_or(NOT_OPEN)?;
        let tag = if matches!(opened, Opened::Flake(_)) { "" } else { tag };
        if !tags.contains_key(tag) {
            tags.insert(tag.to_owned(), opened.issuer(tag).map_err(text)?);
        }
        tags.get(tag).cloned().ok_or_else(|| "no such tag".into())
    }

    fn tag(&mut self, handle: &str, name: &str) -> Result<Tag, String> {
        match self.issuer(handle, name)? {
            Issuer::Tag(tag) => Ok(tag),
            Issuer::Flake(_) => Err("a snowflake has no tags".into()),
        }
    }

    /// In the numbers that became free; never closed here.
    fn hold_files(&mut self, count: u64, path: &str) -> Result<String, String> {
        for n in 0..count {
            let (path, holds) = (format!("{path}-{n}"), format!("foreign {n}\n"));
            std::fs::write(&path, &holds).map_err(|e| e.to_string())?;
            let file = std::fs::OpenOptions::new().read(true).write(true).open(&path);
            self.held.push((file.map_err(|e| e.to_string())?.into_raw_fd(), path, holds));
        }
        Ok(String::new())
    }

    /// Whether each is still open, still itself, and as it was.
    fn check_files(&self) -> Result<String, String> {
        for (fd, path, holds) in &self.held {
            let link =
                std::fs::read_link(format!("/proc/self/fd/{fd}")).map_err(|e| format!("{path}: {e}"))?;
            let now = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
            if link.to_str() != Some(path) || now != *holds {
                return Err(format!("{path}: descriptor {fd} is {link:?}, holds {now:?}"));
            }
        }
        Ok(String::new())
    }

    /// By `exit` or `abort`, which drop nothing, or by a panic that unwinds from where a generator is held.
    fn end(&mut self, how: &str) -> ! {
        match how {
            "exit" => std::process::exit(0),
            "panic" => {
                let _held = std::mem::take(&mut self.handles);
                panic!("meant to be");
            }
            _ => std::process::abort(),
        }
    }
}

const NOT_OPEN: &str = "this handle is not open";

/// A command of one that gives ids.
fn one(issuer: &Issuer, command: &str, first: u64, second: u64) -> Result<String, String> {
    let list = |ids: Vec<i64>| ids.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
    match (command, issuer) {
        ("next", _) => {
            let ids: leafid::Result<Vec<i64>> = (0..first.max(1)).map(|_| issuer.next()).collect();
            ids.map(list).map_err(text)
        }
        ("take", _) => issuer.take(first as usize).map(list).map_err(text),
        ("try", Issuer::Tag(tag)) => {
            let mut ids = Vec::new();
            while ids.len() < first.max(1) as usize {
                match tag.try_next().map_err(text)? {
                    Some(id) => ids.push(id),
                    None => break,
                }
            }
            Ok(list(ids))
        }
        ("run", _) => {
            let end = Instant::now() + Duration::from_millis(first);
            let pause = Duration::from_micros(second.max(100));
            let (mut ids, mut slowest) = (Vec::new(), Duration::ZERO);
            while Instant::now() < end {
                let begun = Instant::now();
                ids.push(issuer.next().map_err(text)?);
                slowest = slowest.max(begun.elapsed());
                std::thread::sleep(pause);
            }
            let rising = ids.windows(2).all(|pair| pair[0] < pair[1]);
            let (first, last) = (ids.first().unwrap_or(&0), ids.last().unwrap_or(&0));
            Ok(format!("{} {} {first} {last} {rising}", ids.len(), slowest.as_micros()))
        }
        ("stats", _) => issuer.stats().map_err(text),
        ("forks", _) => rounds::forks(issuer, first),
        _ => Err(format!("unknown command {command:?}")),
    }
}
