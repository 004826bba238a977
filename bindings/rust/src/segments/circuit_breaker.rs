//! The gate before a source: while it is down one tag at a time tries it, and all others wait for how that ends.

use super::tag_state::Tagged;
use leafid_core::BackOff;
use std::collections::VecDeque;
use std::sync::Arc;

/// So many failures in a row, of any tags, and a source that does not say so itself is down.
const DOWN: u32 = 3;
/// Servers that answer, and give nothing, to so many tags in a row are down as well: what they say of one is its own.
const DOWN_FOR: usize = 8;
/// One that is down is asked so often within [`PER_MS`], those included that were under way as it went down.
const MOST_ASKED: usize = 5;
const PER_MS: i64 = 1_000;

/// Times are of the suspend-counting clock, in milliseconds.
#[derive(Default)]
pub(crate) struct Gate {
    back_off: BackOff,
    /// None is asked before this time, and then one at a time.
    down_until_ms: Option<i64>,
    /// Tags for which it failed since it last answered, up to [`DOWN_FOR`] of them: addresses, to compare.
    failing: Vec<usize>,
    /// When it failed, the last times.
    failed_ms: VecDeque<i64>,
    /// A tag tries it, since then; one that takes longer than [`PER_MS`] keeps no other from trying.
    trying_since_ms: Option<i64>,
    /// Those that wait, in the order that they came.
    queue: VecDeque<Arc<Tagged>>,
    /// When it is looked at.
    due_ms: Option<i64>,
}

/// What follows.
pub(crate) enum Passed {
    /// The source answers again: all of these ask it now.
    All(VecDeque<Arc<Tagged>>),
    /// This one tries it.
    One(Arc<Tagged>),
    /// The gate is to be looked at then.
    Look(i64),
    /// Nothing.
    Waits,
}

impl Gate {
    pub(crate) fn is_down(&self) -> bool {
        self.down_until_ms.is_some()
    }

    /// A tag is about to ask the source: none, or what follows if it is to wait. `tries`: it was let through to try.
    /// `failed`: its own last fetch did; those that did not come first, for it may be tags that are bad, and not the source.
    pub(crate) fn enter(
        &mut self,
        tagged: &Arc<Tagged>,
        tries: bool,
        failed: bool,
        now_ms: i64,
    ) -> Option<Passed> {
        if tries || !self.is_down() {
            return None;
        }
        match failed {
            true => self.queue.push_back(Arc::clone(tagged)),
            false => self.queue.push_front(Arc::clone(tagged)),
        }
        Some(self.look(now_ms))
    }

    /// Lets the next one try when it is time to.
    fn look(&mut self, now_ms: i64) -> Passed {
        let Some(rested_ms) = self.down_until_ms else {
            return Passed::All(std::mem::take(&mut self.queue));
        };
        let often = self.failed_ms.front().filter(|_| self.failed_ms.len() == MOST_ASKED);
        let asked_ms = often.map_or(rested_ms, |first_ms| rested_ms.max(first_ms + PER_MS));
        let ready_ms = self.trying_since_ms.map_or(asked_ms, |since_ms| asked_ms.max(since_ms + PER_MS));
        if ready_ms > now_ms {
            if self.due_ms == Some(ready_ms) || self.queue.is_empty() {
                return Passed::Waits;
            }
            self.due_ms = Some(ready_ms);
            return Passed::Look(ready_ms);
        }
        let Some(tagged) = self.queue.pop_front() else { return Passed::Waits };
        self.trying_since_ms = Some(now_ms);
        Passed::One(tagged)
    }

    /// It is time for what [`Passed::Look`] said.
    pub(crate) fn is_due(&mut self, now_ms: i64) -> Passed {
        self.due_ms = None;
        self.look(now_ms)
    }

    /// Who was to ask the source had no need to.
    pub(crate) fn gave_up(&mut self, now_ms: i64) -> Passed {
        self.trying_since_ms = None;
        self.look(now_ms)
    }

