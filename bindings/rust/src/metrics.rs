//! Metrics of the generators of this process, in the format of Prometheus.
//!
//! Each call builds its own registry of constants: the locks of the crate's shared metrics do not survive a fork, see
//! `docs/DESIGN.md`.

use crate::os;
use crate::segments::supply_driver::open_drivers;
use crate::snowflake::registry::existing_registry;
use crate::{SegmentsStats, Stats, TagStats};
use leafid_core::DurationCounts;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;

/// The metrics of a snowflake: name without prefix and unit, description, and value.
const SNOWFLAKES: &[Metric<Stats>] = &[
    Metric(
        "snowflake_reserved_until",
        "Ids are durable up to here, exclusive, Unix time",
        Value::Seconds(|stats| Some(stats.reserved_until_ms)),
    ),
    Metric(
        "snowflake_lead",
        "How far the logical clock is ahead of the clock",
        Value::Seconds(|stats| Some(stats.lead_ms)),
    ),
    Metric(
        "snowflake_expires_at",
        "When the timestamp bits of the layout end, Unix time",
        Value::Seconds(|stats| Some(stats.expires_at_ms)),
    ),
    Metric(
        "snowflake_lease_until",
        "Where the lease of the worker id ends, Unix time",
        Value::Seconds(|stats| stats.lease_until_ms),
    ),
    Metric(
        "snowflake_clock_lag",
        "How late the generator's clock may be",
        Value::Seconds(|stats| Some(stats.clock_lag_ms)),
    ),
    Metric(
        "snowflake_claims",
        "Worker ids claimed: more than one when leases were lost",
        Value::Counter(|stats| stats.claims),
    ),
    Metric(
        "snowflake_ids",
        "Ids issued since the claim, with those that a thread reserved for its next calls",
        Value::Counter(|stats| stats.ids),
    ),
    Metric("snowflake_wait", "How long calls waited for an id", Value::Histogram(|stats| &stats.waits)),
    Metric("snowflake_handles", "Open handles of the generator", Value::Gauge(|stats| stats.handles as u64)),
    Metric(
        "snowflake_renewals",
        "Spans made durable since the opening",
        Value::Counter(|stats| stats.renewals),
    ),
    Metric(
        "snowflake_renewal_failures",
        "Renewals of spans and leases that failed",
        Value::Counter(|stats| stats.renewal_failures),
    ),
];

/// The metrics of a tag of segments.
const TAGS: &[Metric<TagStats>] = &[
    Metric("segment_left", "Ids at hand", Value::Gauge(|stats| stats.left)),
    Metric("segment_step", "The step of the last fetch", Value::Gauge(|stats| stats.step as u64)),
    Metric("segment_waiting", "Calls that wait", Value::Gauge(|stats| stats.waiting as u64)),
    Metric(
        "segment_ids",
        "Ids that calls have taken, with those that a thread reserved for its next calls",
        Value::Counter(|stats| stats.ids),
    ),
    Metric("segment_fetches", "Fetches that have ended", Value::Counter(|stats| stats.fetches)),
    Metric(
        "segment_fetch_outcomes",
        "Fetches that have ended, by outcome: ok, or an error's code",
        Value::Outcomes(|stats| &stats.outcomes),
    ),
    Metric("segment_fetch", "How long the source took", Value::Histogram(|stats| &stats.fetch_times)),
    Metric("segment_fetch_failures", "Fetches that failed", Value::Counter(|stats| stats.failures)),
    Metric("segment_waits", "Calls that found nothing at hand", Value::Counter(|stats| stats.waits)),
    Metric("segment_wait", "How long calls waited for ids", Value::Histogram(|stats| &stats.wait_times)),
];

struct Metric<T>(&'static str, &'static str, Value<T>);

