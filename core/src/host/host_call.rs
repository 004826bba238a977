//! A call that a machine asks its host to carry out: what to do, the steps of a file, and how it ended.
//!
//! Construct: from a [`RunCall`] or a [`Call`]. It needs no machine in between.
//!
//! | State | Event | Next |
//! | --- | --- | --- |
//! | asked | `request`, `initial`, `step`, `found` | the same |
//! | asked | `ended`, or `response` to a request | ended |
//! | ended | `ended`, `response` | the same, and an error |
//! | ended | `into_end` | its end goes to the machine |

use super::host_terms::{FileSeen, HostEnd, HostFound, HostKind, HostRequest};
use super::of_runs;
#[cfg(feature = "supply")]
use super::of_supplies;
use crate::format::file_steps::FileStep;
use crate::http::{BodyEnd, HttpCall, HttpEnd, NoResponse, ResponseHead};
use crate::run::{RunCall, RunCallEnd};
#[cfg(feature = "supply")]
use crate::supply::{Call, CallEnd, mark_read::MarkKey, memory_mark::MemoryMark};
use crate::wire::Method;
use crate::{Code, Error, Result};
use alloc::boxed::Box;
use alloc::vec::Vec;
#[cfg(not(feature = "supply"))]
use core::convert::Infallible as MemoryMark;
use core::mem::{replace, take};

/// The end of a request, as that of its machine's call.
type OfRequest = fn(HttpEnd) -> MachineEnd;

/// A call that the host carries out.
#[derive(Clone, Debug)]
pub struct HostCall {
    state: HostCallState,
    found: HostFound,
}

#[derive(Clone, Debug)]
enum HostCallState {
    Run(RunCall),
    #[cfg(feature = "supply")]
    Supply(Call),
    Ended(Option<MachineEnd>),
}

/// The end of a call, as its machine takes it.
#[derive(Clone, Debug)]
pub enum MachineEnd {
    /// For `WorkerRun::done`.
    Run(Box<RunCallEnd>),
    /// For `Supply::done`.
    #[cfg(feature = "supply")]
    Supply(CallEnd),
}

impl From<RunCall> for HostCall {
    fn from(call: RunCall) -> HostCall {
        HostCall { state: HostCallState::Run(call), found: HostFound::default() }
    }
}

#[cfg(feature = "supply")]
impl From<Call> for HostCall {
    fn from(call: Call) -> HostCall {
        HostCall { state: HostCallState::Supply(call), found: HostFound::default() }
    }
}

impl HostCall {
    /// What to carry out. `random` is drawn for this request alone.
    pub fn request(&mut self, random: u128) -> HostRequest {
        let mut to =
            HostRequest { kind: HostKind::Close, numbers: Vec::new(), texts: Vec::new(), server: None };
        match &mut self.state {
            HostCallState::Run(RunCall::Http(http)) => http_request(http, random, &mut to),
            #[cfg(feature = "supply")]
            HostCallState::Supply(Call::Http(http)) => http_request(http, random, &mut to),
            HostCallState::Run(call) => of_runs::request(call, random, &mut to),
            #[cfg(feature = "supply")]
            HostCallState::Supply(call) => of_supplies::request(call, &mut to),
            HostCallState::Ended(_) => {}
        }
        to
    }

    /// The call of a run, if it is one, and has not ended.
    pub const fn of_run(&self) -> Option<&RunCall> {
        match &self.state {
            HostCallState::Run(call) => Some(call),
            _ => None,
        }
    }

    /// Whose mark is changed by it.
    #[cfg(feature = "supply")]
    pub fn changed_mark(&self) -> Option<&MarkKey> {
        match &self.state {
            HostCallState::Supply(Call::UpdateMark(update)) => Some(update.key()),
            _ => None,
        }
    }

    /// The content of a new file; nothing if none is to be made. Errors: `internal`.
    pub fn initial(&self) -> Result<Vec<u8>> {
        match &self.state {
            HostCallState::Run(call) => of_runs::initial(call),
            #[cfg(feature = "supply")]
            HostCallState::Supply(call) => of_supplies::initial(call),
            HostCallState::Ended(_) => Ok(Vec::new()),
        }
    }

