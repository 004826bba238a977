//! `segments <command>`: the subject of the system tests of segments. `serve` does what it is told, `stream` writes ids
//! until it is killed, the others attack by themselves.

mod burst;
mod crowd;
mod footprint;
mod serve;
mod source;
mod stream;

use crate::options::Options;
pub use source::builder;

/// Runs the command that comes next.
pub fn run(mut args: impl Iterator<Item = String>) -> Result<(), String> {
    let command = args.next().unwrap_or_default();
    let options = Options::parse(args);
    match command.as_str() {
        "serve" => serve::run(),
        "stream" => stream::run(&options),
        "burst" => burst::run(&options),
        "footprint" => footprint::run(&options),
        _ => Err(format!("unknown command segments {command:?}")),
    }
}

/// As the runner reads it.
fn text(error: leafid::Error) -> String {
    error.to_string()
}
