//! The collection of ids that a source returns one by one, to several requests at a time.
//!
//! Construct: [`SingleIds::new`]. Poll: [`SingleIds::next`], which begins a request. Events: [`SingleIds::fetch`],
//! [`SingleIds::ended`], [`SingleIds::timer`]; each returns the next actions; [`SingleIds::forget`]. Query:
//! [`SingleIds::silent_since`].
//!
//! A fetch of a tag is completed once, with the ids that came so far:
//!
//! | Result so far | Fetch |
//! | --- | --- |
//! | nothing, and requests are running | not completed yet |
//! | nothing, and a request failed | completed with the error |
//! | ids, and no further request is wanted | completed with the ids |
//! | ids, and a request failed | completed with the ids |
//! | ids, and the fetch is urgent or 20 ms old | completed with the ids |
//! | ids, otherwise | not completed yet: a timer is set |
//!
//! After the first failed request of a tag, only one request runs at a time, until one succeeds.

use crate::segment::turns::Turns;
use crate::sorted_map::SortedMap;
use crate::{Error, Result, Segment};
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::mem::{replace, take};
use core::time::Duration;

/// While no caller waits, the ids that come within this time are stored together.
const GATHERS: Duration = Duration::from_millis(20);
/// A fetch starts at most this number of requests for each concurrent one. Its result is followed by another fetch,
/// unless the caller has gone.
const AHEAD: u64 = 16;

/// `T` is a tag, and `R` completes a fetch. Times are of a clock that only goes forward.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SingleIds<T, R> {
    turns: Turns<T>,
    /// The number of concurrent requests, for all tags together.
    most: usize,
    collected: SortedMap<T, Arrivals<R>>,
}

/// The next actions of the host. It must carry out all of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SingleIdsActions<R> {
    /// Complete a fetch.
    pub(crate) answer: Option<SingleIdsAnswer<R>>,
    /// Call [`SingleIds::timer`] at this time.
    pub(crate) wake_at: Option<Duration>,
}

/// The result of a fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SingleIdsAnswer<R> {
    /// Completes the fetch.
    pub(crate) reply: R,
    /// The segments that came, or the error.
    pub(crate) result: Result<Vec<Segment>>,
    /// The number of requests that failed, if the result is an error.
    pub(crate) requests: usize,
}

/// The results of a tag's requests so far.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Arrivals<R> {
    /// Completes the fetch, at this time even if more ids will come.
    reply: Option<(R, Duration)>,
    /// The next check by the timer, whatever the running requests do until then.
    due: Option<Duration>,
    segments: Vec<Segment>,
    error: Option<Error>,
    /// The number of requests that failed since the last returned error.
    failed: usize,
    /// The number of running requests that already count as failed.
    stragglers: usize,
    /// The last request failed: one at a time is enough to check.
    failing: bool,
    /// The time since when requests have run without any response.
    silent_since: Option<Duration>,
}

impl<T: Ord + Clone, R> SingleIds<T, R> {
    /// `most` is the number of concurrent requests, for all tags together.
    pub(crate) fn new(most: usize) -> SingleIds<T, R> {
        SingleIds { turns: Turns::new(most), most, collected: SortedMap::new() }
    }

    /// A tag needs this number of responses. `urgent`: a caller waits.
    pub(crate) fn fetch(
        &mut self,
        tag: &T,
        short: u64,
        urgent: bool,
        reply: R,
        now: Duration,
    ) -> SingleIdsActions<R> {
        let answer_at = now + if urgent { Duration::ZERO } else { GATHERS };
        let collected = self.of(tag);
        collected.reply = Some((reply, answer_at));
        collected.error = None;
        self.want(tag, short);
        self.actions(tag, now)
    }

    /// The tag of the next request, which begins now.
    pub(crate) fn next(&mut self, now: Duration) -> Option<T> {
        let tag = self.turns.begin()?;
        self.of(&tag).silent_since.get_or_insert(now);
        Some(tag)
    }

    /// Whether [`SingleIds::next`] returns a tag.
    pub(crate) fn is_ready(&self) -> bool {
        self.turns.is_ready()
    }

