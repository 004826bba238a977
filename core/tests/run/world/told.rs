//! What a process learns of leases by the ends of its calls, and what it may do with them from then on.

use super::lease_server::Given;
use leafid_core::Layout;
use std::time::Duration;

/// What a process learns by the end of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Told {
    Nothing,
    Claimed(Given),
    /// The lease was cached by another process, which asked for it at this boot time.
    Cached(Given, Duration),
    Renewed {
        by: String,
        given: Given,
    },
    NotHeld {
        by: String,
    },
}

/// Why a lease is not released: another process may start with it, or its token is unknown, or no server may be asked
/// so soon after a failure.
const UNRELEASED: [&str; 2] = ["its lease is still cached", "its lease ends by itself"];

/// The leases that one process knows of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Leases(Vec<ToldLease>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ToldLease {
    worker_id: i64,
    from_ms: i64,
    until_ms: i64,
    /// The newest is the last.
    tokens: Vec<String>,
    /// The boot time from which on no further span is used.
    ends: Duration,
    /// The first tick above all its ids; 0 without one.
    first_unused: u64,
    /// Whether it may be left to end, because its worker id is held on this host, or it was only found in a cache.
    may_end: bool,
    end: Option<LeaseEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LeaseEnd {
    /// By the word of its source, or because it ended without a renewal.
    Lost,
    Released,
    /// It may not be released, and ends by itself.
    Left,
}

/// What a process does with a lease, and may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BadUse {
    OldToken,
    OutsideLease,
    AfterRelease,
    AfterLease,
    NotItsToRelease,
    ReleasedTooLow,
    Kept,
}

impl Leases {
    /// The end of a call comes, which was asked for at this boot time.
    pub(crate) fn learn(&mut self, told: &Told, asked: Duration, lease_ms: i64) -> Result<(), BadUse> {
        let ends = |asked: Duration| asked + Duration::from_millis(lease_ms as u64);
        match told {
            Told::Nothing => {}
            Told::Claimed(given) => self.add(given, ends(asked), false),
            // It may be left to others as long as nothing was made of it.
            Told::Cached(given, asked) => self.add(given, ends(*asked), true),
            Told::Renewed { by, given } => {
                let lease = self.find(by)?;
                (lease.until_ms, lease.ends) = (lease.until_ms.max(given.until_ms), ends(asked));
                lease.may_end = false;
                lease.tokens.push(given.token.clone());
            }
            // A renewal after this one may have made another token.
            Told::NotHeld { by } => {
                let lease = self.find(by)?;
                if lease.end.is_none() && lease.is_newest(by) {
                    lease.end = Some(LeaseEnd::Lost);
                }
            }
        }
        Ok(())
    }

    /// A claim that was asked again is one lease.
    fn add(&mut self, given: &Given, ends: Duration, may_end: bool) {
        if self.find(&given.token).is_err() {
            self.0.push(ToldLease {
                worker_id: given.worker_id,
                from_ms: given.from_ms,
                until_ms: given.until_ms,
                tokens: vec![given.token.clone()],
                ends,
                first_unused: 0,
                may_end,
                end: None,
            });
        }
    }

    fn find(&mut self, token: &str) -> Result<&mut ToldLease, BadUse> {
        let its = |lease: &&mut ToldLease| lease.tokens.iter().any(|its| its == token);
        self.0.iter_mut().find(its).ok_or(BadUse::OldToken)
    }

    /// A renewal is asked for.
    pub(crate) fn renew(&mut self, token: &str) -> Result<(), BadUse> {
        match self.find(token)? {
            lease if !lease.is_newest(token) => Err(BadUse::OldToken),
            lease if lease.end == Some(LeaseEnd::Released) => Err(BadUse::AfterRelease),
            _ => Ok(()),
        }
    }

