//! The exports for a call that a machine asks its host to carry out: the core's [`HostCall`].
//!
//! `next_call` returns its handle, and `done` frees it. In between it needs no machine. docs/WASM-ABI.md, "Calls of the
//! machines", has the kinds, with their numbers and texts.

use crate::argument::{optional, whole};
#[cfg(feature = "segments")]
use crate::marks::Marks;
use crate::module::{Kind, Module, Result, exports, given_error, utf8, write_bytes, write_list};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
#[cfg(feature = "segments")]
use leafid_core::Segment;
use leafid_core::call::{CallId, Clocks, FileAction, IoFailure, IoKind, Level};
use leafid_core::format::file_steps::FileStep;
use leafid_core::host::{FileSeen, HostCall, HostEnd, MachineEnd};
use leafid_core::http::{BodyEnd, Frame, ResponseHead};
use leafid_core::options::ServerOptions;
use leafid_core::run::{Claimed, RunCall};
use leafid_core::{Error, Lease, Renewal};

/// What the host says that it did, by number; else it made a name durable.
const ACTIONS: [FileAction; 4] = [FileAction::Make, FileAction::Open, FileAction::Read, FileAction::Write];
/// Why that failed, by number; else for another reason.
const KINDS: [IoKind; 3] = [IoKind::Denied, IoKind::ReadOnly, IoKind::Full];

/// What requests to the servers of a machine need.
pub(crate) struct HttpTo {
    urls: Vec<String>,
    headers: Vec<(String, String)>,
}

/// What a machine tells its host.
pub(crate) enum Told {
    /// The end of this call has no effect.
    Abandon(CallId),
    /// Answers came; of a supply for the line of this tag.
    Wake(f64),
    Log(Level, String),
    /// The machine has ended.
    Closed(leafid_core::Result<()>),
}

/// A machine that has calls.
pub(crate) trait Driven {
    /// That of its calls.
    fn number(&self) -> u64;

    /// One of its calls has ended.
    fn done(&mut self, id: CallId, end: MachineEnd, now: Clocks);

    /// What to tell next.
    fn next_notice(&mut self, now: Clocks) -> Option<Told>;

    /// When there may be more to do, if nothing happens before.
    fn next_time(&self) -> Option<Duration>;
}

/// A call, and what carries it out.
pub(crate) struct CallHandle {
    /// The number of its machine, and its own there.
    pub(crate) id: (u64, CallId),
    pub(crate) call: HostCall,
    /// Of a machine with servers.
    pub(crate) to: Option<Arc<HttpTo>>,
    /// Of a supply.
    #[cfg(feature = "segments")]
    pub(crate) marks: Option<Arc<Marks>>,
}

impl Kind for CallHandle {
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
    /// `token`: one that is sent as a header.
    pub(crate) fn new(options: &ServerOptions, token: Option<&str>) -> HttpTo {
        let mut headers = Vec::from([("Accept".into(), "application/json".into())]);
        headers.extend(token.map(|token| ("Authorization".into(), String::from("Bearer ") + token)));
        headers.extend(options.headers.iter().cloned());
        HttpTo { urls: options.urls.clone(), headers }
    }

    /// Adds to the texts of a request where it goes, and what else is sent.
    fn complete(&self, server: usize, texts: &mut Vec<Option<String>>) {
        if let (Some(url), Some(Some(path))) = (self.urls.get(server), texts.first_mut()) {
            path.insert_str(0, url);
        }
        for (name, value) in &self.headers {
            texts.extend([Some(name.clone()), Some(value.clone())]);
        }
    }
}

fn end(module: &mut Module, handle: i32, how: HostEnd) -> Result<i32> {
    let found: &mut CallHandle = module.get_mut(handle)?;
    #[cfg(feature = "segments")]
    if let CallHandle { call, marks: Some(marks), .. } = found
        && let Some(tag) = call.changed_mark().map(|key| Arc::clone(&key.tag))
    {
        marks.with(&tag, |mark| call.ended(how, Some(mark)))?;
        return Ok(0);
    }
    found.call.ended(how, None)?;
    Ok(0)
}