    /// The tag is unused now: no more requests for it are begun. Returns false, and keeps the rest of what is
    /// known of it, while one runs, or if ids came that no fetch was given; and without any effect while a fetch waits.
    pub(crate) fn forget(&mut self, tag: &T) -> bool {
        let collected = self.collected.get(tag);
        if collected.is_some_and(|collected| collected.reply.is_some()) {
            return false;
        }
        let has_ids = collected.is_some_and(|collected| !collected.segments.is_empty());
        let is_gone = self.turns.forget(tag) && !has_ids;
        if is_gone {
            self.collected.remove(tag);
        }
        is_gone
    }

    /// A request has ended.
    pub(crate) fn ended(&mut self, tag: &T, came: Result<Segment>, now: Duration) -> SingleIdsActions<R> {
        self.turns.ended(tag);
        self.collect(tag, came, now);
        self.actions(tag, now)
    }

    /// The time of [`SingleIdsActions::wake_at`] has come.
    pub(crate) fn timer(&mut self, tag: &T, now: Duration) -> SingleIdsActions<R> {
        self.of(tag).due = None;
        self.actions(tag, now)
    }

    /// A caller waits now for a fetch that gathers ids: it is completed with what came.
    pub(crate) fn hurry(&mut self, tag: &T, now: Duration) -> Option<SingleIdsAnswer<R>> {
        let collected = self.collected.get_mut(tag)?;
        if let Some((_, answer_at)) = &mut collected.reply {
            *answer_at = now.min(*answer_at);
        }
        collected.answer(false, now)
    }

    /// The time since when requests for the tag have run without any response.
    pub(crate) fn silent_since<Q: Ord + ?Sized>(&self, tag: &Q) -> Option<Duration>
    where
        T: Borrow<Q>,
    {
        self.collected.get(tag)?.silent_since
    }

    fn of(&mut self, tag: &T) -> &mut Arrivals<R> {
        self.collected.or_default(tag.clone())
    }

    /// Plans the requests for a tag that needs this number of responses.
    fn want(&mut self, tag: &T, short: u64) {
        let under_way = self.turns.under_way(tag) as u64;
        let collected = self.of(tag);
        // Ids that have come or will come are returned first.
        let coming = under_way + collected.segments.len() as u64;
        let failing = collected.failing;
        let least = u64::from(coming == 0);
        let most = if failing { 1 } else { self.most };
        let wanted = short.saturating_sub(coming).clamp(least, AHEAD * self.most as u64);
        self.turns.want(tag, wanted, most);
    }

    /// Records the result of a request.
    fn collect(&mut self, tag: &T, came: Result<Segment>, now: Duration) {
        let under_way = self.turns.under_way(tag);
        if came.is_err() {
            self.turns.want(tag, 0, 1);
        }
        let collected = self.of(tag);
        collected.silent_since = (under_way > 0).then_some(now);
        match came {
            Ok(segment) => {
                collected.segments.push(segment);
                match collected.stragglers {
                    0 => (collected.failing, collected.failed) = (false, 0),
                    _ => collected.stragglers -= 1,
                }
            }
            Err(error) => {
                collected.error = Some(error);
                if !replace(&mut collected.failing, true) {
                    // The running requests count too, because their results tell nothing new.
                    (collected.failed, collected.stragglers) = (1 + under_way, under_way);
                } else if collected.stragglers > 0 {
                    collected.stragglers -= 1;
                } else {
                    collected.failed += 1;
                }
            }
        }
    }

    fn actions(&mut self, tag: &T, now: Duration) -> SingleIdsActions<R> {
        let is_all = self.turns.wanted(tag) == 0 && self.turns.under_way(tag) == 0;
        let collected = self.of(tag);
        let answer = collected.answer(is_all, now);
        let wake_at = collected.wake_at(now);
        if is_all && collected.is_empty() {
            // A program may hold many tags, and most of them rest.
            self.collected.remove(tag);
        }
        SingleIdsActions { answer, wake_at }
    }
}

