//! `leafid watch`: the worker ids and tags of this host, live.

use super::holder;
use super::options::Space;
use super::scrape::{self, Sample};
use super::streams::{Outcome, Streams};
use crate::os::{self, env::Env};
use crate::segments::high_water;
use crate::storage::state_file;
use crate::{Result, Utc, shown_url};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The length of a bar: two segments.
const BAR: usize = 20;
/// More lines of one kind do not fit on a screen.
const MOST_LINES: usize = 40;

/// Watch the worker ids that are held on this host, and the segments of tags
///
/// Reads the state directory: which process holds each worker id, up to when its span is durable, and how fast the mark
/// of each tag moves. What is only in a process's memory comes from its metrics, if --metrics names them: ids a second,
/// and how full the segments of each tag are, as bars of two segments. Locks nothing. Ends with Ctrl-C.
#[derive(Args)]
pub(super) struct WatchArguments {
    /// An http:// URL at which an application serves leafid's metrics; can be repeated
    #[arg(long, value_name = "URL")]
    metrics: Vec<String>,
    /// The time between two looks, milliseconds
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(50..=3_600_000))]
    interval_ms: u64,
    /// End after this number of looks [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// The id space and the state directory; without a name all of the directory
    #[command(flatten)]
    space: Space,
    /// Print each look as a line of JSON
    #[arg(long)]
    json: bool,
}

/// A counter of some source, and when it was read.
type Readings = BTreeMap<String, (Instant, f64)>;

/// What one look found.
#[derive(Default)]
struct Look {
    workers: Vec<HeldWorker>,
    marks: Vec<TagMark>,
    segments: Vec<SegmentFill>,
    errors: Vec<String>,
}

struct HeldWorker {
    name: String,
    worker_id: u32,
    holder: String,
    until_ms: Option<i64>,
    rate: Option<f64>,
}

struct TagMark {
    name: String,
    tag: String,
    source: String,
    mark: i64,
    rate: Option<f64>,
}

struct SegmentFill {
    name: String,
    tag: String,
    source: String,
    left: f64,
    step: f64,
    rate: Option<f64>,
}

pub(super) fn watch(arguments: &WatchArguments, streams: &mut Streams<'_>) -> Outcome {
    let settings = arguments.space.settings()?;
    let root = settings.directory.parent().unwrap_or(&settings.directory).to_owned();
    let only = arguments.space.name.is_some().then(|| settings.options.name.clone());
    let env = Env::system();
    // The console of Windows may not know the codes.
    let live = streams.is_terminal && !arguments.json && !cfg!(windows);
    if streams.is_terminal {
        // Ctrl-C is its only end.
        os::end_on_interrupt();
    }
    let mut before = Readings::new();
    let mut looks = 0;
    loop {
        let mut now = Readings::new();
        let look = Look::take(&env, &root, only.as_deref(), arguments, &before, &mut now)?;
        before = now;
        let now_ms = env.clock.filtered_ms();
        if arguments.json {
            writeln!(streams.stdout, "{}", look.as_json(&root, now_ms))?;
        } else {
            let text = look.as_text(&root, now_ms);
            if live {
                // Over the last look, line by line, so that nothing flickers.
                let begin = if looks == 0 { "\x1b[2J\x1b[H" } else { "\x1b[H" };
                write!(streams.stdout, "{begin}{}\x1b[J", text.replace('\n', "\x1b[K\n"))?;
            } else {
                writeln!(streams.stdout, "{text}")?;
            }
        }
        streams.stdout.flush()?;
        looks += 1;
        if arguments.count == Some(looks) {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(arguments.interval_ms));
    }
}

/// The rate of a counter since the last look; `None` at the first one, or if it began again.
fn rate(before: &Readings, now: &mut Readings, key: String, value: f64) -> Option<f64> {
    let at = Instant::now();
    let rate = before.get(&key).and_then(|(then, last)| {
        let seconds = at.duration_since(*then).as_secs_f64();
        (value >= *last && seconds > 0.0).then(|| (value - last) / seconds)
    });
    now.insert(key, (at, value));
    rate
}

