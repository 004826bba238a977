//! What stands between clients and servers: requests come twice or long after, answers are swapped, repeated, given to
//! two who asked at once, or lost. Clients and servers speak leafid's own protocol, byte by byte.

use super::machine::Draw;
use std::collections::{BTreeMap, VecDeque};

/// So many messages are under way at most.
const ASTRAY: usize = 8;

/// A request, and the machine that it comes from.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) from: usize,
    /// With its query.
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
}

/// Status and body.
pub(crate) type Answer = (u16, Vec<u8>);

/// Of one kind of server. What it keeps is by the path without its query.
#[derive(Default)]
pub(crate) struct Network {
    last: BTreeMap<String, Answer>,
    astray: VecDeque<(String, Answer)>,
    asked: VecDeque<Asked>,
    /// Requests of this machine to this path, of which so many more are answered with what others were.
    collapsed: (usize, String, i64),
}

impl Asked {
    fn whereto(&self) -> String {
        self.path.split('?').next().unwrap_or_default().to_owned()
    }
}

impl Network {
    /// Brings a request to its server and an answer back, which may be another's; none: it was lost.
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
            // As of a proxy that makes one request of two, for a while. Once does a lease little harm: with another's
            // token the next renewal is refused, and only from about then on may the server give the id to somebody else.
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