impl<R> Arrivals<R> {
    /// `is_all`: nothing more will come.
    fn answer(&mut self, is_all: bool, now: Duration) -> Option<SingleIdsAnswer<R>> {
        let (_, answer_at) = self.reply.as_ref()?;
        let result = match self.segments.is_empty() {
            false if is_all || self.error.is_some() || *answer_at <= now => {
                Ok(Segment::merged(take(&mut self.segments)))
            }
            true => Err(self.error.take()?),
            false => return None,
        };
        let requests = if result.is_err() { take(&mut self.failed) } else { 0 };
        self.reply.take().map(|(reply, _)| SingleIdsAnswer { reply, result, requests })
    }

    /// Whether nothing of it is needed any more.
    fn is_empty(&self) -> bool {
        let fails = self.failing || self.error.is_some() || self.stragglers > 0;
        self.reply.is_none() && self.due.is_none() && self.segments.is_empty() && !fails
    }

    /// The time of the next check, if the timer does not know it yet.
    fn wake_at(&mut self, now: Duration) -> Option<Duration> {
        let (_, answer_at) = self.reply.as_ref().filter(|_| !self.segments.is_empty())?;
        if self.due.is_some_and(|at| at > now) {
            return None;
        }
        self.due = Some(*answer_at);
        self.due
    }
}

