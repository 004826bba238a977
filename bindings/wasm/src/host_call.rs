//! A call that a machine asks its host to carry out: what to do, the steps of a file, and how it ended.
//!
//! `run_next_call` and `supply_next_call` return its handle, and `run_done` and `supply_done` free it. In between it needs
//! no machine. docs/WASM-ABI.md, "Calls of the machines", has the kinds, with their numbers and texts.

use crate::argument::{optional, whole};
use crate::call_terms::{Answers, FileSeen, HostEnd, HostKind};
use crate::module::{CallFailed, Kind, Module, Result, call, given_error, utf8, write_bytes, write_list};
use crate::run_call;
use crate::supply_call::SupplyCall;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::take;
use leafid_core::call::{CallId, Clocks, FileAction, IoFailure, IoKind};
use leafid_core::format::file_steps::FileStep;
use leafid_core::http::{BodyEnd, Frame, HttpCall, HttpEnd, HttpServers, NoResponse, ResponseHead};
use leafid_core::options::ServerOptions;
use leafid_core::run::{Claimed, RunCall, RunCallEnd};
use leafid_core::supply::CallEnd;
use leafid_core::wire::Method;
use leafid_core::{Code, Error, Lease, Renewal, Segment};

/// What requests to the servers of a machine need.
pub(crate) struct HttpTo {
    servers: Arc<HttpServers>,
    headers: Vec<(String, String)>,
}

/// A call that the host carries out.
pub(crate) struct HostCall {
    pub(crate) id: CallId,
    /// Of a machine with servers.
    to: Option<Arc<HttpTo>>,
    asked: MachineCall,
    /// The names that a listing found so far.
    names: Vec<String>,
    /// A file's steps so far, and the end of the call if that is known by them. A store may begin them again.
    steps: Option<(MachineCall, Option<MachineEnd>)>,
    end: Option<MachineEnd>,
}

/// As a machine asks for it.
#[derive(Clone)]
pub(crate) enum MachineCall {
    Run(RunCall),
    Supply(SupplyCall),
}

/// As a machine takes it.
pub(crate) enum MachineEnd {
    Run(RunCallEnd),
    Supply(CallEnd),
}

impl Kind for HostCall {
    const NAME: &'static str = "a call";
}

pub(crate) fn random(high: i64, low: i64) -> u128 {
    u128::from(high as u64) << 64 | u128::from(low as u64)
}

/// The clocks that a host has read for this call.
pub(crate) fn clocks(wall_ms: f64, boot_ms: f64) -> Clocks {
    Clocks { wall_ms: wall_ms as i64, boot: crate::argument::duration(boot_ms) }
}

impl HttpTo {
    /// `sends_token`: as a header.
    pub(crate) fn new(servers: &Arc<HttpServers>, options: &ServerOptions, sends_token: bool) -> HttpTo {
        let mut headers = Vec::from([("Accept".into(), "application/json".into())]);
        if let Some(token) = options.token.as_ref().filter(|_| sends_token) {
            headers.push(("Authorization".into(), String::from("Bearer ") + token));
        }
        headers.extend(options.headers.iter().cloned());
        HttpTo { servers: Arc::clone(servers), headers }
    }
}

impl HostCall {
    pub(crate) fn new(id: CallId, asked: MachineCall, to: Option<Arc<HttpTo>>) -> HostCall {
        HostCall { id, to, asked, names: Vec::new(), steps: None, end: None }
    }

    /// The end of a call that the host has ended.
    pub(crate) fn into_end(self) -> Result<(CallId, MachineEnd)> {
        let not_ended = || Error::new(Code::Internal, "a call was reported that has not ended; report this");
        Ok((self.id, self.end.ok_or_else(not_ended)?))
    }

    fn http(&mut self) -> Option<&mut HttpCall> {
        match &mut self.asked {
            MachineCall::Run(RunCall::Http(http)) => Some(http),
            MachineCall::Run(_) => None,
            MachineCall::Supply(call) => call.http(),
        }
    }

    fn http_ended(&mut self, end: HttpEnd) {
        self.end = Some(match &self.asked {
            MachineCall::Run(_) => MachineEnd::Run(end.into()),
            MachineCall::Supply(_) => MachineEnd::Supply(end.into()),
        });
    }

