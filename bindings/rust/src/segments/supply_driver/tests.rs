//! Tests of what the driver does beside the machine: timers, jobs without threads, and ids of another process.

use super::*;
use crate::os::simulated;
use crate::segments::call::PendingTake;
use crate::segments::{Segments, SegmentsBuilder};
use std::sync::PoisonError;

const HOUR: Duration = Duration::from_secs(3_600);

impl SupplyDriver {
    /// One with the same ids, as a fork makes it, of a process that is played.
    pub(crate) fn copy(&self, marks: HighWaterMarks, env: Arc<Env>) -> Option<Arc<SupplyDriver>> {
        let supply = lock_signal_safe(&self.state, self.generation, |state| state.supply.clone())?;
        Some(SupplyDriver::of(Arc::clone(&self.settings), marks, env, supply))
    }
}

/// Segments whose source never answers.
fn unanswered(name: &str) -> Segments {
    let replies = Mutex::<Vec<_>>::default();
    let source = SegmentSource::deferred(move |_, reply| {
        replies.lock().unwrap_or_else(PoisonError::into_inner).push(reply);
    });
    SegmentsBuilder::default().persist(false).name(name).source(source).open().unwrap()
}

fn has_timer(driver: &SupplyDriver) -> bool {
    driver.state.lock().unwrap().timer.is_some()
}

#[test]
fn a_thread_that_waits_looks_by_itself_and_a_future_has_a_timer() {
    let ids = unanswered("looks");
    let tag = ids.tag("order").unwrap();
    let (driver, _) = tag.process().unwrap();
    let mut looks = 0;
    let ended = tag.next_unless(Some(HOUR.as_millis() as i64), &mut || {
        assert!(!has_timer(&driver), "look {looks}");
        looks += 1;
        looks == 4
    });
    assert_eq!(ended.unwrap_err().code(), Code::WouldBlock);
    let mut call = PendingTake::new(tag, 1, HOUR);
    assert!(!call.poll(|| ()).unwrap());
    assert!(has_timer(&driver));
    drop(call);
    assert!(!has_timer(&driver), "no caller waits any more");
}

#[test]
fn without_threads_one_job_refuses_all_calls() {
    struct Played;
    impl Drop for Played {
        fn drop(&mut self) {
            drop(simulated::left());
            simulated::play(0);
        }
    }
    simulated::play(1 << 46);
    let _played = Played;
    let ids = unanswered("refuses");
    let tags = ["a", "b", "c"].map(|name| ids.tag(name).unwrap());
    tags.iter().for_each(|tag| assert_eq!(tag.try_next().unwrap(), None));
    assert_eq!(simulated::left().len(), 1, "one job for all");
    let (driver, _) = tags[0].process().unwrap();
    let mut goes_on = true;
    for at in 0..tags.len() {
        assert!(goes_on, "{at}");
        goes_on = driver.work(Err(Error::new(Code::StateIo, "no thread")));
        assert!(simulated::left().is_empty(), "a job in a job");
    }
    assert!(!goes_on);
    let failed = tags.map(|tag| tag.stats().unwrap().last_error.unwrap());
    assert!(failed.iter().all(|error| error.contains("no thread")), "{failed:?}");
}

#[test]
fn ids_of_another_process_are_not_put_back() {
    let fetch = |_: &crate::FetchRequest| Ok(Some(leafid_core::Segment::new(1, 11, 1)?.into()));
    let ids = SegmentsBuilder::default().persist(false).name("others").fetch(fetch).open().unwrap();
    let tag = ids.tag("order").unwrap();
    assert_eq!(tag.take(10).unwrap(), Vec::from_iter(1..=10));
    let run = Run { first: 100, stride: 1, count: 5 };
    tag.put_back_runs(&[run], os::process::generation() + 1);
    assert_eq!(tag.stats().unwrap().left, 0);
    tag.put_back_runs(&[run], os::process::generation());
    assert_eq!(tag.stats().unwrap().left, 5);
}