enum Value<T> {
    /// Read in milliseconds, shown in seconds; omitted if there is no value.
    Seconds(fn(&T) -> Option<i64>),
    Gauge(fn(&T) -> u64),
    Counter(fn(&T) -> u64),
    /// A counter with the further label `outcome`.
    Outcomes(fn(&T) -> &[(&'static str, u64)]),
    /// In seconds.
    Histogram(fn(&T) -> &DurationCounts),
}

/// Durations as a histogram in seconds.
struct Seconds<'a>(&'a DurationCounts);

impl EncodeMetric for Seconds<'_> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let seconds = |us: u64| us as f64 / 1_000_000.0;
        let ends = self.0.buckets().map(|(end, count)| (end.map_or(f64::INFINITY, seconds), count));
        let buckets: Vec<_> = ends.collect();
        encoder.encode_histogram::<[(&str, &str); 0]>(seconds(self.0.sum_us), self.0.count(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Returns the statistics of every open generator of this process, as text in the OpenMetrics format.
///
/// Prometheus reads this format too. Serve it as `application/openmetrics-text; version=1.0.0; charset=utf-8`. The call
/// reads memory only: it does not read a disk, claim a worker id or wait. In a forked child it shows the generators
/// that the child has used.
pub fn metrics() -> String {
    loop {
        let generation = os::process::generation();
        let open = existing_registry().map(|registry| registry.open_generators()).unwrap_or_default();
        let snowflakes = open.iter().map(|(generator, handles)| Stats::of(generator, *handles)).collect();
        let segments = open_drivers().iter().map(|driver| SegmentsStats::of(driver)).collect();
        // After a fork in between, they belong to the parent.
        if generation == os::process::generation() {
            return encode(Generators { snowflakes, segments });
        }
    }
}

fn encode(generators: Generators) -> String {
    let mut registry = Registry::with_prefix("leafid");
    registry.register_collector(Box::new(generators));
    let mut text = String::new();
    // Writing to memory does not fail.
    let _ = prometheus_client::encoding::text::encode(&mut text, &registry);
    text
}

#[derive(Debug)]
struct Generators {
    snowflakes: Vec<Stats>,
    segments: Vec<SegmentsStats>,
}

impl Collector for Generators {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        // A gauge, because parsers of the older format do not know the type `info`.
        let mut build = encoder.encode_descriptor("build_info", "The version", None, MetricType::Gauge)?;
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        ConstGauge::new(1u64).encode(build.encode_family(&version)?)?;
        let (forward, backward) = os::clock::STEPS.counts();
        let help = "Times that the system's clock was set, as this process saw it";
        let mut steps = encoder.encode_descriptor("clock_steps", help, None, MetricType::Counter)?;
        for (direction, count) in [("forward", forward), ("backward", backward)] {
            let labels = [("direction", direction)];
            ConstCounter::new(count).encode(steps.encode_family(&labels)?)?;
        }
        for metric in SNOWFLAKES {
            metric.encode(&mut encoder, self.snowflakes.iter().map(|stats| (stats, labels(stats))))?;
        }
        for metric in TAGS {
            let tags = self.segments.iter().flat_map(|stats| {
                stats.tags.iter().map(move |tag| {
                    let labels = [
                        ("name", stats.name.clone()),
                        ("source", stats.source.clone()),
                        ("state_dir", stats.state_dir.clone()),
                        ("tag", tag.tag.clone()),
                    ];
                    (tag, labels)
                })
            });
            metric.encode(&mut encoder, tags)?;
        }
        Ok(())
    }
}

fn labels(stats: &Stats) -> [(&'static str, String); 4] {
    [
        ("name", stats.name.clone()),
        ("worker_id", stats.worker_id.to_string()),
        ("state_dir", stats.state_dir.clone()),
        ("layout", stats.layout.clone()),
    ]
}

impl<T> Metric<T> {
    /// Encodes the metric for all of these, each with its labels.
    fn encode<'a>(
        &self,
        encoder: &mut DescriptorEncoder,
        all: impl Iterator<Item = (&'a T, [(&'static str, String); 4])>,
    ) -> fmt::Result
    where
        T: 'a,
    {
        let Metric(name, help, value) = self;
        let (unit, kind) = match value {
            Value::Seconds(_) => (Some(&Unit::Seconds), MetricType::Gauge),
            Value::Gauge(_) => (None, MetricType::Gauge),
            Value::Counter(_) | Value::Outcomes(_) => (None, MetricType::Counter),
            Value::Histogram(_) => (Some(&Unit::Seconds), MetricType::Histogram),
        };
        let mut family = encoder.encode_descriptor(name, help, unit, kind)?;
        for (stats, labels) in all {
            match value {
                Value::Seconds(ms) => {
                    let Some(ms) = ms(stats) else { continue };
                    ConstGauge::new(ms as f64 / 1_000.0).encode(family.encode_family(&labels)?)?;
                }
                Value::Gauge(read) => ConstGauge::new(read(stats)).encode(family.encode_family(&labels)?)?,
                Value::Counter(read) => {
                    ConstCounter::new(read(stats)).encode(family.encode_family(&labels)?)?
                }
                Value::Outcomes(read) => {
                    for (outcome, count) in read(stats) {
                        let mut labels = labels.to_vec();
                        labels.push(("outcome", (*outcome).to_owned()));
                        ConstCounter::new(*count).encode(family.encode_family(&labels)?)?;
                    }
                }
                Value::Histogram(read) => Seconds(read(stats)).encode(family.encode_family(&labels)?)?,
            }
        }
        Ok(())
    }
}