    /// What it asks for. Numbers and texts are the answer.
    fn request(&mut self, random: u128, answers: &mut Answers) -> HostKind {
        let to = self.to.clone();
        if let (Some(http), Some(to)) = (self.http(), to) {
            let request = http.request(random);
            answers.numbers.extend([
                u8::from(request.method == Method::Post).into(),
                http.within.as_millis() as f64,
                http.connect_within.as_millis() as f64,
                u8::from(http.reconnect).into(),
            ]);
            let url = to.servers.servers.get(http.server).map_or("", |server| &server.url);
            let url = String::from(url) + &request.path;
            let (kind, body) = request.body.map(|body| (body.content_type.into(), body.text)).unzip();
            answers.texts.extend([Some(url), kind, body]);
            for (name, value) in &to.headers {
                answers.texts.extend([Some(name.clone()), Some(value.clone())]);
            }
            return HostKind::Http;
        }
        match &self.asked {
            MachineCall::Run(call) => run_call::request(call, random, answers),
            MachineCall::Supply(call) => call.request(answers),
        }
    }

    /// The content of a new file; nothing if none is to be made.
    fn initial(&self) -> Result<Vec<u8>> {
        match &self.asked {
            MachineCall::Run(call) => run_call::initial(call),
            MachineCall::Supply(call) => call.initial(),
        }
    }

    fn step(&mut self, seen: &FileSeen<'_>, is_first: bool) -> FileStep {
        if is_first {
            self.steps = None;
        }
        let (call, end) = self.steps.get_or_insert_with(|| (self.asked.clone(), None));
        if end.is_some() {
            return FileStep::Done;
        }
        match call {
            MachineCall::Run(call) => {
                let (step, known) = run_call::step(call, seen);
                *end = known.map(MachineEnd::Run);
                step
            }
            MachineCall::Supply(call) => {
                let (step, known) = call.step(seen);
                *end = known.map(MachineEnd::Supply);
                step
            }
        }
    }

    fn ended(&mut self, how: HostEnd) {
        let names = take(&mut self.names);
        let (call, known) = self.steps.take().unwrap_or_else(|| (self.asked.clone(), None));
        self.end = Some(match (call, known, how) {
            (_, Some(known), HostEnd::Done) => known,
            (MachineCall::Run(call), _, how) => MachineEnd::Run(run_call::end(call, how, names)),
            (MachineCall::Supply(call), _, how) => MachineEnd::Supply(call.end(how)),
        });
    }
}

/// What to carry out: its kind, and with it numbers and texts. The random bits are drawn for this request alone.
#[unsafe(no_mangle)]
extern "C" fn call_request(handle: i32, high: i64, low: i64) -> i32 {
    call(|module| {
        let mut answers = Answers::default();
        let kind = module.get_mut::<HostCall>(handle)?.request(random(high, low), &mut answers);
        module.answer(&answers.numbers);
        write_list(answers.texts.iter().map(|text| text.as_ref().map(|text| text.as_bytes())));
        Ok(kind as i32)
    })
}

/// The content of a new file, as output; nothing: none is made.
#[unsafe(no_mangle)]
extern "C" fn call_initial(handle: i32) -> i32 {
    call(|module| {
        write_bytes(&module.get::<HostCall>(handle)?.initial()?);
        Ok(0)
    })
}

/// The next step of a file, whose bytes are these; -1 as their length: there is none. 0: nothing more. 1: write the
/// output durably, at the offset that is the number, and call again with what is there then. `is_first` begins anew: a
/// transaction may be tried again.
#[unsafe(no_mangle)]
extern "C" fn call_step(
    handle: i32,
    is_first: i32,
    now_ms: f64,
    high: i64,
    low: i64,
    path_length: i32,
    bytes_length: i32,
) -> i32 {
    call(|module| {
        let [path, bytes] = module.input([path_length, bytes_length.max(0)])?;
        let (path, bytes) = (String::from(utf8(path)?), Vec::from(bytes));
        let bytes = Some(&bytes[..]).filter(|_| bytes_length >= 0);
        let seen = FileSeen { bytes, path: &path, now_ms: now_ms as i64, random: random(high, low) };
        match module.get_mut::<HostCall>(handle)?.step(&seen, is_first != 0) {
            FileStep::Done => Ok(0),
            FileStep::Write { offset, bytes, .. } => {
                module.answer(&[offset as f64]);
                write_bytes(&bytes[..]);
                Ok(1)
            }
        }
    })
}

