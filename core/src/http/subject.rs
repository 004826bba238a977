//! What an exchange is about: the request of each protocol, and the meaning of its response.

use crate::wire::leaf::LeafMode;
use crate::wire::range::RangeRequest;
use crate::wire::tinyid::TinyidRequest;
use crate::wire::{Request, Response, Verdict, lease_server};
use crate::{Error, Fetched, Lease, LeaseClaim, RenewalAnswer};
use alloc::format;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

/// What is asked of the servers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Subject {
    /// A worker id. `instance`: of the claim that had no answer; otherwise the first request draws one.
    Claim { name: String, instance: Option<String>, asked: Duration, now_ms: i64, until_ms: i64 },
    /// A renewal of a lease.
    Renewal { name: String, lease: Lease, until_ms: i64 },
    /// The end of a lease.
    Release { name: String, lease: Lease, until_ms: i64 },
    /// Ids in leafid's own protocol.
    Range { tag: String, step: i64, after: i64, ordered: bool },
    /// One id, or one block of ids, of a Leaf.
    Leaf { mode: LeafMode, tag: String },
    /// Ids of a tinyid. `unexplained`: there were none, and the reason is asked for.
    Tinyid { tag: String, token: String, unexplained: Option<Error> },
}

/// A correct response.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum HttpAnswer {
    Lease(Lease),
    Renewal(RenewalAnswer),
    Released,
    Ids(Fetched),
}

impl Subject {
    /// The tag; "" if all requests are alike.
    pub(crate) fn tag(&self) -> &str {
        match self {
            Subject::Claim { .. } | Subject::Renewal { .. } | Subject::Release { .. } => "",
            Subject::Range { tag, .. } | Subject::Leaf { tag, .. } | Subject::Tinyid { tag, .. } => tag,
        }
    }

    /// Whether it is about a lease of a worker id.
    pub(crate) fn is_of_leases(&self) -> bool {
        matches!(self, Subject::Claim { .. } | Subject::Renewal { .. } | Subject::Release { .. })
    }

    /// Whether the text of a correct response shows that it is whole, as JSON does and digits do not.
    pub(crate) fn is_self_evident(&self) -> bool {
        !matches!(self, Subject::Leaf { .. } | Subject::Tinyid { unexplained: None, .. })
    }

    /// The request with this random number, which proves that a response belongs to it.
    pub(crate) fn request(&self, random: u128) -> Request {
        match self {
            Subject::Claim { name, now_ms, until_ms, .. } => {
                lease_server::claim(name, &self.echo(random), *now_ms, *until_ms)
            }
            Subject::Renewal { name, lease, until_ms } => {
                lease_server::renewal(name, lease, *until_ms, &self.echo(random))
            }
            Subject::Release { name, lease, until_ms } => lease_server::release(name, lease, *until_ms),
            Subject::Range { tag, step, after, ordered } => {
                range(tag, *step, *after, *ordered).request(random)
            }
            Subject::Leaf { mode, tag } => mode.request(tag, random),
            Subject::Tinyid { tag, token, unexplained: None } => TinyidRequest { tag, token }.ids(random),
            Subject::Tinyid { tag, token, .. } => TinyidRequest { tag, token }.reason(random),
        }
    }

    /// The meaning of the response to the request with this random number.
    pub(crate) fn judge(&self, reply: &Response, random: u128) -> Verdict<HttpAnswer> {
        match self {
            Subject::Claim { name, .. } => {
                lease_server::judge_claim(reply, name, &self.echo(random)).map(HttpAnswer::Lease)
            }
            Subject::Renewal { .. } => {
                lease_server::judge_renewal(reply, &self.echo(random)).map(HttpAnswer::Renewal)
            }
            Subject::Release { .. } => lease_server::judge_release(reply).map(|()| HttpAnswer::Released),
            Subject::Range { tag, step, after, ordered } => {
                range(tag, *step, *after, *ordered).judge(reply, random).map(HttpAnswer::Ids)
            }
            Subject::Leaf { mode, tag } => {
                mode.judge(reply, tag).map(|segment| HttpAnswer::Ids(segment.into()))
            }
            Subject::Tinyid { tag, token, unexplained } => {
                match (TinyidRequest { tag, token }, unexplained) {
                    (request, None) => {
                        request.judge_ids(reply).map(|segment| HttpAnswer::Ids(segment.into()))
                    }
                    (request, Some(error)) => request.judge_reason(reply, error),
                }
            }
        }
    }

    /// The text that a lease server repeats: the `instance` of a claim, or the `nonce` of a renewal.
    pub(crate) fn echo(&self, random: u128) -> String {
        match self {
            Subject::Claim { instance: Some(instance), .. } => instance.clone(),
            _ => format!("{random:032x}"),
        }
    }

    /// The claim, once it has an `instance`: its own, or the one of this random number, with which it was sent.
    pub(crate) fn claim(&self, random: Option<u128>) -> Option<LeaseClaim> {
        match self {
            Subject::Claim { instance, asked, .. } => {
                let instance = instance.clone().or_else(|| random.map(|random| self.echo(random)))?;
                Some(LeaseClaim { instance, asked: *asked })
            }
            _ => None,
        }
    }

    /// The claim is sent with this `instance` from now on.
    pub(crate) fn name_claim(&mut self, claim: LeaseClaim) {
        if let Subject::Claim { instance, .. } = self {
            *instance = Some(claim.instance);
        }
    }
}

fn range(tag: &str, step: i64, after: i64, ordered: bool) -> RangeRequest<'_> {
    RangeRequest { tag, step, after, ordered }
}

/// Without the tokens, which are secret.
impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Claim { name, .. } => write!(f, "claim {name}"),
            Subject::Renewal { name, lease, .. } => write!(f, "renew {name} {}", lease.worker_id),
            Subject::Release { name, lease, .. } => write!(f, "release {name} {}", lease.worker_id),
            Subject::Range { tag, step, after, .. } => write!(f, "range {tag} {step} after {after}"),
            Subject::Leaf { tag, .. } => write!(f, "leaf {tag}"),
            Subject::Tinyid { tag, unexplained: None, .. } => write!(f, "tinyid {tag}"),
            Subject::Tinyid { tag, .. } => write!(f, "tinyid {tag}: the reason"),
        }
    }
}
