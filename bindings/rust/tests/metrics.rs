//! The text for Prometheus.
#![allow(clippy::unwrap_used)]

mod common;
use common::{Place, until};
use leafid::{Answer, ClaimRequest, Lease, Renewal, WorkerLeases, WorkerSource, metrics};

/// The values of a metric of this id space: other tests of this process have generators of their own.
fn of(text: &str, metric: &str, name: &str) -> Vec<f64> {
    let (start, label) = (format!("{metric}{{"), format!("name={name:?},"));
    let lines = text.lines().filter(|line| line.starts_with(&start) && line.contains(&label));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn every_open_generator_is_shown_with_its_labels() {
    let place = Place::new();
    let one = place.builder().worker(7).open().unwrap();
    let two = place.builder().worker(8).open().unwrap();
    let again = two.clone();
    let renewals = || one.stats().unwrap().renewals;
    until("a renewal", || one.next().is_ok() && renewals() > 0);
    let before = renewals();
    let (text, stats) = (metrics(), one.stats().unwrap());
    let labels = format!(
        "{{name={:?},worker_id=\"7\",state_dir={:?},layout={:?}}}",
        place.name, stats.state_dir, stats.layout
    );
    assert!(text.contains(&format!("leafid_snowflake_handles{labels} 1\n")), "{text}");
    let line = format!("leafid_snowflake_renewals_total{labels} ");
    let shown = text.lines().find_map(|it| it.strip_prefix(&line)).unwrap().parse::<u64>().unwrap();
    // Another one may have come meanwhile.
    assert!((before..=renewals()).contains(&shown), "{text}");
    let expires = stats.expires_at_ms as f64 / 1_000.0;
    assert_eq!(of(&text, "leafid_snowflake_expires_at_seconds", &place.name), [expires; 2]);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    for until in of(&text, "leafid_snowflake_reserved_until_seconds", &place.name) {
        assert!((now - 60.0..now + 60.0).contains(&until), "{until}");
    }
    let version = env!("CARGO_PKG_VERSION");
    assert!(text.contains(&format!("leafid_build_info{{version={version:?}}} 1\n")), "{text}");
    assert!(text.ends_with("# EOF\n"), "{text}");

    again.close().unwrap();
    two.close().unwrap();
    assert_eq!(of(&metrics(), "leafid_snowflake_handles", &place.name), [1.0], "a closed one is not counted");
    drop(one);
    assert!(of(&metrics(), "leafid_snowflake_handles", &place.name).is_empty());
}

struct LeaseSource;

impl WorkerLeases for LeaseSource {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let (from_ms, until_ms) = (request.now_ms, request.now_ms + 30_000);
        Ok(Some(Lease { worker_id: 7, from_ms, until_ms, ..Lease::default() }))
    }

    fn renew(&self, _: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        Ok(Some(Renewal { until_ms, ..Renewal::default() }))
    }

    fn release(&self, _: &Lease, _: i64) -> Answer<()> {
        Ok(())
    }
}

#[test]
fn the_end_of_a_lease_is_shown_where_there_is_one() {
    let place = Place::new();
    let told = || of(&metrics(), "leafid_snowflake_lease_until_seconds", &place.name);
    let plain = place.builder().worker(8).open().unwrap();
    assert!(told().is_empty());
    let leased = place.builder().worker(WorkerSource::leases(LeaseSource)).open().unwrap();
    let until_ms = leased.stats().unwrap().lease_until_ms.unwrap();
    assert_eq!(told(), [until_ms as f64 / 1_000.0]);
    drop((plain, leased));
}

#[test]
fn a_child_tells_of_its_own_generators() {
    let place = Place::new();
    let flake = place.builder().worker(0..=3).open().unwrap();
    flake.next().unwrap();
    // SAFETY: the child runs this test's own code and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let ran = std::panic::catch_unwind(|| {
            assert!(of(&metrics(), "leafid_snowflake_handles", &place.name).is_empty(), "its parent's");
            flake.next().unwrap();
            let text = metrics();
            assert_eq!(of(&text, "leafid_snowflake_handles", &place.name), [1.0]);
            assert!(!text.contains("worker_id=\"0\""), "{text}");
        });
        // SAFETY: ends the child without its parent's exit handlers.
        unsafe { libc::_exit(i32::from(ran.is_err())) };
    }
    let mut status = -1;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0);
    assert_eq!(of(&metrics(), "leafid_snowflake_handles", &place.name), [1.0]);
}

#[test]
fn ids_and_the_waits_for_them_are_counted() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let mut ids = 0;
    // Two used-up ticks each time: it waits, unless the machine is so slow that they are over by then.
    until("a wait", || {
        ids += flake.take(10_000).unwrap().len() + usize::from(flake.next().is_ok());
        of(&metrics(), "leafid_snowflake_wait_seconds_count", &place.name)[0] > 0.0
    });
    let text = metrics();
    assert_eq!(of(&text, "leafid_snowflake_ids_total", &place.name), [ids as f64]);
    let count = of(&text, "leafid_snowflake_wait_seconds_count", &place.name)[0];
    let buckets = of(&text, "leafid_snowflake_wait_seconds_bucket", &place.name);
    assert!(buckets.is_sorted() && buckets.last() == Some(&count), "{text}");
    assert!(text.contains("leafid_snowflake_wait_seconds_bucket{le=\"+Inf\",name="), "{text}");
    assert!(of(&text, "leafid_snowflake_wait_seconds_sum", &place.name)[0] > 0.0);
    for direction in ["forward", "backward"] {
        assert!(text.contains(&format!("leafid_clock_steps_total{{direction=\"{direction}\"}} ")), "{text}");
    }
}