/// A listing found a file with this name and these bytes.
#[unsafe(no_mangle)]
extern "C" fn call_found(handle: i32, now_ms: f64, name_length: i32, bytes_length: i32) -> i32 {
    call(|module| {
        let [name, bytes] = module.input([name_length, bytes_length])?;
        let (name, bytes) = (String::from(utf8(name)?), Vec::from(bytes));
        let found = module.get_mut::<HostCall>(handle)?;
        match &mut found.asked {
            MachineCall::Run(_) => found.names.push(name),
            MachineCall::Supply(call) => call.found(&name, &bytes, now_ms as i64),
        }
        Ok(0)
    })
}

fn end(module: &mut Module, handle: i32, how: HostEnd) -> Result<i32> {
    module.get_mut::<HostCall>(handle)?.ended(how);
    Ok(0)
}

/// It ended. `how` 0: it was done. 1: no, because another one holds it, or nothing is free. 2: the error of this number
/// and text; the number 0 stands for what user code said. 3 and above, of requests: why no response came, 3 by a text of
/// the platform's, 4 in time, 5 because of no connection in time.
#[unsafe(no_mangle)]
extern "C" fn call_end(handle: i32, how: i32, number: i32, length: i32) -> i32 {
    call(|module| {
        let [text] = module.texts([length])?;
        let text = String::from(text);
        let why = match how {
            0 => return end(module, handle, HostEnd::Done),
            1 => return end(module, handle, HostEnd::No),
            2 if number == 0 => return end(module, handle, HostEnd::Text(text)),
            2 => {
                let error = given_error(module, number, length)?;
                return end(module, handle, HostEnd::Error(error));
            }
            3 => NoResponse::Fetch(&text),
            4 => NoResponse::TimedOut,
            5 => NoResponse::ConnectTimedOut,
            _ => return Err(Error::invalid("how", how, "0 to 5").into()),
        };
        let found = module.get_mut::<HostCall>(handle)?;
        if let Some(http) = found.http() {
            let ended = http.clone().failed(why, false);
            found.http_ended(ended);
        }
        Ok(0)
    })
}

/// An operation of the host failed. `action`: 0 makes a file, 1 opens and locks it, 2 reads, 3 writes, 4 makes its name
/// durable. `kind`: 0 the user may not, 1 the place is read-only, 2 it is full, 3 anything else. The input is the path,
/// what the system said, and the user of the process.
#[unsafe(no_mangle)]
extern "C" fn call_failed(
    handle: i32,
    action: i32,
    kind: i32,
    path_length: i32,
    text_length: i32,
    user_length: i32,
) -> i32 {
    call(|module| {
        let [path, text, user] = module.texts([path_length, text_length, user_length])?;
        let action = match action {
            0 => FileAction::Make,
            1 => FileAction::Open,
            2 => FileAction::Read,
            3 => FileAction::Write,
            _ => FileAction::SyncName,
        };
        let kind = match kind {
            0 => IoKind::Denied,
            1 => IoKind::ReadOnly,
            2 => IoKind::Full,
            _ => IoKind::Other,
        };
        let failure = IoFailure { kind, text: text.into(), user: user.into() };
        let how = HostEnd::Io(action, path.into(), failure);
        end(module, handle, how)
    })
}

