//! The error of a caller that got no ids, from what is known of its tag and of the source by then.

use super::fetch_texts::{LateCall, gone, late_at_store, would_block};
use super::fetches::Fetches;
use super::settings::TagId;
use super::tag_supply::TagSupply;
use super::tickets::{Caller, Outcome};
use crate::Error;
use core::time::Duration;

/// The error of a caller that ended in this way.
pub(super) fn error_of(fetches: &Fetches, caller: &Caller, outcome: Outcome) -> Error {
    let needs = &fetches.needs;
    let tag = needs.tags.get(&caller.tag).ok_or_else(|| gone(needs.is_closed));
    let (tag, at) = match (tag, outcome) {
        // Its own error, whatever has become of its tag.
        (_, Outcome::Failed(error)) | (Err(error), _) => return error,
        (Ok(tag), Outcome::WouldBlock) => {
            return would_block(&tag.name, needs.settings.source.is_deferred());
        }
        (Ok(tag), Outcome::Late(_)) if tag.held.is_some() => {
            return late_at_store(&tag.name, tag.fetch.error());
        }
        (Ok(tag), Outcome::Late(at)) => (tag, at),
        (Ok(_), Outcome::Given | Outcome::Range(_)) => return gone(needs.is_closed),
    };
    let asked_at = caller.call.and(caller.waits_since).or(asked_at(tag));
    late(fetches, caller.tag, tag, (caller.timeout, asked_at, at))
}

/// The error of a caller that has waited for so long elsewhere.
pub(super) fn late_of(fetches: &Fetches, id: TagId, waited: Duration, now: Duration) -> Error {
    match fetches.needs.tags.get(&id).filter(|_| !fetches.needs.is_closed) {
        Some(tag) => late(fetches, id, tag, (waited, asked_at(tag), now)),
        None => gone(fetches.needs.is_closed),
    }
}

/// When the running fetch of a tag began.
fn asked_at(tag: &TagSupply) -> Option<Duration> {
    tag.work.as_ref().map(|work| work.began)
}

/// Of a caller that has waited for so long at `at`. `asked_at`: when its source was asked.
fn late(
    fetches: &Fetches,
    id: TagId,
    tag: &TagSupply,
    (waited, asked_at, at): (Duration, Option<Duration>, Duration),
) -> Error {
    let needs = &fetches.needs;
    let breaker = &needs.breaker;
    let down = || {
        let failed = needs.tags.get(breaker.last_failed().filter(|_| breaker.is_down())?)?;
        Some((&*failed.name, failed.fetch.error()?))
    };
    let since = match &fetches.singles {
        Some(singles) => asked_at.and_then(|_| singles.silent_since(id)),
        None => asked_at,
    };
    let late = LateCall {
        tag: &tag.name,
        waited,
        error: tag.fetch.error(),
        is_asked: asked_at.is_some(),
        silent_for: since.map(|since| at.saturating_sub(since)),
        down: if asked_at.is_none() { down() } else { None },
        is_full: breaker.is_full(),
    };
    late.error()
}
