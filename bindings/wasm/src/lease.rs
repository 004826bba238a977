//! Leases of worker ids: their spans, the schedule of renewals, and what follows a loss.

use crate::argument::{duration, ms, optional, whole};
use crate::fetch::given_error;
use crate::machine::RenewalResult;
use crate::module::{Result, call, code, write};
use alloc::string::String;
use alloc::vec::Vec;
use leafid_core::{
    Code, Error, HeldLease, Layout, Lease, LeaseClaim, LeaseClaims, LeaseLoss, LossAction,
    PEERS_THRESHOLD_MS, Renewal, RenewalAnswer, RenewalEnd, Rules, Span, peers_agree,
};

/// A lease that the host's own source granted. NaN as `lease_ms`, and -1 as the token's length: there is none.
#[unsafe(no_mangle)]
extern "C" fn lease_new(
    worker_id: f64,
    from_ms: f64,
    until_ms: f64,
    lease_ms: f64,
    token_length: i32,
) -> i32 {
    call(|module| {
        let [token] = module.texts([token_length.max(0)])?;
        let lease = Lease {
            worker_id: whole("worker_id", worker_id)?,
            from_ms: whole("from_ms", from_ms)?,
            until_ms: whole("until_ms", until_ms)?,
            lease_ms: optional("lease_ms", lease_ms)?,
            token: (token_length >= 0).then(|| token.into()),
            peer_times_ms: Vec::new(),
        };
        Ok(module.add(lease))
    })
}

/// The worker id, the start and the end of the span, how long it is kept (NaN: until its end), and 1 if it has a token,
/// which is the output.
#[unsafe(no_mangle)]
extern "C" fn lease_fields(lease: i32) -> i32 {
    call(|module| {
        let lease = module.get::<Lease>(lease)?.clone();
        module.answer(&[
            lease.worker_id as f64,
            lease.from_ms as f64,
            lease.until_ms as f64,
            lease.lease_ms.map_or(f64::NAN, |ms| ms as f64),
            u8::from(lease.token.is_some()).into(),
        ]);
        write(&[lease.token.as_deref().unwrap_or_default()]);
        Ok(0)
    })
}

/// The claims that no server has answered, of all servers: none yet.
#[unsafe(no_mangle)]
extern "C" fn claims_new() -> i32 {
    call(|module| Ok(module.add(LeaseClaims::default())))
}

/// The claim to send, by the servers and the id space: `instance` as the output, and the boot time before it was sent
/// first. It is the unanswered one, or else this new one.
#[unsafe(no_mangle)]
extern "C" fn claim_begin(claims: i32, key_length: i32, instance_length: i32, asked_ms: f64) -> i32 {
    call(|module| {
        let [key, instance] = module.texts([key_length, instance_length])?;
        let (key, new) =
            (String::from(key), LeaseClaim { instance: instance.into(), asked: duration(asked_ms) });
        let claim = module.get_mut::<LeaseClaims>(claims)?.begin(&key, new);
        module.answer(&[ms(claim.asked)]);
        write(&[&claim.instance]);
        Ok(0)
    })
}

/// A claim failed with this error, whose message is the last input. The error of the call is the one for the caller.
#[unsafe(no_mangle)]
extern "C" fn claim_failed(
    claims: i32,
    key_length: i32,
    instance_length: i32,
    asked_ms: f64,
    number: i32,
    message_length: i32,
) -> i32 {
    call(|module| {
        let [key, instance, message] = module.texts([key_length, instance_length, message_length])?;
        let claim = LeaseClaim { instance: instance.into(), asked: duration(asked_ms) };
        let (key, error) = (String::from(key), Error::new(code(number)?, message));
        Err(module.get_mut::<LeaseClaims>(claims)?.failed(key, claim, error).into())
    })
}

/// The ticks of a lease: its first one, and the first one after it.
#[unsafe(no_mangle)]
extern "C" fn lease_span(lease: i32, layout: i32, rules: i32, now_ms: f64) -> i32 {
    call(|module| {
        let (layout, rules) = (module.get::<Layout>(layout)?, module.get::<Rules>(rules)?);
        let span = module.get::<Lease>(lease)?.span(layout, rules, now_ms as i64)?;
        module.answer(&[span.from as f64, span.until as f64]);
        Ok(0)
    })
}

