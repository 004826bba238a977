//! A Leaf that answers when a test says so: what is asked, in which order, and how much at once is seen without a clock.
//! It speaks `range` and tinyid as well, and gives one id then, too.
#![allow(dead_code)]

use crate::common::HANG;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

pub(crate) struct Leaf {
    pub(crate) url: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests that are not answered yet, the first one first: its number and its tag.
    held: VecDeque<(usize, String)>,
    asked: usize,
    /// Answered, of each tag.
    answered: BTreeMap<String, usize>,
    most_at_once: usize,
    /// Answers at once.
    is_open: bool,
    /// Instead of the next id: status and body, of a tag.
    says: BTreeMap<String, (u16, String)>,
}

impl Leaf {
    /// One that holds every request until [`Leaf::release`].
    pub(crate) fn holding() -> Leaf {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<Shared>::default();
        let leaf = Leaf { url, shared: Arc::clone(&shared) };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || shared.converse(&stream));
            }
        });
        leaf
    }

    /// One that answers at once.
    pub(crate) fn open() -> Leaf {
        let leaf = Leaf::holding();
        leaf.shared.state.lock().unwrap().is_open = true;
        leaf
    }

    /// Answers all requests of a tag, or of every tag (""), with this.
    pub(crate) fn says(&self, tag: &str, status: u16, body: &str) {
        self.shared.state.lock().unwrap().says.insert(tag.into(), (status, body.into()));
    }

    /// Answers rightly again.
    pub(crate) fn clear(&self) {
        self.shared.state.lock().unwrap().says.clear();
    }

    /// The tags of the requests under way, once there are this many.
    pub(crate) fn held(&self, count: usize) -> Vec<String> {
        let state = self.wait(|state| state.held.len() >= count);
        state.held.iter().map(|(_, tag)| tag.clone()).collect()
    }

    /// Answers the requests under way, once there are this many: their tags.
    pub(crate) fn round_trip(&self, count: usize) -> Vec<String> {
        let mut state = self.wait(|state| state.held.len() >= count);
        self.shared.changed.notify_all();
        state.held.drain(..).map(|(_, tag)| tag).collect()
    }

    /// Answers the requests that are under way now.
    pub(crate) fn release(&self) {
        self.shared.state.lock().unwrap().held.clear();
        self.shared.changed.notify_all();
    }

    /// Answers every request from now on at once.
    pub(crate) fn release_all(&self) {
        self.shared.state.lock().unwrap().is_open = true;
        self.release();
    }

    /// How many requests of each tag were answered.
    pub(crate) fn answered(&self) -> BTreeMap<String, usize> {
        self.shared.state.lock().unwrap().answered.clone()
    }

    pub(crate) fn asked(&self) -> usize {
        self.shared.state.lock().unwrap().asked
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.shared.state.lock().unwrap().most_at_once
    }

    fn wait(&self, until: impl Fn(&State) -> bool) -> std::sync::MutexGuard<'_, State> {
        let deadline = Instant::now() + HANG;
        let mut state = self.shared.state.lock().unwrap();
        while !until(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{:?} {:?}", state.held, state.answered);
            state = self.shared.changed.wait_timeout(state, left).unwrap().0;
        }
        state
    }
}

impl Shared {
    fn converse(&self, stream: &TcpStream) -> Option<()> {
        stream.set_nodelay(true).ok()?;
        let mut lines = BufReader::new(stream);
        loop {
            let mut first = String::new();
            lines.read_line(&mut first).ok().filter(|length| *length > 0)?;
            let (mut line, mut length) = (String::new(), 0);
            while line != "\r\n" {
                line.clear();
                lines.read_line(&mut line).ok().filter(|length| *length > 0)?;
                if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().ok()?;
                }
            }
            let mut form = vec![0; length];
            lines.read_exact(&mut form).ok()?;
            let target = first.split(' ').nth(1)?;
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let tag = path.rsplit('/').next()?;
            let (status, body) = if path.starts_with("/tinyid/") {
                let form = String::from_utf8(form).ok()?;
                let (status, id) = self.answer(form.strip_prefix("bizType=")?.split('&').next()?);
                let before = id.parse::<i64>().map_or(0, |id| id - 1);
                (status, format!("{before},{id},{id},1,0"))
            } else if path.starts_with("/api/segment/range/") {
                let (status, id) = self.answer(tag);
                let end = id.parse::<i64>().map_or(0, |id| id + 1);
                let nonce = query.split("nonce=").nth(1)?;
                (
                    status,
                    format!(r#"{{"tag":"{tag}","start":"{id}","end":"{end}","stride":1,"nonce":"{nonce}"}}"#),
                )
            } else {
                self.answer(tag)
            };
            let head = format!("HTTP/1.1 {status} So\r\nContent-Length: {}\r\n\r\n", body.len());
            (&mut &*stream).write_all((head + &body).as_bytes()).ok()?;
        }
    }

    fn answer(&self, tag: &str) -> (u16, String) {
        let mut state = self.state.lock().unwrap();
        state.asked += 1;
        let number = state.asked;
        state.held.push_back((number, tag.to_owned()));
        state.most_at_once = state.most_at_once.max(state.held.len());
        self.changed.notify_all();
        while !state.is_open && state.held.iter().any(|(held, _)| *held == number) {
            state = self.changed.wait(state).unwrap();
        }
        state.held.retain(|(held, _)| *held != number);
        let answered = state.answered.entry(tag.to_owned()).or_default();
        *answered += 1;
        let id = *answered;
        match state.says.get(tag).or_else(|| state.says.get("")) {
            Some(said) => said.clone(),
            None => (200, id.to_string()),
        }
    }
}
