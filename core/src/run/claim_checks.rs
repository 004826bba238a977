//! What a claim checks: the clocks of peers, which worker ids it may take, and whether a leased one is held on this host.

use crate::format::state::StoredRecord;
use crate::quoted::Quoted;
use crate::run::call_end::{Holder, SourceFailure};
use crate::run::moment::Moment;
use crate::run::record_open::{RecordPeeked, record_file_name};
use crate::run::settings::Workers;
use crate::snowflake::claim_search::ClaimCandidates;
use crate::snowflake::{PEERS_THRESHOLD_MS, peers_agree};
use crate::spelling::name::PEER_TIMES;
use crate::{Code, Error, Lease, Result};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

/// Whether a worker id whose lease ends by itself is held on this host: [`Lease::is_held_here`].
pub(super) fn is_held_here(lease: &Lease, error: &Error, m: &Moment<'_>) -> bool {
    let ends = m.settings.workers.are_of_servers() || m.settings.leases_end;
    ends && lease.is_held_here(error, &m.settings.layout, &m.rules(), m.now_ms)
}

/// Checks what a source gave: the clocks of its other holders, and whether a lease came where leases come.
pub(super) fn check(lease: Option<&Lease>, m: &Moment<'_>) -> Result<()> {
    let peers = lease.map_or(&[][..], |lease| &lease.peer_times_ms);
    peers_agree(m.now_ms, peers, PEERS_THRESHOLD_MS)?;
    if lease.is_some() == m.settings.workers.leases() {
        return Ok(());
    }
    let message = "a source of leases gave none, or a source without leases gave one; report this";
    Err(Error::new(Code::Internal, message))
}

/// A record that was read before an id is taken, of this layout, and of this machine where all must be.
pub(super) fn of_place(peeked: RecordPeeked, m: &Moment<'_>) -> Result<Option<StoredRecord>> {
    let found = peeked.into_result()?;
    found.iter().try_for_each(|found| m.place.check_machine(found))?;
    Ok(found)
}

/// The worker ids of which a claim takes one. `offline`: those with cached leases, and why no server is reachable;
/// `claimed`: that of the source.
pub(super) fn candidates(
    offline: Option<&(Vec<u32>, Error)>,
    claimed: Option<i64>,
    m: &Moment<'_>,
) -> Result<ClaimCandidates> {
    if let Some((ids, why)) = offline {
        return Ok(ClaimCandidates::Cached { worker_ids: ids.clone(), why: why.clone() });
    }
    match (&m.settings.workers, claimed) {
        (Workers::Within { first, last }, _) if first == last => Ok(ClaimCandidates::One(*first)),
        (Workers::Within { first, last }, _) => Ok(ClaimCandidates::Within { first: *first, last: *last }),
        (_, Some(worker_id)) => m.settings.layout.claimed_id(worker_id).map(ClaimCandidates::One),
        (_, None) => {
            Err(Error::new(Code::Internal, "a worker id was claimed without its source; report this"))
        }
    }
}

/// Compares the clock with those of peers. Errors: `clock_backwards`; `invalid_argument` if the callback gave it. Any
/// other failure is logged: unreachable peers must not prevent a start.
pub(super) fn agree(
    times_ms: core::result::Result<Vec<i64>, SourceFailure>,
    before_ms: i64,
    m: &mut Moment<'_>,
) -> Result<()> {
    let text = match times_ms {
        // Either reading may fit, because a slow callback is not a wrong clock.
        Ok(times_ms) => {
            return peers_agree(before_ms, &times_ms, PEERS_THRESHOLD_MS)
                .or_else(|_| peers_agree(m.now_ms, &times_ms, PEERS_THRESHOLD_MS));
        }
        Err(SourceFailure::Coded(error)) if error.code() == Code::InvalidArgument => return Err(error),
        Err(SourceFailure::NotBegun(failure)) => {
            m.notices.warn(format!("{}; the start continues without {PEER_TIMES}", failure.of_peer_times()));
            return Ok(());
        }
        Err(SourceFailure::Coded(error)) => error.to_string(),
        Err(SourceFailure::Text(text)) => text,
        Err(SourceFailure::Panicked) => format!("{PEER_TIMES} panicked"),
    };
    m.notices
        .warn(format!("the clocks of the peers are not known: {text}; the start continues without them"));
    Ok(())
}

/// A worker id of a range that another user holds.
pub(super) fn tell_of_stranger(worker_id: u32, holder: Holder, m: &mut Moment<'_>) {
    if let Some(uid) = holder.stranger.filter(|_| m.settings.persist) {
        m.notices.warn(format!(
            "worker id {worker_id} of {} is locked on this host by user id {uid}, which cannot open {}/{}; the next worker \
             id of the range is tried",
            Quoted(&m.settings.name),
            m.place.directory,
            record_file_name(worker_id)
        ));
    }
}