    /// The next step of a file. `is_first`: what was done before is undone.
    pub fn step(&mut self, seen: FileSeen, is_first: bool) -> FileStep {
        match &mut self.state {
            HostCallState::Run(call) => of_runs::step(call, seen, is_first, &mut self.found),
            #[cfg(feature = "supply")]
            HostCallState::Supply(call) => of_supplies::step(call, seen, is_first, &mut self.found),
            HostCallState::Ended(_) => FileStep::Done,
        }
    }

    /// A listing found a file with this name and these bytes.
    pub fn found(&mut self, name: &str, bytes: &[u8], now_ms: i64) {
        match (&mut self.state, bytes) {
            #[cfg(feature = "supply")]
            (HostCallState::Supply(Call::ListMarks(list)), bytes) => list.add(name, bytes),
            _ => self.found.names.push(name.into()),
        }
        self.found.seen_ms = now_ms;
    }

    /// It ended. `memory`: what the host remembers of the tag of [`HostCall::changed_mark`]. Errors: `internal` for one
    /// that has ended.
    pub fn ended(&mut self, how: HostEnd, memory: Option<&mut MemoryMark>) -> Result<()> {
        let found = take(&mut self.found);
        if let Some((http, of_request)) = self.take_request() {
            self.state = HostCallState::Ended(Some(of_request(no_response(*http, &how))));
            return Ok(());
        }
        let end = match (replace(&mut self.state, HostCallState::Ended(None)), memory) {
            (HostCallState::Run(call), _) => MachineEnd::Run(Box::new(of_runs::end(call, how, found))),
            #[cfg(feature = "supply")]
            (HostCallState::Supply(call), memory) => {
                MachineEnd::Supply(of_supplies::end(call, how, found, memory))
            }
            (ended @ HostCallState::Ended(_), _) => {
                self.state = ended;
                return Err(ended_before());
            }
        };
        self.state = HostCallState::Ended(Some(end));
        Ok(())
    }

    /// A response came. Returns whether its connection may serve another request. Errors: `internal` for a call that
    /// has ended, or is no request.
    pub fn response(&mut self, head: &ResponseHead<'_>, body: Vec<u8>, end: BodyEnd<'_>) -> Result<bool> {
        let (http, of_request) = self.take_request().ok_or_else(ended_before)?;
        let response = http.response(head, body, end);
        let (ended, keeps) = http.end(&response);
        self.state = HostCallState::Ended(Some(of_request(ended)));
        Ok(keeps)
    }

    fn take_request(&mut self) -> Option<(Box<HttpCall>, OfRequest)> {
        match replace(&mut self.state, HostCallState::Ended(None)) {
            HostCallState::Run(RunCall::Http(http)) => {
                Some((http, |end| MachineEnd::Run(Box::new(end.into()))))
            }
            #[cfg(feature = "supply")]
            HostCallState::Supply(Call::Http(http)) => Some((http, |end| MachineEnd::Supply(end.into()))),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// The end of a call that has ended. Errors: `internal` for another one.
    pub fn into_end(self) -> Result<MachineEnd> {
        match self.state {
            HostCallState::Ended(Some(end)) => Ok(end),
            _ => Err(Error::new(Code::Internal, "a call was reported that has not ended; report this")),
        }
    }
}

fn ended_before() -> Error {
    Error::new(Code::Internal, "a call ended a second time, or as one of another kind; report this")
}

fn http_request(http: &mut HttpCall, random: u128, to: &mut HostRequest) {
    let request = http.request(random);
    to.numbers.extend([
        u8::from(request.method == Method::Post).into(),
        http.within.as_millis() as f64,
        http.connect_within.as_millis() as f64,
        u8::from(http.reconnect).into(),
    ]);
    let (kind, body) = request.body.map(|body| (body.content_type.into(), body.text)).unzip();
    to.texts.extend([Some(request.path), kind, body]);
    (to.kind, to.server) = (HostKind::Http, Some(http.server));
}

fn no_response(http: HttpCall, how: &HostEnd) -> HttpEnd {
    let why = match how {
        HostEnd::TimedOut => NoResponse::TimedOut,
        HostEnd::ConnectTimedOut => NoResponse::ConnectTimedOut,
        HostEnd::Text(text) => NoResponse::Fetch(text),
        HostEnd::Error(error) => NoResponse::Other(error.message()),
        _ => NoResponse::Other("the request ended as a call of another kind"),
    };
    http.failed(why, false)
}
