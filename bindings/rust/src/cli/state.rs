//! `leafid state`: shows and resets the records of worker ids.

use super::holder;
use super::options::Space;
use super::streams::{Outcome, Streams};
use crate::os::env::Env;
use crate::storage::state_file;
use crate::worker::reset::{Reset, reset};
use crate::{Error, Result, Utc};
use clap::{Args, Subcommand};
use leafid_core::format::state::{self, SlotPair};
use leafid_core::{Layout, Record, Span};
use serde_json::{Value, json};
use std::fmt::{Display, Write as _};
use std::path::Path;

/// Manage the records of worker ids
#[derive(Subcommand)]
pub(super) enum StateCommand {
    Show(ShowState),
    Reset(ResetOne),
}

/// Show the record of a worker id, and whether it is held; locks nothing
#[derive(Args)]
pub(super) struct ShowState {
    /// A worker id, or "all"
    #[arg(value_name = "N", default_value = "all", value_parser = which)]
    worker: Which,
    #[command(flatten)]
    space: Space,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Give up a record that lies ahead of the clock, so that ids begin at the clock again
///
/// The time that was granted ahead is skipped: no id is issued for it when the clock gets there. Correct the clock
/// first.
#[derive(Args)]
pub(super) struct ResetOne {
    /// The worker id
    #[arg(value_name = "N")]
    worker: u32,
    /// The worker id again
    #[arg(long, value_name = "N")]
    confirm: u32,
    #[command(flatten)]
    space: Space,
    /// Print it as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy)]
enum Which {
    All,
    One(u32),
}

fn which(text: &str) -> std::result::Result<Which, String> {
    match text {
        "all" => Ok(Which::All),
        _ => text.parse().map(Which::One).map_err(|_| "neither a worker id nor \"all\"".into()),
    }
}

pub(super) fn state(command: &StateCommand, streams: &mut Streams<'_>) -> Outcome {
    match command {
        StateCommand::Show(arguments) => show(arguments, streams),
        StateCommand::Reset(arguments) => reset_one(arguments, streams),
    }
}

fn show(arguments: &ShowState, streams: &mut Streams<'_>) -> Outcome {
    let settings = arguments.space.settings()?;
    let (directory, name) = (&settings.directory, &settings.options.name);
    let env = Env::system();
    let ids = match arguments.worker {
        Which::One(id) => vec![id],
        Which::All => state_file::recorded(&env, directory)?,
    };
    if ids.is_empty() {
        streams.complain(format!("no worker id of {name:?} has a record in {}", directory.display()));
    }
    let mut all = true;
    for worker_id in ids {
        let found = look(&env, directory, worker_id);
        let holder = found.as_ref().ok().and_then(|_| holder::holder_of(&env, directory, name, worker_id));
        let now_ms = env.clock.filtered_ms();
        let as_json = |slots: &SlotPair| as_json(slots, holder.as_deref(), now_ms);
        let as_text = |slots: &SlotPair| as_text(slots, holder.as_deref(), now_ms);
        let named = (("worker_id", worker_id.into()), &*format!("worker id {worker_id}: "));
        all &= streams.show(found, arguments.json, named, (as_json, as_text))?;
    }
    Ok(all)
}

fn look(env: &Env, directory: &Path, worker_id: u32) -> Result<SlotPair> {
    let path = state_file::path_of(directory, worker_id);
    let bytes = env.disk.peek(&path).map_err(|error| state_file::failed("read", &path, &error))?;
    let missing = || {
        let allowed = format!("a worker id that was used: there is no {}", path.display());
        Error::invalid("worker", worker_id, &allowed)
    };
    state::read_file(path.display(), &bytes.ok_or_else(missing)?)
}

fn in_ms(layout: &Layout, span: &Span) -> (i64, i64) {
    (layout.tick_start_ms(span.from), layout.tick_start_ms(span.until))
}

fn all_in_ms(layout: &Layout, spans: &[Span]) -> Vec<(i64, i64)> {
    spans.iter().map(|span| in_ms(layout, span)).collect()
}

/// How far the record ends ahead of the clock.
fn lead_ms(record: &Record, now_ms: i64) -> i64 {
    record.layout.tick_start_ms(record.run.until).saturating_sub(now_ms).max(0)
}

fn as_json(slots: &SlotPair, holder: Option<&str>, now_ms: i64) -> Value {
    let (stored, record) = (&slots.newest, &slots.newest.record);
    let layout = &record.layout;
    let (first_ms, until_ms) = in_ms(layout, &record.run);
    json!({
        "worker_id": record.worker_id,
        "name": stored.name,
        "layout": layout.to_string(),
        "epoch_ms": layout.epoch_ms(),
        "tick_ms": layout.tick_ms(),
        "first_ms": first_ms,
        "until_ms": until_ms,
        "granted_at_ms": record.granted_at_ms,
        "lead_ms": lead_ms(record, now_ms),
        "burnt_ms": all_in_ms(layout, &record.skipped),
        "former_ms": all_in_ms(layout, &record.former),
        "writer": {"pid": stored.writer.pid, "host": stored.writer.host, "started": stored.writer.started},
        "held_by": holder,
        "one_slot_damaged": slots.damaged,
        "refused": record.check().err().map(|error| error.message().to_owned()),
    })
}

fn as_text(slots: &SlotPair, holder: Option<&str>, now_ms: i64) -> String {
    let (stored, record) = (&slots.newest, &slots.newest.record);
    let mut text = format!("worker id {} of {:?}", record.worker_id, stored.name);
    let mut line = |what: &str, how: &dyn Display| {
        // Writing to a string does not fail.
        let _ = write!(text, "\n  {what:<8} {how}");
    };
    line("held", &format!("by {}", holder.unwrap_or("nobody")));
    let layout = &record.layout;
    line("layout", &format!("{layout}, epoch_ms {}, tick_ms {}", layout.epoch_ms(), layout.tick_ms()));
    line("run", &run(record));
    match record.granted_at_ms {
        0 => line("granted", &"never"),
        granted_at_ms => line("granted", &Utc(granted_at_ms)),
    }
    line("lead", &format!("{} ms ahead of the clock", lead_ms(record, now_ms)));
    for span in &record.skipped {
        line("skipped", &from_to(layout, span));
    }
    for span in &record.former {
        line("former", &from_to(layout, span));
    }
    let writer = &stored.writer;
    if writer.pid > 0 {
        line("writer", &format!("pid {} on host {}, started {}", writer.pid, writer.host, writer.started));
    }
    if let Err(error) = record.check() {
        line("refused", &error.message());
    }
    if slots.damaged {
        line(
            "damaged",
            &"one of two slots; the next start continues above all ids that may have been issued",
        );
    }
    text
}

fn from_to(layout: &Layout, span: &Span) -> String {
    let (from, until) = in_ms(layout, span);
    format!("{} to {}", Utc(from), Utc(until))
}

fn run(record: &Record) -> String {
    match record.run.is_empty() {
        true => {
            let next = record.layout.tick_start_ms(record.first_free(record.run.from));
            format!("none, the next one begins at {} or later", Utc(next))
        }
        false => from_to(&record.layout, &record.run),
    }
}

fn reset_one(arguments: &ResetOne, streams: &mut Streams<'_>) -> Outcome {
    let worker_id = arguments.worker;
    if arguments.confirm != worker_id {
        let allowed = format!("{worker_id}, the worker id to reset, as a confirmation");
        return Err(Error::invalid("confirm", arguments.confirm, &allowed).into());
    }
    let settings = arguments.space.settings()?;
    let name = &settings.options.name;
    let Reset { before, after } = reset(&Env::system(), &settings, worker_id)?;
    if arguments.json {
        let line = json!({
            "worker_id": worker_id,
            "name": name,
            "before_ms": in_ms(&before.layout, &before.run),
            "after_ms": in_ms(&after.layout, &after.run),
            "burnt_ms": all_in_ms(&after.layout, &after.skipped),
        });
        writeln!(streams.stdout, "{line}")?;
        return Ok(true);
    }
    writeln!(streams.stdout, "worker id {worker_id} of {name:?} was reset")?;
    writeln!(streams.stdout, "  before   {}", run(&before))?;
    writeln!(streams.stdout, "  after    {}", run(&after))?;
    for span in &after.skipped {
        writeln!(streams.stdout, "  skipped  {}", from_to(&after.layout, span))?;
    }
    Ok(true)
}