/// The answer of the user's `claim`: a lease, or with NaN as `from_ms` a worker id alone. NaN and -1: not given.
/// `asked_ago_ms`: how long before the call its result was asked for. The times of peers are an i64 each.
#[unsafe(no_mangle)]
extern "C" fn call_claimed(
    handle: i32,
    worker_id: f64,
    from_ms: f64,
    until_ms: f64,
    lease_ms: f64,
    token_length: i32,
    times_length: i32,
) -> i32 {
    call(|module| {
        let [token, times] = module.input([token_length.max(0), times_length])?;
        let worker_id = whole("worker_id", worker_id)?;
        let claimed = match optional("from_ms", from_ms)? {
            None => Claimed::Id(worker_id),
            Some(from_ms) => {
                let lease = Lease {
                    worker_id,
                    from_ms,
                    until_ms: whole("until_ms", until_ms)?,
                    lease_ms: optional("lease_ms", lease_ms)?,
                    token: if token_length < 0 { None } else { Some(utf8(token)?.into()) },
                    peer_times_ms: read_times(times),
                };
                Claimed::Lease(lease, core::time::Duration::ZERO)
            }
        };
        end(module, handle, HostEnd::Claimed(claimed))
    })
}

/// The answer of the user's `renew`. NaN and -1: not given.
#[unsafe(no_mangle)]
extern "C" fn call_renewed(
    handle: i32,
    worker_id: f64,
    until_ms: f64,
    lease_ms: f64,
    token_length: i32,
) -> i32 {
    call(|module| {
        let [token] = module.texts([token_length.max(0)])?;
        let renewal = Renewal {
            worker_id: optional("worker_id", worker_id)?,
            until_ms: whole("until_ms", until_ms)?,
            lease_ms: optional("lease_ms", lease_ms)?,
            token: (token_length >= 0).then(|| token.into()),
        };
        end(module, handle, HostEnd::Renewed(renewal))
    })
}

/// The answer of the user's `fetch`: a segment.
#[unsafe(no_mangle)]
extern "C" fn call_fetched(handle: i32, start: i64, end: i64, stride: i64) -> i32 {
    call(|module| self::end(module, handle, HostEnd::Fetched(Segment::new(start, end, stride))))
}

/// The answer of the user's `peer_times`: an i64 each.
#[unsafe(no_mangle)]
extern "C" fn call_times(handle: i32, length: i32) -> i32 {
    call(|module| {
        let [times] = module.input([length])?;
        let times = read_times(times);
        end(module, handle, HostEnd::Times(times))
    })
}

fn read_times(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks().0.iter().map(|&time| i64::from_le_bytes(time)).collect()
}

/// A response came. -1 as a length: there is no such header. `flags` 1: it is encoded; 2: its body is longer than it may
/// be. Returns 1 if its connection may serve another request.
#[unsafe(no_mangle)]
extern "C" fn call_response(
    handle: i32,
    status: i32,
    flags: i32,
    location_length: i32,
    age_length: i32,
    length_length: i32,
    transfer_length: i32,
    body_length: i32,
) -> i32 {
    call(|module| {
        let given = [location_length, age_length, length_length, transfer_length];
        let [location, age, said, transfer, body] = module.input([
            location_length.max(0),
            age_length.max(0),
            length_length.max(0),
            transfer_length.max(0),
            body_length,
        ])?;
        let [location, age, said, transfer] = [location, age, said, transfer].map(Vec::from);
        let body = Vec::from(body);
        let header = |at: usize| move |_: &&[u8]| given[at] >= 0;
        let head = ResponseHead {
            status: u16::try_from(status).map_err(|_| Error::invalid("status", status, "as of HTTP"))?,
            location: Some(&location[..]).filter(header(0)),
            age: Some(&age[..]).filter(header(1)),
            frame: Frame::Shown {
                content_length: Some(utf8(&said)?).filter(|_| given[2] >= 0),
                transfer_encoding: Some(utf8(&transfer)?).filter(|_| given[3] >= 0),
                is_encoded: flags & 1 != 0,
            },
        };
        let body_end = if flags & 2 == 0 { BodyEnd::There } else { BodyEnd::Long };
        let found = module.get_mut::<HostCall>(handle)?;
        let Some(http) = found.http() else {
            return Err(CallFailed::from(Error::new(Code::Internal, "a response came to another call")));
        };
        let response = http.response(&head, body, body_end);
        let (ended, keeps) = http.clone().end(&response);
        found.http_ended(ended);
        Ok(keeps.into())
    })
}