/// Compares the clock with those of the lease's peers.
#[unsafe(no_mangle)]
extern "C" fn lease_check_peers(lease: i32, now_ms: f64) -> i32 {
    call(|module| {
        let peers = &module.get::<Lease>(lease)?.peer_times_ms;
        peers_agree(now_ms as i64, peers, PEERS_THRESHOLD_MS)?;
        Ok(0)
    })
}

/// Compares the clock with those of peers. The input is their readings, each an i64 of Unix milliseconds.
#[unsafe(no_mangle)]
extern "C" fn peers_check(length: i32, now_ms: f64) -> i32 {
    call(|module| {
        let [bytes] = module.input([length])?;
        let times: Vec<i64> = bytes.as_chunks().0.iter().map(|&time| i64::from_le_bytes(time)).collect();
        peers_agree(now_ms as i64, &times, PEERS_THRESHOLD_MS)?;
        Ok(0)
    })
}

/// The schedule of a lease whose ticks end at `until`. `asked_ms` is the boot time before the claim. A call that takes
/// longer than `patience_ms` counts as hanging.
#[unsafe(no_mangle)]
extern "C" fn held_new(lease: i32, until: f64, asked_ms: f64, now_ms: f64, patience_ms: f64) -> i32 {
    call(|module| {
        let lease = module.get::<Lease>(lease)?.clone();
        let span = Span { from: 0, until: until as u64 };
        let held = HeldLease::new(lease, span, duration(asked_ms), now_ms as i64, duration(patience_ms));
        Ok(module.add(held))
    })
}

/// The next call of the lease source: 0 if none is due, else the lease to renew, a new handle, and the end to ask for.
#[unsafe(no_mangle)]
extern "C" fn held_begin_call(held: i32, boot_ms: f64, now_ms: f64, waited_for: i32) -> i32 {
    call(|module| {
        let held = module.get_mut::<HeldLease>(held)?;
        let Some(request) = held.begin_call(duration(boot_ms), now_ms as i64, waited_for != 0) else {
            return Ok(0);
        };
        module.answer(&[request.wish_ms as f64]);
        Ok(module.add(request.lease))
    })
}

/// What the host's own source answered: a renewal. NaN and -1 keep what was there.
#[unsafe(no_mangle)]
extern "C" fn renewal_new(until_ms: f64, lease_ms: f64, token_length: i32) -> i32 {
    call(|module| {
        let [token] = module.texts([token_length.max(0)])?;
        let renewal = Renewal {
            worker_id: None,
            until_ms: whole("until_ms", until_ms)?,
            lease_ms: optional("lease_ms", lease_ms)?,
            token: (token_length >= 0).then(|| token.into()),
        };
        Ok(module.add(RenewalResult(RenewalAnswer::Renewed(renewal))))
    })
}

/// What the host's own source answered: that another holder has the id (number 0), or an error, which is `worker_lost`
/// if it says so. A negative number is an error that says nothing about the lease.
#[unsafe(no_mangle)]
extern "C" fn renewal_failed(number: i32, message_length: i32) -> i32 {
    call(|module| {
        let answer = match number {
            0 => RenewalAnswer::NotHeld,
            ..0 => RenewalAnswer::Failed(given_error(module, -number, message_length)?),
            number => match given_error(module, number, message_length)? {
                error if error.code() == Code::WorkerLost => RenewalAnswer::Lost(error),
                error => RenewalAnswer::Failed(error),
            },
        };
        Ok(module.add(RenewalResult(answer)))
    })
}

/// The call has ended with this result. `asked_ms` is the boot time before it. 0: the lease is kept. Else the answer is
/// an error's number and the output its message; 1: it was not renewed, and may be used to its end; 2: it is lost.
#[unsafe(no_mangle)]
extern "C" fn held_take(
    held: i32,
    result: i32,
    layout: i32,
    asked_ms: f64,
    boot_ms: f64,
    now_ms: f64,
) -> i32 {
    call(|module| {
        let layout = *module.get::<Layout>(layout)?;
        let answer = module.get::<RenewalResult>(result)?.0.clone();
        let held = module.get_mut::<HeldLease>(held)?;
        let end = held.call_ended(answer, &layout, duration(asked_ms), duration(boot_ms), now_ms as i64);
        let (number, error) = match end {
            RenewalEnd::Kept => return Ok(0),
            RenewalEnd::Failed(error) => (1, error),
            RenewalEnd::Lost(error) => (2, error),
        };
        module.answer_error(&error);
        Ok(number)
    })
}

