//! `leafid file`: creates and shows directories of counters that processes of a host share.

use super::streams::{Outcome, Streams};
use crate::config::user_options::with_environment;
use crate::os::env::{Env, Sharing};
use crate::segments::source::file::{CounterDirectory, FileSource};
use clap::{Args, Subcommand};
use leafid_core::format::counter::Counter;
use leafid_core::format::shared::Found;
use leafid_core::options::{FileTag, OptionOf, OptionValues, check_tag};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// Manage directories of counters, the source file:DIR of segments
#[derive(Subcommand)]
pub(super) enum FileCommand {
    Create(Create),
    Show(ShowFile),
}

/// Create a directory of counters, or counters in an existing one
///
/// An existing counter keeps the values that are not given, and is never lowered.
#[derive(Args)]
pub(super) struct Create {
    #[command(flatten)]
    directory: Directory,
    /// A tag that gets a counter; can be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The first id of each given tag; for an existing counter, the smallest next id [default: 1]
    #[arg(long, value_name = "N", requires = "tags")]
    start: Option<i64>,
    /// The number of ids of a fetch that requests no number, for each given tag [default: 1000]
    #[arg(long, value_name = "N", requires = "tags")]
    step: Option<i64>,
    /// The members of one group share it: files of mode 0660, directories 2770 [default: LEAFID_SHARED_GROUP]
    #[arg(long)]
    shared_group: bool,
    /// Print each counter as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Show the counters of a directory; locks nothing
#[derive(Args)]
pub(super) struct ShowFile {
    #[command(flatten)]
    directory: Directory,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Directory {
    /// The directory
    #[arg(value_name = "DIR")]
    path: PathBuf,
    /// The directory may be on a network: its locks work between all hosts that use it
    #[arg(long)]
    shared_fs: bool,
}

pub(super) fn file(command: &FileCommand, streams: &mut Streams<'_>) -> Outcome {
    match command {
        FileCommand::Create(arguments) => create(arguments, streams),
        FileCommand::Show(arguments) => show(arguments, streams),
    }
}

fn create(arguments: &Create, streams: &mut Streams<'_>) -> Outcome {
    let (start, step) = (arguments.start, arguments.step);
    let fresh = FileTag::default();
    let how = FileTag { start: start.unwrap_or(fresh.start), step: step.unwrap_or(fresh.step) };
    for tag in &arguments.tags {
        check_tag(tag)?;
        how.check(tag)?;
    }
    let Directory { path, shared_fs } = &arguments.directory;
    let unset = OptionValues::new(OptionOf::Segments);
    let group = arguments.shared_group || with_environment("", |of| of.flag(&unset, "shared_group"))?;
    let sharing = Sharing { fs: *shared_fs, group };
    let source = FileSource::open(Arc::new(Env::system()), path, true, &[], sharing)?;
    if !arguments.json {
        describe(source.directory(), streams)?;
    }
    for tag in &arguments.tags {
        let counter = source.make_by_hand(tag, how, step)?;
        match arguments.json {
            true => writeln!(streams.stdout, "{}", as_json(tag, &counter, false))?,
            false => writeln!(streams.stdout, "{}", as_text(tag, &counter, false))?,
        }
    }
    Ok(true)
}

fn show(arguments: &ShowFile, streams: &mut Streams<'_>) -> Outcome {
    let env = Env::system();
    let Directory { path, shared_fs } = &arguments.directory;
    let directory = CounterDirectory::open(&env, path, *shared_fs)?;
    if !arguments.json {
        describe(&directory, streams)?;
    }
    let mut all = true;
    for (name, found) in directory.counters(&env)? {
        let as_json = |found: &Found<Counter>| as_json(&name, &found.content, found.damaged);
        let as_text = |found: &Found<Counter>| as_text(&name, &found.content, found.damaged);
        let named = (("file", name.clone().into()), "");
        all &= streams.show(found, arguments.json, named, (as_json, as_text))?;
    }
    Ok(all)
}

fn describe(directory: &CounterDirectory, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let path = directory.path().display();
    writeln!(streams.stdout, "{path} is {}, made {}", directory.name(), directory.created())
}

fn as_json(tag: &str, counter: &Counter, damaged: bool) -> Value {
    json!({
        "tag": tag,
        "next": counter.next().to_string(),
        "step": counter.step,
        "one_slot_damaged": damaged,
    })
}

fn as_text(tag: &str, counter: &Counter, damaged: bool) -> String {
    let damage = if damaged {
        "\tone of two slots is damaged; the next fetch continues above all ids that may have been given"
    } else {
        ""
    };
    format!("{tag}\tnext {}\tstep {}{damage}", counter.next(), counter.step)
}