    /// A fetch has ended, which took so many requests. `answered`: whether the source gave an answer, of whatever kind; `rest_ms`, of a source that
    /// knows it: how long it rests, if it does.
    pub(crate) fn ended(
        &mut self,
        tagged: &Arc<Tagged>,
        answered: bool,
        requests: usize,
        rest_ms: Option<Option<i64>>,
        now_ms: i64,
        seed: u64,
    ) -> Passed {
        self.trying_since_ms = None;
        if answered {
            self.back_off.succeeded();
            self.failing.clear();
            self.down_until_ms = None;
            return self.look(now_ms);
        }
        self.back_off.failed(now_ms, seed);
        let address = Arc::as_ptr(tagged) as usize;
        if self.failing.len() < DOWN_FOR && !self.failing.contains(&address) {
            self.failing.push(address);
        }
        for _ in 0..requests.clamp(1, MOST_ASKED) {
            self.failed_ms.push_back(now_ms);
        }
        while self.failed_ms.len() > MOST_ASKED {
            self.failed_ms.pop_front();
        }
        self.down_until_ms = match rest_ms {
            Some(Some(rest_ms)) => Some(now_ms + rest_ms),
            // As if somebody waited: all tags hang on it.
            None if self.back_off.failures() >= DOWN => self.back_off.ready_at_ms(true),
            Some(None) if self.failing.len() >= DOWN_FOR => self.back_off.ready_at_ms(true),
            _ => None,
        };
        self.look(now_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafid_core::AdaptiveStep;

    fn tagged() -> Arc<Tagged> {
        Arc::new(Tagged::new(
            "t".into(),
            AdaptiveStep::new(1, true),
            10,
            None,
            crate::os::process::generation(),
        ))
    }

    /// Asks at each millisecond as soon as it may; when each request that failed was made, from the first failure on.
    fn requests(under_way: usize, rest_ms: impl Fn(i64) -> Option<Option<i64>>) -> Vec<i64> {
        let mut gate = Gate::default();
        let mut made = vec![0; under_way];
        for _ in 0..under_way {
            assert!(gate.enter(&tagged(), false, true, 0).is_none());
        }
        for _ in 0..under_way {
            gate.ended(&tagged(), false, 1, rest_ms(0), 0, 0);
        }
        for now_ms in 0..5_000 {
            match gate.enter(&tagged(), false, true, now_ms) {
                None => made.push(now_ms),
                Some(Passed::One(_)) => made.push(now_ms),
                Some(Passed::All(_)) => unreachable!("it is down"),
                Some(Passed::Look(_) | Passed::Waits) => continue,
            }
            gate.ended(&tagged(), false, 1, rest_ms(now_ms), now_ms, 0);
        }
        made
    }

    #[test]
    fn a_source_that_is_down_is_asked_five_times_a_second_at_most() {
        for under_way in 1..=4 {
            for made in [requests(under_way, |_| None), requests(under_way, |_| Some(Some(200)))] {
                for (at, first) in made.iter().enumerate() {
                    let within = made[at..].iter().filter(|later| *later - first < 1_000).count();
                    assert!(within <= 5, "{within} within a second: {made:?}");
                }
                let pauses = made.windows(2).skip(8).map(|pair| pair[1] - pair[0]);
                assert!(pauses.max() <= Some(400), "{made:?}");
            }
        }
    }

    #[test]
    fn one_that_says_how_long_it_rests_is_left_alone_as_long() {
        let mut gate = Gate::default();
        gate.ended(&tagged(), false, 1, Some(Some(300)), 1_000, 0);
        assert!(matches!(gate.enter(&tagged(), false, true, 1_001), Some(Passed::Look(1_300))));
    }

    #[test]
    fn one_that_does_not_say_so_is_down_after_three_failures() {
        let mut gate = Gate::default();
        let down = [0, 1, 2].map(|ms| {
            gate.ended(&tagged(), false, 1, None, ms, 0);
            gate.is_down()
        });
        assert_eq!(down, [false, false, true]);
    }

    #[test]
    fn all_pass_once_it_answers() {
        let mut gate = Gate::default();
        for _ in 0..3 {
            gate.ended(&tagged(), false, 1, None, 0, 0);
        }
        assert!(matches!(gate.enter(&tagged(), false, true, 1), Some(Passed::Look(_))));
        assert!(
            matches!(gate.enter(&tagged(), false, true, 2), Some(Passed::Waits)),
            "it is looked at already"
        );
        assert!(matches!(gate.is_due(500), Passed::One(_)));
        assert!(matches!(gate.enter(&tagged(), false, true, 501), Some(Passed::Look(1_500))), "one tries it");
        assert!(gate.enter(&tagged(), true, true, 501).is_none(), "that one");
        assert!(matches!(gate.ended(&tagged(), true, 1, None, 502, 0), Passed::All(all) if all.len() == 2));
        assert!(gate.enter(&tagged(), false, true, 503).is_none());
    }

    #[test]
    fn one_that_tries_for_long_keeps_no_other_from_trying() {
        let mut gate = Gate::default();
        for _ in 0..3 {
            gate.ended(&tagged(), false, 1, None, 0, 0);
        }
        assert!(gate.enter(&tagged(), false, true, 1).is_some());
        assert!(gate.enter(&tagged(), false, true, 2).is_some());
        assert!(matches!(gate.is_due(500), Passed::One(_)));
        assert!(matches!(gate.is_due(1_499), Passed::Look(1_500)));
        assert!(matches!(gate.is_due(1_500), Passed::One(_)), "it has not answered for a second");
    }

    #[test]
    fn a_tag_that_did_not_fail_goes_first() {
        let mut gate = Gate::default();
        let (bad, good) = (tagged(), tagged());
        for _ in 0..3 {
            gate.ended(&tagged(), false, 1, None, 0, 0);
        }
        assert!(gate.enter(&bad, false, true, 1).is_some());
        assert!(gate.enter(&good, false, false, 2).is_some());
        assert!(matches!(gate.is_due(500), Passed::One(first) if Arc::ptr_eq(&first, &good)));
    }

    #[test]
    fn servers_that_give_nothing_to_many_tags_are_down_and_one_tag_s_trouble_is_its_own() {
        let (mut gate, bad) = (Gate::default(), tagged());
        for ms in 0..20 {
            gate.ended(&bad, false, 1, Some(None), ms, 0);
            assert!(!gate.is_down(), "they answer others, perhaps");
        }
        let tags: Vec<_> = (0..DOWN_FOR).map(|_| tagged()).collect();
        tags.iter().for_each(|tag| drop(gate.ended(tag, false, 1, Some(None), 20, 0)));
        assert!(gate.is_down());
        gate.ended(&bad, true, 1, Some(None), 21, 0);
        assert!(!gate.is_down());
    }
}