/// The first tick that may not be used now.
#[unsafe(no_mangle)]
extern "C" fn held_bound(held: i32, boot_ms: f64) -> f64 {
    call(|module| Ok(module.get::<HeldLease>(held)?.bound(duration(boot_ms)) as f64))
}

/// How long until the next useful `held_begin_call`, in milliseconds.
#[unsafe(no_mangle)]
extern "C" fn held_due_in_ms(held: i32, boot_ms: f64) -> f64 {
    call(|module| Ok(ms(module.get::<HeldLease>(held)?.due_in(duration(boot_ms)))))
}

/// Whether the lease is used up and its renewal failed: then the answer is 1, the number of the error, and the output
/// its message. `tick` is the clock's.
#[unsafe(no_mangle)]
extern "C" fn held_is_over(held: i32, boot_ms: f64, tick: f64) -> i32 {
    call(|module| {
        let held = module.get::<HeldLease>(held)?;
        if !held.is_over(duration(boot_ms), tick as u64) {
            return Ok(0);
        }
        let error = held.used_up(duration(boot_ms));
        module.answer_error(&error);
        Ok(1)
    })
}

/// The current lease, a new handle.
#[unsafe(no_mangle)]
extern "C" fn held_lease(held: i32) -> i32 {
    call(|module| {
        let lease = module.get::<HeldLease>(held)?.lease().clone();
        Ok(module.add(lease))
    })
}

/// The lease to release at a close, a new handle; 0 if it is lost. `late` is the result of a call that ended after the
/// close, or 0.
#[unsafe(no_mangle)]
extern "C" fn held_released(held: i32, late: i32) -> i32 {
    call(|module| {
        let late = match late {
            0 => None,
            late => Some(module.get::<RenewalResult>(late)?.0.clone()),
        };
        let lease = module.get::<HeldLease>(held)?.clone().into_released(late);
        Ok(lease.map_or(0, |lease| module.add(lease)))
    })
}

/// A loss of a lease, because of the error of this number, whose message is the input. `losses` is the number of losses
/// in a row before. Callers wait for `timeout_ms` before they get an error.
#[unsafe(no_mangle)]
extern "C" fn loss_new(
    worker_id: f64,
    number: i32,
    message_length: i32,
    losses: f64,
    boot_ms: f64,
    timeout_ms: f64,
) -> i32 {
    call(|module| {
        let error = given_error(module, number, message_length)?;
        let (boot_time, timeout) = (duration(boot_ms), duration(timeout_ms));
        let loss = LeaseLoss::new(worker_id as u32, error, losses as u32, boot_time, timeout);
        Ok(module.add(loss))
    })
}

/// What to do: 0 claim, and the answer is the round; 1 wait this long, in milliseconds, and so do callers; 2 the same, and callers get the
/// error whose number is the second answer, and whose message is the output.
#[unsafe(no_mangle)]
extern "C" fn loss_poll(loss: i32, boot_ms: f64, patience_ms: f64, waited_for: i32) -> i32 {
    call(|module| {
        let loss = module.get_mut::<LeaseLoss>(loss)?;
        Ok(match loss.poll(duration(boot_ms), duration(patience_ms), waited_for != 0) {
            LossAction::Claim(round) => {
                module.answer(&[round as f64]);
                0
            }
            LossAction::Wait(wait) => {
                module.answer(&[ms(wait)]);
                1
            }
            LossAction::Failed(error, wait) => {
                module.answer(&[ms(wait), error.code().number().into()]);
                write(&[error.message()]);
                2
            }
        })
    })
}

/// The claim of this round failed: 1, or 0 if it had been given up before.
#[unsafe(no_mangle)]
extern "C" fn loss_claim_failed(
    loss: i32,
    round: f64,
    number: i32,
    message_length: i32,
    boot_ms: f64,
) -> i32 {
    call(|module| -> Result<i32> {
        let error = given_error(module, number, message_length)?;
        let loss = module.get_mut::<LeaseLoss>(loss)?;
        let is_current = loss.is_current(round as u64);
        loss.claim_failed(round as u64, &error, duration(boot_ms));
        Ok(is_current.into())
    })
}
