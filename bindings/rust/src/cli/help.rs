//! `leafid help`: the pages of the documentation that messages name. A package has no other copy of them.

use super::streams::{Outcome, Streams};
use clap::{Args, ValueEnum};

/// Print a page of the documentation, or the list of the pages
///
/// Each command is described by its --help.
#[derive(Args)]
pub(super) struct HelpArguments {
    /// The page
    #[arg(value_name = "TOPIC")]
    topic: Option<Topic>,
}

/// The pages, which pages/ has as links to docs/. A message that names one says `leafid help TOPIC`.
#[derive(Clone, Copy, ValueEnum)]
enum Topic {
    /// Each option: what it does, its default and what is allowed
    Options,
    /// The codes of errors, and which may be tried again
    Errors,
    /// A duplicate key error: find the two hosts, stop it, repair the rows
    Duplicates,
    /// What may happen, what one host is, the command line, the log, platforms, limits
    Operating,
    /// Worker ids from lease servers, or from your own database
    Leases,
    /// The id server, leafid-server
    Server,
    /// Node: install, test, bundle
    Node,
}

impl Topic {
    fn page(self) -> &'static str {
        match self {
            Topic::Options => include_str!("../../pages/OPTIONS.md"),
            Topic::Errors => include_str!("../../pages/ERRORS.md"),
            Topic::Duplicates => include_str!("../../pages/DUPLICATES.md"),
            Topic::Operating => include_str!("../../pages/OPERATING.md"),
            Topic::Leases => include_str!("../../pages/LEASES.md"),
            Topic::Server => include_str!("../../pages/SERVER.md"),
            Topic::Node => include_str!("../../pages/NODE.md"),
        }
    }
}

pub(super) fn help(arguments: &HelpArguments, streams: &mut Streams<'_>) -> Outcome {
    match arguments.topic {
        Some(topic) => streams.stdout.write_all(topic.page().as_bytes())?,
        None => {
            for topic in Topic::value_variants().iter().filter_map(Topic::to_possible_value) {
                let about = topic.get_help().map(ToString::to_string).unwrap_or_default();
                writeln!(streams.stdout, "leafid help {:11} {about}", topic.get_name())?;
            }
        }
    }
    Ok(true)
}
