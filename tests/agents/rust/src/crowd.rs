//! Many calls that wait at once, on one thread: futures.

use leafid::Tag;
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

type Call = Pin<Box<dyn Future<Output = leafid::Result<i64>> + Send>>;

/// Calls of many tags, under way.
pub struct Crowd {
    calls: Vec<(usize, Option<Call>)>,
    ids: Vec<(usize, i64)>,
    errors: Vec<String>,
    woken: Receiver<usize>,
    sender: Sender<usize>,
}

struct Number(usize, Mutex<Sender<usize>>);

impl Wake for Number {
    fn wake(self: Arc<Self>) {
        if let Ok(sender) = self.1.lock() {
            let _ = sender.send(self.0);
        }
    }
}

impl Crowd {
    /// This many calls of each tag, all begun.
    pub fn begin(tags: &[Tag], each: usize) -> Crowd {
        let (sender, woken) = channel();
        let calls = (0..tags.len() * each)
            .map(|n| (n % tags.len(), Some(Box::pin(tags[n % tags.len()].next_async()) as Call)))
            .collect();
        let mut crowd = Crowd { calls, ids: Vec::new(), errors: Vec::new(), woken, sender };
        (0..crowd.calls.len()).for_each(|at| crowd.poll(at));
        crowd
    }

    fn poll(&mut self, at: usize) {
        let (tag, call) = &mut self.calls[at];
        let Some(future) = call else { return };
        let waker = Waker::from(Arc::new(Number(at, Mutex::new(self.sender.clone()))));
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => return,
            Poll::Ready(Ok(id)) => self.ids.push((*tag, id)),
            Poll::Ready(Err(error)) => self.errors.push(error.to_string()),
        }
        *call = None;
    }

    /// Waits at most this long until all are done: ids, how many of them differ, errors, and the first error.
    pub fn done(mut self, patience: Duration) -> Result<String, String> {
        let end = Instant::now() + patience;
        while self.ids.len() + self.errors.len() < self.calls.len() {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(at) = self.woken.recv_timeout(left) else { break };
            self.poll(at);
        }
        let distinct = self.ids.iter().collect::<HashSet<_>>().len();
        let error = self.errors.first().map(String::as_str).unwrap_or_default();
        Ok(format!("{} {distinct} {} {error}", self.ids.len(), self.errors.len()))
    }
}