impl<R> Default for Arrivals<R> {
    fn default() -> Arrivals<R> {
        Arrivals {
            reply: None,
            due: None,
            segments: Vec::new(),
            error: None,
            failed: 0,
            stragglers: 0,
            failing: false,
            silent_since: None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::Code;
    use alloc::format;

    const NOW: Duration = Duration::from_secs(100);
    const TAG: &str = "order";

    type Ids = SingleIds<&'static str, ()>;

    /// With this number of running requests for a tag, of four.
    fn ids(under_way: usize) -> Ids {
        let mut ids = Ids::new(4);
        ids.turns.want(&TAG, 4, 4);
        for _ in 0..under_way {
            ids.next(NOW).unwrap();
        }
        ids
    }

    fn error() -> Result<Segment> {
        Err(Error::new(Code::SegmentUnavailable, "down"))
    }

    /// Ends a request. Returns the number of failures, whether the tag fails, and whether it is silent.
    fn end(ids: &mut Ids, came: Result<Segment>) -> (usize, bool, bool) {
        ids.turns.ended(&TAG);
        ids.collect(&TAG, came, NOW);
        let collected = ids.collected.get(&TAG).unwrap();
        (collected.failed, collected.failing, collected.silent_since.is_some())
    }

    #[test]
    fn requests_that_are_under_way_as_the_first_one_fails_fail_with_it() {
        let mut ids = ids(3);
        assert_eq!(end(&mut ids, error()), (3, true, true));
        assert_eq!(ids.turns.wanted(&TAG), 0, "one at a time finds out more");
        assert_eq!(end(&mut ids, error()), (3, true, true));
        // If one of them returns ids after all, that does not show that the source works again.
        assert_eq!(end(&mut ids, Segment::new(1, 2, 1)), (3, true, false));
        for (came, seen) in [(error(), 4), (error(), 5), (Segment::new(2, 3, 1), 0)] {
            ids.turns.want(&TAG, 1, 1);
            ids.turns.begin().unwrap();
            assert_eq!(end(&mut ids, came), (seen, seen > 0, false));
        }
        assert_eq!(ids.collected.get(&TAG).unwrap().segments.len(), 2);
    }

    #[test]
    fn as_many_requests_are_begun_with_as_are_short_and_not_too_many() {
        let mut ids = ids(1);
        for (short, wanted) in [(9, 8), (1, 0), (1_000, 64)] {
            ids.want(&TAG, short);
            assert_eq!(ids.turns.wanted(&TAG), wanted, "{short} with one under way");
        }
        assert_eq!(end(&mut ids, Segment::new(1, 2, 1)), (0, false, false));
        ids.want(&TAG, 9);
        assert_eq!(ids.turns.wanted(&TAG), 8, "one came in");
        ids.collected.clear();
        ids.want(&TAG, 0);
        assert_eq!(ids.turns.wanted(&TAG), 1, "whoever asks has one made");
    }

    #[test]
    fn a_tag_is_silent_while_a_request_for_it_is_under_way() {
        let mut ids = Ids::new(4);
        assert_eq!(ids.silent_since(TAG), None);
        ids.fetch(&TAG, 2, true, (), NOW);
        assert_eq!((ids.next(NOW), ids.silent_since(TAG)), (Some(TAG), Some(NOW)));
        let later = NOW + GATHERS;
        assert_eq!((ids.next(later), ids.silent_since(TAG)), (Some(TAG), Some(NOW)));
        ids.ended(&TAG, Segment::new(1, 2, 1), later);
        assert_eq!(ids.silent_since(TAG), Some(later));
        assert_eq!(ids.silent_since("other"), None);
    }

    #[test]
    fn a_fetch_is_answered_once_all_came_in_or_it_is_time_to_and_one_timer_is_set_until_then() {
        let mut ids = ids(2);
        let (hour, came) = (NOW + Duration::from_secs(3_600), |ids: &mut Ids, answer_at| {
            end(ids, Segment::new(1, 2, 1));
            ids.of(&TAG).reply = Some(((), answer_at));
            let actions = ids.actions(&TAG, NOW);
            (actions.answer.map(|answer| answer.result.unwrap().len()), actions.wake_at)
        });
        ids.turns.want(&TAG, 0, 4);
        assert_eq!(came(&mut ids, hour), (None, Some(hour)), "one more is under way");
        assert_eq!(ids.actions(&TAG, NOW).wake_at, None, "the timer is set");
        assert_eq!(ids.timer(&TAG, NOW).wake_at, Some(hour), "it was not time to");
        ids.turns.want(&TAG, 1, 4);
        assert_eq!(came(&mut ids, hour), (None, None), "one more is wanted");
        ids.turns.begin().unwrap();
        ids.turns.want(&TAG, 0, 4);
        assert_eq!(came(&mut ids, hour), (Some(3), None), "that was all");
        ids.turns.want(&TAG, 2, 4);
        ids.turns.begin().unwrap();
        assert_eq!(came(&mut ids, NOW), (Some(1), None), "it is time to");
    }

    #[test]
    fn an_error_is_answered_with_the_number_of_requests_that_failed() {
        let mut ids = Ids::new(4);
        assert_eq!(ids.fetch(&TAG, 3, false, (), NOW).answer, None);
        (0..3).for_each(|_| _ = ids.next(NOW).unwrap());
        let answer = ids.ended(&TAG, error(), NOW).answer.unwrap();
        assert_eq!((answer.result.is_err(), answer.requests), (true, 3));
    }

    #[test]
    fn each_row_of_its_table_is_so() {
        let came = || Segment::new(1, 2, 1);
        let so_far = |result: &str| match result {
            "nothing, and requests are running" => (2, true, Vec::new()),
            "nothing, and a request failed" => (2, true, Vec::from([error()])),
            "ids, and no further request is wanted" => (1, false, Vec::from([came()])),
            "ids, and a request failed" => (3, false, Vec::from([came(), error()])),
            "ids, and the fetch is urgent or 20 ms old" => (3, true, Vec::from([came()])),
            "ids, otherwise" => (3, false, Vec::from([came()])),
            _ => panic!("{result} is no such row"),
        };
        let head = include_str!("single_ids.rs").lines().take_while(|line| line.starts_with("//!"));
        let rows: Vec<_> = head.filter_map(|line| line.strip_prefix("//! | ")).skip(2).collect();
        assert_eq!(rows.len(), 6);
        for row in rows {
            let (result, fetch) = row.trim_end_matches(" |").split_once(" | ").unwrap();
            let (short, urgent, ends) = so_far(result);
            let mut ids = Ids::new(4);
            let mut actions = ids.fetch(&TAG, short, urgent, (), NOW);
            (0..short).for_each(|_| _ = ids.next(NOW));
            for end in ends {
                actions = ids.ended(&TAG, end, NOW);
            }
            let done = match actions.answer.map(|answer| answer.result) {
                None => "not completed yet",
                Some(Ok(_)) => "completed with the ids",
                Some(Err(_)) => "completed with the error",
            };
            let timer = if actions.wake_at.is_some() { ": a timer is set" } else { "" };
            assert_eq!(format!("{done}{timer}"), fetch, "{result}");
        }
    }
}