impl Look {
    fn take(
        env: &Env,
        root: &Path,
        only: Option<&str>,
        arguments: &WatchArguments,
        before: &Readings,
        now: &mut Readings,
    ) -> Result<Look> {
        let mut look = Look::default();
        let mut samples = Vec::new();
        for url in &arguments.metrics {
            match scrape::get(url) {
                Ok(page) => samples.extend(scrape::samples(&page)),
                Err(error) => look.errors.push(format!("{}: {error}", shown_url(url))),
            }
        }
        for (name, directory) in spaces(root, only)? {
            for worker_id in state_file::recorded(env, &directory)? {
                let Some(holder) = holder::holder_of(env, &directory, &name, worker_id) else { continue };
                let record = state_file::peek(env, &directory, worker_id);
                let until_ms = match record {
                    Ok(found) => found.map(|found| found.record.layout.tick_start_ms(found.record.run.until)),
                    Err(error) => {
                        look.errors.push(format!("worker id {worker_id} of {name:?}: {error}"));
                        None
                    }
                };
                let issued = samples.iter().find(|sample| {
                    sample.name == "leafid_snowflake_ids_total"
                        && sample.label("name") == name
                        && sample.label("worker_id") == worker_id.to_string()
                        && Path::new(sample.label("state_dir")) == directory
                });
                let rate = issued
                    .and_then(|issued| rate(before, now, format!("worker {name} {worker_id}"), issued.value));
                look.workers.push(HeldWorker { name: name.clone(), worker_id, holder, until_ms, rate });
            }
            for (file, listed) in high_water::list(env, &directory)? {
                match listed {
                    Ok(listed) => look.marks.push(TagMark {
                        rate: rate(before, now, format!("mark {name} {file}"), listed.mark as f64),
                        name: name.clone(),
                        tag: listed.tag,
                        source: listed.source,
                        mark: listed.mark,
                    }),
                    Err(error) => look.errors.push(error.to_string()),
                }
            }
        }
        look.segments = fills(&samples, only, before, now);
        Ok(look)
    }

    fn as_json(&self, root: &Path, now_ms: i64) -> Value {
        let workers = self.workers.iter().map(|worker| {
            json!({
                "name": worker.name,
                "worker_id": worker.worker_id,
                "held_by": worker.holder,
                "until_ms": worker.until_ms,
                "ids_per_second": worker.rate,
            })
        });
        let marks = self.marks.iter().map(|mark| {
            json!({
                "name": mark.name,
                "tag": mark.tag,
                "source": mark.source,
                "mark": mark.mark.to_string(),
                "fetched_per_second": mark.rate,
            })
        });
        let segments = self.segments.iter().map(|fill| {
            json!({
                "name": fill.name,
                "tag": fill.tag,
                "source": fill.source,
                "left": fill.left,
                "step": fill.step,
                "ids_per_second": fill.rate,
            })
        });
        json!({
            "time_ms": now_ms,
            "state_dir": root.display().to_string(),
            "workers": workers.collect::<Vec<_>>(),
            "marks": marks.collect::<Vec<_>>(),
            "segments": segments.collect::<Vec<_>>(),
            "errors": self.errors,
        })
    }

    /// A block of lines, with an empty one at its end.
    fn as_text(&self, root: &Path, now_ms: i64) -> String {
        let mut lines = vec![format!("{}  {}", Utc(now_ms), root.display())];
        list(&mut lines, "no worker id is held", &self.workers, |worker| {
            let span = worker.until_ms.map_or_else(String::new, |ms| {
                format!("  durable for {:.1} s", (ms - now_ms) as f64 / 1_000.0)
            });
            let HeldWorker { name, worker_id, holder, .. } = worker;
            format!("worker {worker_id} of {name}  {}{span}  by {holder}", per_second(worker.rate))
        });
        list(&mut lines, "no tag has a mark", &self.marks, |mark| {
            let TagMark { name, tag, source, mark: value, .. } = mark;
            format!("tag {tag} of {name}  {} fetched  mark {value}  {source}", per_second(mark.rate))
        });
        if !self.segments.is_empty() {
            list(&mut lines, "", &self.segments, |fill| {
                let SegmentFill { name, tag, left, step, source, .. } = fill;
                let rate = per_second(fill.rate);
                format!(
                    "segments {tag} of {name}  [{}] {left} left, step {step}  {rate}  {source}",
                    bar(fill)
                )
            });
        }
        lines.extend(self.errors.iter().map(|error| format!("error  {error}")));
        // Names and messages come from files and servers: they must not steer the terminal.
        let clean = |line: &String| line.replace(char::is_control, "?");
        lines.iter().map(clean).fold(String::new(), |text, line| text + &line + "\n")
    }
}