exports! {
    /// What to carry out: its kind, and with it numbers and texts. The random bits are drawn for this request alone.
    fn call_request(module, handle: i32, high: i64, low: i64) -> i32 {
        let CallHandle { call, to, .. } = module.get_mut(handle)?;
        let mut request = call.request(random(high, low));
        if let (Some(to), Some(server)) = (to, request.server) {
            to.complete(server, &mut request.texts);
        }
        module.answer(&request.numbers);
        write_list(request.texts.iter().map(|text| text.as_ref().map(|text| text.as_bytes())));
        Ok(request.kind as i32)
    }

    /// The content of a new file, as output; nothing: none is made.
    fn call_initial(module, handle: i32) -> i32 {
        write_bytes(&module.get::<CallHandle>(handle)?.call.initial()?);
        Ok(0)
    }

    /// The next step of a file, whose bytes are these.
    fn call_step(
        module, handle: i32, is_first: i32, now_ms: f64, high: i64, low: i64, path_length: i32, bytes_length: i32
    ) -> i32 {
        let [path, bytes] = module.input([path_length, bytes_length.max(0)])?;
        let (path, bytes) = (utf8(path)?.into(), (bytes_length >= 0).then(|| bytes.into()));
        let seen = FileSeen { bytes, path, now_ms: now_ms as i64, random: random(high, low) };
        match module.get_mut::<CallHandle>(handle)?.call.step(seen, is_first != 0) {
            FileStep::Done => Ok(0),
            FileStep::Write { offset, bytes, .. } => {
                module.answer(&[offset as f64]);
                write_bytes(&bytes[..]);
                Ok(1)
            }
        }
    }

    /// A listing found a file with this name and these bytes.
    fn call_found(module, handle: i32, now_ms: f64, name_length: i32, bytes_length: i32) -> i32 {
        let [name, bytes] = module.input([name_length, bytes_length])?;
        let (name, bytes) = (String::from(utf8(name)?), Vec::from(bytes));
        module.get_mut::<CallHandle>(handle)?.call.found(&name, &bytes, now_ms as i64);
        Ok(0)
    }

    /// It ended, or no response came.
    fn call_end(module, handle: i32, how: i32, number: i32, length: i32) -> i32 {
        let [text] = module.texts([length])?;
        let text = text.into();
        let how = match how {
            0 => HostEnd::Done,
            1 => HostEnd::No,
            2 if number != 0 => HostEnd::Error(given_error(module, number, length)?),
            2 | 3 => HostEnd::Text(text),
            4 => HostEnd::TimedOut,
            5 => HostEnd::ConnectTimedOut,
            _ => return Err(Error::invalid("how", how, "0 to 5").into()),
        };
        end(module, handle, how)
    }

    /// An operation of the host failed.
    fn call_failed(
        module, handle: i32, action: i32, kind: i32, path_length: i32, text_length: i32, user_length: i32
    ) -> i32 {
        let [path, text, user] = module.texts([path_length, text_length, user_length])?;
        let action = *ACTIONS.get(action as usize).unwrap_or(&FileAction::SyncName);
        let kind = *KINDS.get(kind as usize).unwrap_or(&IoKind::Other);
        let failure = IoFailure { kind, text: text.into(), user: user.into() };
        let how = HostEnd::Io(action, path.into(), failure);
        end(module, handle, how)
    }

    /// What the user's `claim`, `renew` or `peer_times` answered.
    fn call_answered(
        module, handle: i32, worker_id: f64, from_ms: f64, until_ms: f64, lease_ms: f64, token_length: i32,
        times_length: i32
    ) -> i32 {
        let [token, times] = module.input([token_length.max(0), times_length])?;
        let token = if token_length < 0 { None } else { Some(utf8(token)?.into()) };
        let peer_times_ms = times.as_chunks().0.iter().map(|&time| i64::from_le_bytes(time)).collect();
        let how = match module.get::<CallHandle>(handle)?.call.of_run() {
            Some(RunCall::PeerTimes(_)) => HostEnd::Times(peer_times_ms),
            Some(RunCall::Renew(_)) => HostEnd::Renewed(Renewal {
                worker_id: optional("worker_id", worker_id)?,
                until_ms: whole("until_ms", until_ms)?,
                lease_ms: optional("lease_ms", lease_ms)?,
                token,
            }),
            _ => {
                let worker_id = whole("worker_id", worker_id)?;
                HostEnd::Claimed(match optional("from_ms", from_ms)? {
                    None => Claimed::Id(worker_id),
                    Some(from_ms) => {
                        let until_ms = whole("until_ms", until_ms)?;
                        let lease_ms = optional("lease_ms", lease_ms)?;
                        let lease = Lease { worker_id, from_ms, until_ms, lease_ms, token, peer_times_ms };
                        Claimed::Lease(lease, Duration::ZERO)
                    }
                })
            }
        };
        end(module, handle, how)
    }

    /// The answer of the user's `fetch`: a segment.
    #[cfg(feature = "segments")]
    fn call_fetched(module, handle: i32, start: i64, end: i64, stride: i64) -> i32 {
        self::end(module, handle, HostEnd::Fetched(Segment::new(start, end, stride)))
    }

    /// A response came. Returns 1 if its connection may serve another request.
    fn call_response(
        module, handle: i32, status: i32, flags: i32, location_length: i32, age_length: i32, length_length: i32,
        transfer_length: i32, body_length: i32
    ) -> i32 {
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
        let call = &mut module.get_mut::<CallHandle>(handle)?.call;
        Ok(call.response(&head, body, body_end)?.into())
    }
}
