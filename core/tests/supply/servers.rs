//! The servers of the world: each answers a request from a counter, and the answer may be a wrong one.

use crate::counters::{Counters, Kind};
use leafid_core::wire::{Request, Response};
use std::collections::BTreeMap;

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// Nothing.
    None,
    /// The last answer of this server, whoever asked: of a proxy that collapses requests.
    Repeats,
    /// It is busy, after it has counted on.
    Busy,
    /// It does not know the tag.
    Unknown,
    /// Something else answers there.
    Garbage,
    /// The answer is cut short.
    Cut,
    /// It looks away from `after`, as a replica without the last commit.
    Behind,
    /// It redirects.
    Redirects,
}

pub(crate) const FLAWS: [Flaw; 7] =
    [Flaw::Repeats, Flaw::Busy, Flaw::Unknown, Flaw::Garbage, Flaw::Cut, Flaw::Behind, Flaw::Redirects];

/// The servers of one source.
#[derive(Clone, Debug)]
pub(crate) struct Servers {
    pub(crate) kind: Kind,
    /// The number of ids that a server gives if it is asked for no number.
    pub(crate) step: i64,
    /// The last answer of each server. One that repeats no nonce differs from another one by its tag alone.
    last: BTreeMap<(usize, String), (u16, String)>,
}

/// The parts of a request that a server looks at.
struct Asked {
    tag: String,
    step: Option<i64>,
    after: i64,
    nonce: String,
}

/// The tag of a request.
pub(crate) fn asked_for(request: &Request) -> String {
    Asked::read(request).tag
}

impl Asked {
    fn read(request: &Request) -> Asked {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let form = request.body.as_ref().map_or("", |body| body.text.as_str());
        let fields: Vec<(&str, &str)> =
            query.split('&').chain(form.split('&')).filter_map(|field| field.split_once('=')).collect();
        let field = |name: &str| fields.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        Asked {
            tag: field("bizType").unwrap_or_else(|| path.rsplit('/').next().unwrap_or("")).to_owned(),
            step: field("step").map(|step| step.parse().expect("a step is a number")),
            after: field("after").map_or(0, |after| after.parse().expect("a mark is a number")),
            nonce: field("nonce").expect("every request has a nonce").to_owned(),
        }
    }
}

impl Servers {
    pub(crate) fn new(kind: Kind, step: i64) -> Servers {
        Servers { kind, step, last: BTreeMap::new() }
    }

    /// The name of the counter from which a server, or a callback, takes the ids of a tag.
    pub(crate) fn counter(kind: Kind, tag: &str, server: usize) -> String {
        match kind {
            Kind::Tinyid | Kind::Ranges => format!("{tag}@{server}"),
            _ => tag.to_owned(),
        }
    }

    /// What a server answers. It counts on even if its answer is a wrong one, or never arrives.
    pub(crate) fn answer(
        &mut self,
        counters: &mut Counters,
        server: usize,
        request: &Request,
        flaw: Flaw,
    ) -> Response {
        let asked = Asked::read(request);
        let key = (server, if self.kind == Kind::Range { String::new() } else { asked.tag.clone() });
        let last = self.last.get(&key).cloned().filter(|_| flaw == Flaw::Repeats);
        let (status, body) = last.unwrap_or_else(|| self.right(counters, server, request, &asked, flaw));
        if flaw == Flaw::None {
            self.last.insert(key, (status, body.clone()));
        }
        let (status, body) = match flaw {
            Flaw::Busy => (503, "busy".into()),
            Flaw::Unknown => self.unknown(),
            Flaw::Garbage => (200, "<html>hello</html>".into()),
            Flaw::Redirects => (302, String::new()),
            _ => (status, body),
        };
        let url = format!("http://server-{server}{}", request.path.split('?').next().unwrap_or(""));
        let mut response = Response::new(&url, status, body.as_bytes(), "servers");
        if flaw == Flaw::Cut {
            response.flaw = Some("ended before its length".into());
        }
        response
    }

    fn right(
        &self,
        counters: &mut Counters,
        server: usize,
        request: &Request,
        asked: &Asked,
        flaw: Flaw,
    ) -> (u16, String) {
        let name = Servers::counter(self.kind, &asked.tag, server);
        let step = asked.step.unwrap_or(self.step);
        match self.kind {
            Kind::Range => {
                let after = if flaw == Flaw::Behind { 0 } else { asked.after };
                let segment = counters.take(&name, step, after);
                let (start, end, nonce) = (segment.start(), segment.end(), &asked.nonce);
                let body = format!(
                    r#"{{"tag":"{}","start":"{start}","end":"{end}","stride":1,"step":{},"nonce":"{nonce}"}}"#,
                    asked.tag, self.step
                );
                (200, body)
            }
            Kind::Tinyid if request.path.contains("nextSegmentIdSimple") => {
                // Of its counter's numbers every second one is an id.
                let segment = counters.take(&name, 2 * step, 0);
                let (before, last) = (segment.start() - 1, segment.last());
                (200, format!("{before},{before},{last},2,{server}"))
            }
            Kind::Tinyid => (200, r#"{"code":6,"message":"java.lang.Exception","data":null}"#.into()),
            Kind::Leaf => (200, counters.one(&name, server, self.step).to_string()),
            kind => unreachable!("{kind:?} has no servers"),
        }
    }

    fn unknown(&self) -> (u16, String) {
        match self.kind {
            Kind::Range => (404, r#"{"error":"unknown_tag","message":"no such tag"}"#.into()),
            Kind::Tinyid => (200, String::new()),
            _ => (500, r#"{"message":"Result{id=-2, status=EXCEPTION}"}"#.into()),
        }
    }
}