fn list<T>(lines: &mut Vec<String>, none: &str, all: &[T], line: impl Fn(&T) -> String) {
    if all.is_empty() {
        lines.push(none.to_owned());
    }
    lines.extend(all.iter().take(MOST_LINES).map(line));
    if let Some(more) = all.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
        lines.push(format!("… and {more} more"));
    }
}

fn per_second(rate: Option<f64>) -> String {
    rate.map_or_else(|| "? ids/s".into(), |rate| format!("{rate:.0} ids/s"))
}

/// Two segments are a full bar.
fn bar(fill: &SegmentFill) -> String {
    let part = if fill.step > 0.0 { fill.left / (2.0 * fill.step) } else { 0.0 };
    let full = (part.clamp(0.0, 1.0) * BAR as f64).ceil() as usize;
    format!("{}{}", "#".repeat(full), ".".repeat(BAR - full))
}

/// The id spaces of a state directory, sorted.
fn spaces(root: &Path, only: Option<&str>) -> Result<Vec<(String, PathBuf)>> {
    if let Some(name) = only {
        return Ok(vec![(name.to_owned(), root.join(name))]);
    }
    let failed = |error: io::Error| state_file::failed("read", root, &error);
    let entries = match std::fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut spaces = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_dir()) {
            spaces.push((name.to_owned(), path.clone()));
        }
    }
    spaces.sort();
    Ok(spaces)
}

/// The tags of the applications whose metrics were read.
fn fills(samples: &[Sample], only: Option<&str>, before: &Readings, now: &mut Readings) -> Vec<SegmentFill> {
    let of = |name: &str, labels: &BTreeMap<String, String>| {
        samples.iter().find(|sample| sample.name == name && sample.labels == *labels).map(|found| found.value)
    };
    let tags = samples.iter().filter(|sample| sample.name == "leafid_segment_left");
    tags.filter(|sample| only.is_none_or(|only| sample.label("name") == only))
        .map(|sample| SegmentFill {
            name: sample.label("name").into(),
            tag: sample.label("tag").into(),
            source: sample.label("source").into(),
            left: sample.value,
            step: of("leafid_segment_step", &sample.labels).unwrap_or(0.0),
            rate: of("leafid_segment_ids_total", &sample.labels)
                .and_then(|ids| rate(before, now, format!("segments {:?}", sample.labels), ids)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(left: f64, step: f64) -> SegmentFill {
        let text = || "order".to_owned();
        SegmentFill { name: text(), tag: text(), source: text(), left, step, rate: None }
    }

    #[test]
    fn a_bar_is_two_segments() {
        for (left, full) in [(0.0, 0), (1.0, 1), (1_000.0, 10), (2_000.0, 20), (9_000.0, 20)] {
            assert_eq!(bar(&fill(left, 1_000.0)), "#".repeat(full) + &".".repeat(20 - full));
        }
        assert_eq!(bar(&fill(7.0, 0.0)), ".".repeat(20));
    }

    #[test]
    fn a_line_has_no_control_character_and_a_long_list_an_end() {
        let mut look = Look::default();
        look.segments.push(SegmentFill { tag: "a\x1b[31m\nb".into(), ..fill(1.0, 1.0) });
        look.errors.extend((0..3).map(|n| format!("wrong {n}")));
        let text = look.as_text(Path::new("/state"), 0);
        assert!(text.contains("segments a?[31m?b of order") && text.contains("error  wrong 2\n"), "{text}");
        let mut lines = Vec::new();
        list(&mut lines, "none", &[1; 42], ToString::to_string);
        assert_eq!((lines.len(), lines[40].as_str()), (41, "… and 2 more"));
    }

    #[test]
    fn a_rate_needs_two_looks_and_a_counter_that_rises() {
        let (mut first, mut second) = (Readings::new(), Readings::new());
        assert_eq!(rate(&Readings::new(), &mut first, "a".into(), 10.0), None);
        std::thread::sleep(Duration::from_millis(20));
        let risen = rate(&first, &mut second, "a".into(), 20.0);
        assert!(risen.is_some_and(|rate| rate > 0.0 && rate <= 500.0), "{risen:?}");
        assert_eq!(rate(&second, &mut first, "a".into(), 5.0), None, "it began again");
    }
}
