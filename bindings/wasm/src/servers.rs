//! Requests to servers: which one is asked next, and which ones back off.

use crate::argument::duration;
use crate::ids::with_ids;
use crate::machine::Servers;
use crate::module::{CallFailed, Module, Result, call, given_error};
use alloc::string::String;
use alloc::vec::Vec;
use leafid_core::wire::{Response, Verdict};
use leafid_core::{Code, Error, FailOver, FailOverAction, RequestEnd, ServerFailure, ServersHealth};

/// Healthy servers, this number of them.
#[unsafe(no_mangle)]
extern "C" fn servers_new(count: i32) -> i32 {
    call(|module| {
        let count = count.clamp(1, 64) as usize;
        let health = ServersHealth::new(count);
        Ok(module.add(Servers { health, count, requests: Vec::new(), number: 0 }))
    })
}

/// How long until any server may be asked, in milliseconds; 0 if one may be asked now.
#[unsafe(no_mangle)]
extern "C" fn servers_back_off_ms(servers: i32, urgent: i32, boot_ms: f64) -> f64 {
    call(|module| {
        let servers = module.get::<Servers>(servers)?;
        Ok(servers.health.back_off_ms(boot_ms as i64, urgent != 0).map_or(0.0, |ms| ms as f64))
    })
}

/// 1 if every server has denied this tag.
#[unsafe(no_mangle)]
extern "C" fn servers_deny(servers: i32, tag_length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        Ok(module.get::<Servers>(servers)?.health.denies(tag).into())
    })
}

/// The last error of the server at this place, or 0.
#[unsafe(no_mangle)]
extern "C" fn servers_error(servers: i32, at: i32) -> i32 {
    call(|module| {
        let mut errors = module.get::<Servers>(servers)?.health.last_errors();
        errors.nth(at as usize).flatten().cloned().map_or(Ok(0), |error| Err(CallFailed::from(error)))
    })
}

/// A request for a tag, or for "" if all requests are alike; returns its number. `once`: as of the request's answer.
#[unsafe(no_mangle)]
extern "C" fn request_new(
    servers: i32,
    tag_length: i32,
    urgent: i32,
    once: i32,
    nonce_high: i64,
    nonce_low: i64,
    connect_timeout_ms: f64,
) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        let tag = String::from(tag);
        let nonce = u128::from(nonce_high as u64) << 64 | u128::from(nonce_low as u64);
        let servers = module.get_mut::<Servers>(servers)?;
        let connect = duration(connect_timeout_ms);
        let request = FailOver::new(tag, urgent != 0, once != 0, nonce, servers.count, connect);
        // Nobody makes 2^31 requests and ends none.
        servers.number = servers.number.wrapping_add(1) & i32::MAX;
        servers.requests.push((servers.number, request));
        Ok(servers.number)
    })
}

/// Changes a request and the health of its servers.
fn with_request<R>(
    module: &mut Module,
    servers: i32,
    request: i32,
    change: impl FnOnce(&mut FailOver<String>, &mut ServersHealth) -> R,
) -> Result<R> {
    let Servers { health, requests, .. } = module.get_mut::<Servers>(servers)?;
    let (_, request) = requests.iter_mut().find(|(number, _)| *number == request).ok_or_else(|| {
        Error::new(Code::Closed, alloc::format!("request {request} has ended, or was not made"))
    })?;
    Ok(change(request, health))
}

/// Where to send the request next: the server's place, the longest duration in milliseconds, and as ids the halves of
/// the nonce. Or the error of all of the request. `left_ms`: the time that is left for it.
#[unsafe(no_mangle)]
extern "C" fn request_poll(servers: i32, request: i32, boot_ms: f64, left_ms: f64) -> i32 {
    call(|module| {
        let left = duration(left_ms);
        let now_ms = boot_ms as i64;
        let action =
            with_request(module, servers, request, |asked, health| asked.poll(health, now_ms, left))?;
        match action {
            FailOverAction::Stop(error) => Err(error.into()),
            FailOverAction::Send { server, nonce, within, .. } => {
                module.answer(&[server as f64, within.as_millis() as f64]);
                with_ids(|ids| {
                    ids[..2].copy_from_slice(&[(nonce >> 64) as i64, nonce as i64]);
                });
                Ok(0)
            }
        }
    })
}

/// Ends the sent request: 1 if all of it has succeeded, 0 to poll for the next server; or its error.
fn ended(module: &mut Module, servers: i32, request: i32, end: RequestEnd, boot_ms: f64) -> Result<i32> {
    let now_ms = boot_ms as i64;
    let ended = with_request(module, servers, request, |asked, health| asked.ended(health, end, now_ms))?;
    let Some(result) = ended else { return Ok(0) };
    result?;
    Ok(1)
}

/// The response was judged so: 0 to 4, and the number of an error. The input is the error's message, and the server's
/// URL.
#[unsafe(no_mangle)]
extern "C" fn request_judged(
    servers: i32,
    request: i32,
    response: i32,
    judgement: i32,
    number: i32,
    message_length: i32,
    server_length: i32,
    boot_ms: f64,
) -> i32 {
    call(|module| {
        let [_, server] = module.texts([message_length, server_length])?;
        let error = || given_error(module, number, message_length);
        let failure = |denied| {
            let response = module.get::<Response>(response)?;
            Result::Ok(response.server_failure(server, error()?, denied))
        };
        let verdict = match judgement {
            0 => Verdict::Answer(()),
            1 => Verdict::Refused(error()?),
            2 => Verdict::TryNext(error()?),
            3 => Verdict::BadServer(failure(false)?),
            4 => Verdict::Denied(failure(true)?),
            _ => return Err(Error::invalid("judgement", judgement, "0 to 4").into()),
        };
        ended(module, servers, request, RequestEnd::Response(verdict), boot_ms)
    })
}

/// No response came. The input is the error's message, for this request and for others.
#[unsafe(no_mangle)]
extern "C" fn request_unanswered(
    servers: i32,
    request: i32,
    number: i32,
    message_length: i32,
    others_length: i32,
    boot_ms: f64,
) -> i32 {
    call(|module| {
        let error = given_error(module, number, message_length)?;
        let [_, others] = module.texts([message_length, others_length])?;
        let of_server = Error::new(error.code(), others);
        let failure = ServerFailure { error, of_server, is_whole: true, is_denied: false };
        ended(module, servers, request, RequestEnd::None(failure), boot_ms)
    })
}

/// The request is over: no further server is asked, and its number is gone.
#[unsafe(no_mangle)]
extern "C" fn request_end(servers: i32, request: i32) -> i32 {
    call(|module| {
        let Servers { health, requests, .. } = module.get_mut::<Servers>(servers)?;
        if let Some(at) = requests.iter().position(|(number, _)| *number == request) {
            requests.swap_remove(at).1.cancelled(health);
        }
        Ok(0)
    })
}
