//! The network between clients and servers. Requests arrive twice or late. Responses are swapped, repeated, sent to two
//! clients at once, or lost. Clients and servers use leafid's own protocol, byte by byte.

use super::machine::Draw;
use std::collections::{BTreeMap, VecDeque};

/// The largest number of messages on their way.
const ASTRAY: usize = 8;

/// A request, and the machine that sent it.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) from: usize,
    /// With its query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Status and body.
pub(crate) type Answer = (u16, Vec<u8>);

/// The network of one kind of server. Its state is by the path without the query.
#[derive(Default)]
pub(crate) struct Network {
    last: BTreeMap<String, Answer>,
    astray: VecDeque<(String, Answer)>,
    asked: VecDeque<Asked>,
    /// Requests of this machine to this path. This number of them will get responses of others.
    collapsed: (usize, String, i64),
}

impl Asked {
    fn whereto(&self) -> String {
        self.path.split('?').next().unwrap_or_default().to_owned()
    }
}

impl Network {
    /// Sends a request to its server and returns a response, which may be that of another request; `None` if it was
    /// lost.
    pub(crate) fn carry(
        &mut self,
        asked: &Asked,
        serve: &mut dyn FnMut(&Asked) -> Answer,
        draw: &mut Draw,
        count: &mut dyn FnMut(&'static str),
    ) -> Option<Answer> {
        let whereto = asked.whereto();
        let (from, path, left) = &mut self.collapsed;
        let goes_on = *left > 0 && *from == asked.from && *path == whereto;
        if (goes_on || draw.one_in(40))
            && let Some(last) = self.last.get(&whereto)
        {
            // As by a proxy that merges two requests into one, for a while. A single merge does a lease little harm:
            // the next renewal with the other's token is refused, and only after about that time may the server lease
            // the id to another holder.
            let left = if goes_on { *left - 1 } else { draw.amount(20) };
            self.collapsed = (asked.from, whereto, left);
            count("two requests have one answer");
            return Some(last.clone());
        }
        if draw.one_in(40)
            && let Some(older) = self.asked.pop_front()
        {
            count("request comes again later");
            let answer = serve(&older);
            self.stray(older.whereto(), answer);
        }
        let mut answer = serve(asked);
        if draw.one_in(40) {
            count("request comes twice");
            let second = serve(asked);
            let other = if draw.one_in(2) { std::mem::replace(&mut answer, second) } else { second };
            self.stray(whereto.clone(), other);
        }
        self.last.insert(whereto.clone(), answer.clone());
        self.asked.push_back(asked.clone());
        self.asked.truncate(ASTRAY);
        if draw.one_in(30) {
            count("answer lost");
            self.stray(whereto, answer);
            return None;
        }
        let other = self.astray.iter().position(|(path, _)| *path == whereto);
        if let Some(at) = other.filter(|_| draw.one_in(20))
            && let Some((_, other)) = self.astray.remove(at)
        {
            count("answers swapped");
            self.stray(whereto, answer);
            return Some(other);
        }
        Some(answer)
    }

    fn stray(&mut self, path: String, answer: Answer) {
        self.astray.push_front((path, answer));
        self.astray.truncate(ASTRAY);
    }
}
