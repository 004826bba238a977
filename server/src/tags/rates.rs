//! How fast ids are taken, measured only while somebody looks.

use super::tag_stats::TagStats;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A rate follows a change within a few of these.
const SMOOTHING: Duration = Duration::from_secs(4);
/// An earlier look is too old to say what happens now.
const LONGEST: Duration = Duration::from_secs(10);

/// Ids a second of a tag; nothing yet at the first look.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rate {
    /// From the buffer, one by one or in batches.
    pub(crate) ids: Option<f64>,
    /// In ranges, past the buffer.
    pub(crate) ranges: Option<f64>,
}

/// The rates of all tags.
#[derive(Default)]
pub(crate) struct Rates {
    looked: Option<Duration>,
    known: HashMap<Arc<str>, Known>,
}

/// The counters of a tag at the last look.
#[derive(Clone, Copy, Default)]
struct Known {
    taken: u64,
    ranged: u64,
    rate: Rate,
}

impl Rates {
    /// The rate of each tag, in the order of `stats`. `now` is of the running clock.
    pub(crate) fn measure(&mut self, stats: &[TagStats], now: Duration) -> Vec<Rate> {
        let passed = self.looked.map(|looked| now.saturating_sub(looked));
        let passed = passed.filter(|passed| !passed.is_zero() && *passed <= LONGEST);
        self.looked = Some(now);
        let before = std::mem::take(&mut self.known);
        let rates = stats.iter().map(|tag| {
            // A tag that was not there at the last look had given nothing.
            let last = before.get(&tag.name).copied().unwrap_or_default();
            let rate = passed.map_or(Rate::default(), |passed| Rate {
                ids: smoothed(last.rate.ids, tag.taken.checked_sub(last.taken), passed),
                ranges: smoothed(last.rate.ranges, tag.ranged.checked_sub(last.ranged), passed),
            });
            self.known.insert(tag.name.clone(), Known { taken: tag.taken, ranged: tag.ranged, rate });
            rate
        });
        rates.collect()
    }
}

/// `given` is nothing if the counter began again.
fn smoothed(before: Option<f64>, given: Option<u64>, passed: Duration) -> Option<f64> {
    let now = given? as f64 / passed.as_secs_f64();
    let weight = 1.0 - (-passed.as_secs_f64() / SMOOTHING.as_secs_f64()).exp();
    Some(before.map_or(now, |before| before + weight * (now - before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(name: &str, taken: u64, ranged: u64) -> TagStats {
        TagStats {
            name: name.into(),
            segments: Vec::new(),
            starts: Vec::new(),
            left: 0,
            taken,
            ranged,
            step: 0,
            fetches: 0,
            failures: 0,
            fetch_time: None,
            error: None,
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_rate_is_there_at_the_second_look_and_follows_a_change() {
        let mut rates = Rates::default();
        assert_eq!(rates.measure(&[tag("a", 500, 0)], SECOND), [Rate::default()]);
        let found = rates.measure(&[tag("a", 600, 50), tag("new", 7, 0)], 2 * SECOND);
        let new = Rate { ids: Some(7.0), ranges: Some(0.0) };
        assert_eq!(found, [Rate { ids: Some(100.0), ranges: Some(50.0) }, new]);
        let rate = |found: &[Rate]| found[0].ids.unwrap_or_default();
        let next = rate(&rates.measure(&[tag("a", 600, 50)], 3 * SECOND));
        assert!((60.0..100.0).contains(&next), "{next}");
        let mut last = next;
        for at in 4..40 {
            let now = rate(&rates.measure(&[tag("a", 600, 50)], at * SECOND));
            assert!(now < last, "{now} after {last}");
            last = now;
        }
        assert!(last < 0.1, "{last}");
    }

    #[test]
    fn an_old_look_and_a_counter_that_began_anew_say_nothing() {
        let mut rates = Rates::default();
        rates.measure(&[tag("a", 500, 0)], SECOND);
        rates.measure(&[tag("a", 600, 0)], 2 * SECOND);
        let again = rates.measure(&[tag("a", 5, 0)], 3 * SECOND);
        assert_eq!(again, [Rate { ids: None, ranges: Some(0.0) }]);
        assert_eq!(rates.measure(&[tag("a", 9, 0)], 60 * SECOND), [Rate::default()]);
        assert_eq!(rates.measure(&[tag("a", 19, 0)], 61 * SECOND)[0].ids, Some(10.0));
        assert!(rates.measure(&[], 62 * SECOND).is_empty() && rates.known.is_empty());
    }
}