    /// A release is asked for, of one server after the other: no id at or after `until_ms` was or will be issued.
    pub(crate) fn release(&mut self, token: &str, until_ms: i64, layout: Layout) -> Result<(), BadUse> {
        let lease = self.find(token)?;
        let unused_ms = match lease.first_unused {
            0 => lease.from_ms,
            tick => layout.tick_start_ms(tick),
        };
        if !lease.is_newest(token) {
            return Err(BadUse::OldToken);
        } else if !matches!(lease.end, None | Some(LeaseEnd::Released)) {
            return Err(BadUse::NotItsToRelease);
        } else if until_ms < unused_ms {
            return Err(BadUse::ReleasedTooLow);
        }
        lease.end = Some(LeaseEnd::Released);
        Ok(())
    }

    /// The process claims another worker id, because the lease of this one is lost or over: another may have it by now.
    pub(crate) fn give_up(&mut self, worker_id: u32) {
        self.end(LeaseEnd::Lost, |lease| lease.worker_id == i64::from(worker_id));
    }

    /// What ended by this boot time ended by itself.
    pub(crate) fn end_by(&mut self, boot: Duration) {
        self.end(LeaseEnd::Left, |lease| lease.ends <= boot);
    }

    /// What a process says that it may not release, by a line of its log.
    pub(crate) fn leave(&mut self, text: &str) {
        let is_so = UNRELEASED.iter().any(|why| text.contains(why));
        if let Some(text) = text.strip_prefix("worker id ").filter(|_| is_so) {
            self.end(LeaseEnd::Left, |lease| text.starts_with(&format!("{} ", lease.worker_id)));
        }
    }

    /// This worker id is held on this host by others.
    pub(crate) fn may_end(&mut self, worker_id: u32) {
        let its = self.0.iter_mut().filter(|lease| lease.worker_id == i64::from(worker_id));
        its.for_each(|lease| lease.may_end = true);
    }

    fn end(&mut self, end: LeaseEnd, is_its: impl Fn(&ToldLease) -> bool) {
        let its = self.0.iter_mut().filter(|lease| lease.end.is_none() && is_its(lease));
        its.for_each(|lease| lease.end = Some(end));
    }

    /// An id of this time is issued.
    pub(crate) fn issue(&mut self, worker_id: u32, ms: i64, tick: u64) -> Result<(), BadUse> {
        let its = |lease: &&mut ToldLease| {
            lease.worker_id == i64::from(worker_id) && (lease.from_ms..lease.until_ms).contains(&ms)
        };
        let lease = self.0.iter_mut().rev().find(its).ok_or(BadUse::OutsideLease)?;
        if lease.end == Some(LeaseEnd::Released) {
            return Err(BadUse::AfterRelease);
        }
        (lease.first_unused, lease.may_end) = (tick + 1, false);
        Ok(())
    }

    /// A span up to this tick is written.
    pub(crate) fn extend(&self, id: u32, until: u64, boot: Duration, layout: Layout) -> Result<(), BadUse> {
        let mut its = self.0.iter().filter(|lease| lease.worker_id == i64::from(id)).peekable();
        let is_within = |lease: &ToldLease| {
            boot < lease.ends && layout.tick_from(lease.until_ms).is_some_and(|end| until <= end)
        };
        if its.peek().is_none() || its.any(is_within) { Ok(()) } else { Err(BadUse::AfterLease) }
    }

    /// Whether one was renewed.
    pub(crate) fn has_renewed(&self) -> bool {
        self.0.iter().any(|lease| lease.tokens.len() > 1)
    }

    /// The boot time at which the newest lease ends.
    pub(crate) fn next_end(&self) -> Option<Duration> {
        Some(self.0.iter().rfind(|lease| lease.end.is_none())?.ends)
    }

    /// The process ended well: each lease was released, or lost, or may be left to end.
    pub(crate) fn none_is_kept(&self) -> Result<(), BadUse> {
        if self.0.iter().all(|lease| lease.may_end || lease.end.is_some()) {
            Ok(())
        } else {
            Err(BadUse::Kept)
        }
    }
}

impl ToldLease {
    fn is_newest(&self, token: &str) -> bool {
        self.tokens.last().is_some_and(|newest| newest == token)
    }
}
