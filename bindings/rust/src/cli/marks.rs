//! `leafid marks`: shows and forgets the marks of tags.

use super::options::Space;
use super::streams::{Outcome, Streams};
use crate::os::env::Env;
use crate::segments::high_water::{self, Listed};
use crate::{Error, Utc};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Manage the marks of segments: every id of a tag below its mark was given
#[derive(Subcommand)]
pub(super) enum MarksCommand {
    Show(ShowMarks),
    Forget(Forget),
}

/// Show the mark of each tag; locks nothing
#[derive(Args)]
pub(super) struct ShowMarks {
    #[command(flatten)]
    space: Space,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

/// Forget a tag's mark, so that its source may give any range again
///
/// For a mark that a wrong response has left, or after an intended jump of the counter. End the processes that use the
/// tag first, and see that the source's counter is above every id in use: a range that was given before is not refused
/// after this.
#[derive(Args)]
pub(super) struct Forget {
    /// The tag
    #[arg(value_name = "TAG")]
    tag: String,
    /// Whose mark it is: range, leaf, leaf-snowflake, tinyid, callback, or file:DIR
    #[arg(long, value_name = "P")]
    protocol: String,
    /// The tag again
    #[arg(long, value_name = "TAG")]
    confirm: String,
    #[command(flatten)]
    space: Space,
    /// Print it as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn marks(command: &MarksCommand, streams: &mut Streams<'_>) -> Outcome {
    match command {
        MarksCommand::Show(arguments) => show(arguments, streams),
        MarksCommand::Forget(arguments) => forget(arguments, streams),
    }
}

fn show(arguments: &ShowMarks, streams: &mut Streams<'_>) -> Outcome {
    let settings = arguments.space.settings()?;
    let (directory, name) = (&settings.directory, &settings.options.name);
    let found = high_water::list(&Env::system(), directory)?;
    if found.is_empty() {
        streams.complain(format!("no tag of {name:?} has a mark in {}", directory.display()));
    }
    let mut all = true;
    for (file, listed) in found {
        all &= streams.show(listed, arguments.json, (("file", file.into()), ""), (as_json, as_text))?;
    }
    Ok(all)
}

fn as_json(listed: &Listed) -> Value {
    json!({
        "tag": listed.tag,
        "source": listed.source,
        "mark": listed.mark.to_string(),
        "fetched_ms": listed.fetched_ms,
        "rest_kept": listed.rest_kept,
    })
}

fn as_text(listed: &Listed) -> String {
    let fetched = match listed.fetched_ms {
        0 => "never".to_owned(),
        ms => Utc(ms).to_string(),
    };
    let rest = if listed.rest_kept { "\ta rest is kept" } else { "" };
    format!("{}\tof {}\tmark {}\tfetched {fetched}{rest}", listed.tag, listed.source, listed.mark)
}

fn forget(arguments: &Forget, streams: &mut Streams<'_>) -> Outcome {
    let Forget { tag, protocol, confirm, space, json } = arguments;
    if confirm != tag {
        let allowed = format!("{tag:?}, the tag whose mark is forgotten, as a confirmation");
        return Err(Error::invalid("confirm", format!("{confirm:?}"), &allowed).into());
    }
    let settings = space.settings()?;
    let source = high_water::source_of(protocol);
    let before = high_water::forget(&Env::system(), &settings.directory, &source, tag)?;
    let name = &settings.options.name;
    if *json {
        let line = json!({"tag": tag, "source": source, "name": name, "before": before.to_string()});
        writeln!(streams.stdout, "{line}")?;
        return Ok(true);
    }
    writeln!(streams.stdout, "the mark of the tag {tag:?} of {source} in {name:?} was forgotten")?;
    writeln!(streams.stdout, "  before   {before}")?;
    Ok(true)
}
