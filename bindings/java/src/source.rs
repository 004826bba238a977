//! The user's objects as the host's sources: of worker ids, of peers' clocks and of segments. leafid calls them on its own
//! threads, which wait until Java has answered.

use crate::events::{Values, ask, fetch, gone, numbers};
use leafid::{
    Answer, ClaimRequest, Completion, FetchRequest, Lease, Renewal, SegmentSource, WorkerLeases, WorkerSource,
};

/// A user's object: its number, by which Java keeps it as long as this is there.
pub(crate) struct UserObject(i64);

impl UserObject {
    /// `None` for 0.
    pub(crate) fn of(number: i64) -> Option<UserObject> {
        (number != 0).then_some(UserObject(number))
    }

    /// A source of worker ids that returns leases, or only numbers.
    pub(crate) fn workers(self, leases: bool) -> WorkerSource {
        if leases {
            return WorkerSource::leases(self);
        }
        WorkerSource::callback(move |request| {
            let values = self.ask("worker", words_of(request))?;
            let ids = values.map(|values| numbers(&values)).transpose()?;
            Ok(ids.and_then(|ids| ids.first().copied()))
        })
    }

    /// The clocks of peers.
    pub(crate) fn times(&self) -> Answer<Vec<i64>> {
        numbers(&self.ask("times", Vec::new())?.unwrap_or_default())
    }

    /// A source of segments.
    pub(crate) fn segments(self) -> SegmentSource {
        SegmentSource::deferred(move |request, completion| self.fetch(request, completion))
    }

    fn fetch(&self, request: FetchRequest, completion: Completion) {
        let words = vec![Some(request.tag), Some(request.step.to_string()), Some(request.after.to_string())];
        fetch(self.0, words, completion);
    }

    fn ask(&self, kind: &str, words: Vec<Option<String>>) -> Answer<Values> {
        ask(kind, self.0, words)
    }
}

impl Drop for UserObject {
    fn drop(&mut self) {
        gone(self.0);
    }
}

impl WorkerLeases for UserObject {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let Some(values) = self.ask("claim", words_of(request))? else { return Ok(None) };
        let [worker_id, from_ms, until_ms, lease_ms, token, times @ ..] = &values[..] else {
            return Err("a lease has a worker id, a start and an end".into());
        };
        Ok(Some(Lease {
            worker_id: number(worker_id)?,
            from_ms: number(from_ms)?,
            until_ms: number(until_ms)?,
            lease_ms: lease_ms.is_some().then(|| number(lease_ms)).transpose()?,
            token: token.clone(),
            peer_times_ms: numbers(times)?,
        }))
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let Some(values) = self.ask("renew", words_of_lease(lease, until_ms))? else { return Ok(None) };
        let [worker_id, until_ms, lease_ms, token] = &values[..] else {
            return Err("a renewal has an end".into());
        };
        Ok(Some(Renewal {
            worker_id: worker_id.is_some().then(|| number(worker_id)).transpose()?,
            until_ms: number(until_ms)?,
            lease_ms: lease_ms.is_some().then(|| number(lease_ms)).transpose()?,
            token: token.clone(),
        }))
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        self.ask("release", words_of_lease(lease, until_ms)).map(drop)
    }
}

fn number(text: &Option<String>) -> Answer<i64> {
    Ok(text.as_deref().unwrap_or_default().parse()?)
}

fn words_of(request: &ClaimRequest) -> Vec<Option<String>> {
    let ClaimRequest { name, instance, previous, now_ms, until_ms, .. } = request;
    let previous = previous.map(|id| id.to_string());
    vec![
        Some(name.clone()),
        Some(instance.clone()),
        previous,
        Some(now_ms.to_string()),
        Some(until_ms.to_string()),
    ]
}

/// `wish_ms` is the end that is asked for, or from which on no id was issued.
fn words_of_lease(lease: &Lease, wish_ms: i64) -> Vec<Option<String>> {
    let Lease { worker_id, from_ms, until_ms, lease_ms, token, .. } = lease;
    let text = |number: &i64| Some(number.to_string());
    vec![
        text(worker_id),
        text(from_ms),
        text(until_ms),
        lease_ms.as_ref().and_then(text),
        token.clone(),
        text(&wish_ms),
    ]
}
