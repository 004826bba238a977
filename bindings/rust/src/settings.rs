//! Options, checked.

use crate::directory;
use crate::worker::WorkerIds;
use crate::{SnowflakeBuilder, Worker, allowed};
use leafid_core::{Error, Layout, OnClockBackwards, OnExhausted, Result, Rules};
use std::path::PathBuf;
use std::time::Duration;

/// What a snowflake was opened with: valid, and complete but for the state of the world.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// What makes two openings the same generator, but for the directory's identity.
    pub(crate) key: Key,
    /// The directory of the id space: the state directory's sub-directory `name`.
    pub(crate) directory: PathBuf,
    pub(crate) timeout: Duration,
    /// The longest wait for the clock that this handle takes part in.
    pub(crate) max_wait: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) workers: WorkerIds,
    pub(crate) layout: Layout,
    pub(crate) rules: Rules,
}

impl Settings {
    pub(crate) fn parse(options: &SnowflakeBuilder) -> Result<Settings> {
        let layout = match options.epoch_ms {
            Some(epoch_ms) => options.layout.with_epoch_ms(epoch_ms)?,
            None => options.layout,
        };
        let (said, worker) = match &options.worker {
            Some(worker) => ("worker", worker.clone()),
            None => match std::env::var_os("LEAFID_WORKER") {
                Some(text) => ("LEAFID_WORKER", Worker::Text(text.to_string_lossy().into_owned())),
                None => {
                    return Err(Error::invalid("worker", "not set, nor is LEAFID_WORKER", allowed("worker")));
                }
            },
        };
        let name = options.name.clone().unwrap_or_else(|| "default".into());
        let word = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if !(1..=64).contains(&name.len()) || !name.bytes().all(word) || name.starts_with('.') {
            return Err(Error::invalid("name", format!("{name:?}"), allowed("name")));
        }
        if options.on_exhausted == OnExhausted::Borrow && options.on_clock_backwards == OnClockBackwards::Wait
        {
            let allowed = "\"wait\" when on_clock_backwards is \"wait\", which never runs ahead of the clock";
            return Err(Error::invalid("on_exhausted", "\"borrow\"", allowed));
        }
        let (least, most) = options.on_clock_backwards.max_ms_range();
        let rules = Rules {
            on_clock_backwards: options.on_clock_backwards,
            max_backwards_ms: match options.max_backwards_ms {
                None => options.on_clock_backwards.default_max_ms(),
                Some(ms) if (least..=most).contains(&ms) => ms,
                Some(ms) => return Err(Error::invalid("max_backwards_ms", ms, allowed("max_backwards_ms"))),
            },
            on_exhausted: options.on_exhausted,
            random_start: match options.random_start {
                None => Rules::default().random_start,
                // Fits: checked here.
                Some(below @ 0..=1_000_000) => below as u32,
                Some(below) => return Err(Error::invalid("random_start", below, allowed("random_start"))),
            },
        };
        let milliseconds = |name, ms: i64, least| match ms {
            1..=3_600_000 => Ok(Duration::from_millis(ms as u64)),
            0 if least == 0 => Ok(Duration::ZERO),
            _ => Err(Error::invalid(name, ms, allowed("timeout_ms"))),
        };
        Ok(Settings {
            directory: directory::state_dir(options.state_dir.as_deref())?.join(&name),
            key: Key { name, workers: WorkerIds::parse(said, &worker, &layout)?, layout, rules },
            timeout: milliseconds("timeout_ms", options.timeout_ms.unwrap_or(2_000), 1)?,
            max_wait: options.max_wait_ms.map(|ms| milliseconds("max_wait_ms", ms, 0)).transpose()?,
        })
    }
}
