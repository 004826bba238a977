//! Leases in the form for C.

use leafid::{Error, Lease, Renewal, Result, refused};
use std::ffi::{CStr, c_char};

/// Bytes of a lease's token, its NUL included.
pub const LEAFID_TOKEN_SIZE: usize = 256;

/// The most clocks of peers that a lease or leafid_peer_times_fn can name.
pub const LEAFID_MOST_PEERS: usize = 64;

/// The argument of a claim. New fields are added only at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct leafid_claim_request {
    /// sizeof(leafid_claim_request) as the library knows it. Do not read beyond it.
    pub size: usize,
    /// The id space.
    pub name: *const c_char,
    /// 128 random bits in hex, new for each claim.
    pub instance: *const c_char,
    /// The worker id that this generator held before, or its parent process: -1 at the first claim.
    pub previous: i64,
    /// The clock, Unix milliseconds.
    pub now_ms: i64,
    /// The requested end of the span, Unix milliseconds. You may grant more or less.
    pub until_ms: i64,
}

/// A worker id and a span of time in which only one generator uses it. New fields are added only at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct leafid_lease {
    /// sizeof(leafid_lease) as the library knows it. Do not read or write beyond it.
    pub size: usize,
    /// The worker id.
    pub worker_id: i64,
    /// The start of the span, Unix milliseconds: at or above the until_ms of every earlier holder.
    pub from_ms: i64,
    /// The end of the span, exclusive, Unix milliseconds, at most a week ahead. Store it before you return it, and
    /// lower it only for a release.
    pub until_ms: i64,
    /// How long the lease source keeps the id for this holder without a renewal, milliseconds, at most a week; 0:
    /// until until_ms.
    pub lease_ms: i64,
    /// The text by which the lease source knows this holder, UTF-8 that ends with a NUL; may be empty. renew and
    /// release get it back.
    pub token: [c_char; LEAFID_TOKEN_SIZE],
    /// The clocks of other holders, Unix milliseconds. With three or more, a clock that differs by 10 s or more from
    /// their median is refused with LEAFID_CLOCK_BACKWARDS.
    pub peer_times_ms: [i64; LEAFID_MOST_PEERS],
    /// The number of these clocks.
    pub peers: usize,
}

impl leafid_lease {
    /// The struct for a claim to fill in. Its worker id is invalid, so that a missing one is refused.
    pub(crate) fn empty() -> leafid_lease {
        leafid_lease {
            size: size_of::<leafid_lease>(),
            worker_id: -1,
            from_ms: 0,
            until_ms: 0,
            lease_ms: 0,
            token: [0; LEAFID_TOKEN_SIZE],
            peer_times_ms: [0; LEAFID_MOST_PEERS],
            peers: 0,
        }
    }

    /// A held lease without the peers, which count only at the claim.
    pub(crate) fn of(lease: &Lease) -> leafid_lease {
        let mut out = leafid_lease {
            worker_id: lease.worker_id,
            from_ms: lease.from_ms,
            until_ms: lease.until_ms,
            lease_ms: lease.lease_ms.unwrap_or(0),
            ..leafid_lease::empty()
        };
        // It fits with its NUL, because it was read from a field of this size.
        for (to, from) in out.token.iter_mut().zip(lease.token.iter().flat_map(|token| token.bytes())) {
            *to = from as c_char;
        }
        out
    }

    /// The result of a claim.
    pub(crate) fn read(&self) -> Result<Lease> {
        let peers = self.peer_times_ms.get(..self.peers).ok_or_else(|| {
            Error::invalid("peers", self.peers, &format!("as the claim's answer 0 to {LEAFID_MOST_PEERS}"))
        })?;
        Ok(Lease {
            worker_id: self.worker_id,
            from_ms: self.from_ms,
            until_ms: self.until_ms,
            lease_ms: (self.lease_ms != 0).then_some(self.lease_ms),
            token: self.token()?,
            peer_times_ms: peers.to_vec(),
        })
    }

    /// The result of a renewal.
    pub(crate) fn renewal(&self) -> Result<Renewal> {
        Ok(Renewal {
            worker_id: Some(self.worker_id),
            until_ms: self.until_ms,
            lease_ms: (self.lease_ms != 0).then_some(self.lease_ms),
            token: self.token()?,
        })
    }

    fn token(&self) -> Result<Option<String>> {
        let bytes = self.token.map(|byte| byte as u8);
        let text = CStr::from_bytes_until_nul(&bytes).ok().and_then(|text| text.to_str().ok());
        let Some(text) = text else {
            let allowed = format!("UTF-8 of at most {} bytes that ends with a NUL", LEAFID_TOKEN_SIZE - 1);
            return Err(refused("token", "", Some(&allowed)));
        };
        Ok((!text.is_empty()).then(|| text.to_owned()))
    }
}
