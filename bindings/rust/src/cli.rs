//! The command line `leafid`, the same program in its cargo, pip and npm packages.
//!
//! Exit codes: 0 success, 1 a refusal or an error, 2 wrong usage. If the reader of the output ends early, as in `leafid
//! next -n 1000 | head`, the program exits with 0 and no message.

mod against;
mod at;
mod bench;
mod check;
mod completion;
mod compose;
mod decode;
mod file;
mod help;
mod holder;
mod init;
#[cfg(feature = "http")]
mod lease_servers;
mod manual;
mod marks;
mod next;
mod options;
mod public_ids;
mod report;
mod scrape;
mod segment_options;
mod state;
mod streams;
mod watch;

use crate::shown_url;
use clap::error::ContextValue;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Write};
use streams::{End, Outcome, Streams};

#[derive(Parser)]
#[command(
    name = "leafid",
    version,
    about = "Unique 64-bit ids: create, decode and encrypt them, check and watch this host, manage its records",
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Init(init::InitArguments),
    Decode(decode::DecodeArguments),
    Compose(compose::ComposeArguments),
    At(at::AtArguments),
    Next(next::NextArguments),
    Check(check::CheckArguments),
    Encrypt(public_ids::EncryptArguments),
    Decrypt(public_ids::DecryptArguments),
    #[command(subcommand)]
    State(state::StateCommand),
    #[command(subcommand)]
    Marks(marks::MarksCommand),
    #[command(subcommand)]
    File(file::FileCommand),
    Watch(watch::WatchArguments),
    Bench(bench::BenchArguments),
    Completion(completion::CompletionArguments),
    Man(manual::ManArguments),
    Help(help::HelpArguments),
}

/// Runs a command line without the program's name, and returns the exit code.
pub fn run<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    stdin: &mut dyn BufRead,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> i32 {
    run_on(arguments, Streams { stdin, stdout, stderr, is_terminal: false })
}

fn run_on<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    mut streams: Streams<'_>,
) -> i32 {
    let named = [OsString::from("leafid")].into_iter().chain(arguments.into_iter().map(Into::into));
    let outcome = match Arguments::try_parse_from(named) {
        Ok(arguments) => command(arguments.command, &mut streams),
        // Also --help and --version, which are not errors.
        Err(told) if told.use_stderr() => {
            let _ = write!(streams.stderr, "{}", without_passwords(told).render())
                .and_then(|()| streams.stderr.flush());
            return 2;
        }
        Err(told) => write!(streams.stdout, "{}", told.render()).map(|()| true).map_err(End::Output),
    };
    let flushed = streams.stdout.flush();
    match outcome.and_then(|done| Ok(flushed.map(|()| done)?)) {
        Ok(true) => 0,
        Ok(false) => 1,
        // The reader has ended; on a socket, as Node gives to its children, perhaps before it read everything.
        Err(End::Output(error))
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
        {
            0
        }
        Err(End::Output(error)) => {
            streams.complain(format!("cannot write the output: {error}"));
            1
        }
        Err(End::Refused(error)) => {
            streams.complain(error);
            1
        }
    }
}

/// An error of clap repeats what the user wrote, as a URL in a wrong place.
fn without_passwords(mut error: clap::Error) -> clap::Error {
    let shown = |value: &ContextValue| match value {
        ContextValue::String(text) => Some(ContextValue::String(shown_url(text))),
        _ => None,
    };
    let values: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, shown(value)?))).collect();
    for (kind, value) in values {
        error.insert(kind, value);
    }
    error
}

/// Whether the command line is valid. It is not run.
#[cfg(fuzzing)]
pub(crate) fn is_right(arguments: Vec<OsString>) -> bool {
    Arguments::try_parse_from(arguments).is_ok()
}

/// [`run`] with the streams of this process.
pub fn main<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> i32 {
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (stdin, stderr) = (&mut io::stdin().lock(), &mut io::stderr().lock());
    let is_terminal = io::stdout().is_terminal();
    run_on(arguments, Streams { stdin, stdout: &mut stdout, stderr, is_terminal })
}

fn command(command: Command, streams: &mut Streams<'_>) -> Outcome {
    match command {
        Command::Init(arguments) => init::init(&arguments, streams),
        Command::Decode(arguments) => decode::decode(&arguments, streams),
        Command::Compose(arguments) => compose::compose(&arguments, streams),
        Command::At(arguments) => at::at(&arguments, streams),
        Command::Next(arguments) => next::next(&arguments, streams),
        Command::Check(arguments) => check::check(&arguments, streams),
        Command::Encrypt(arguments) => public_ids::encrypt(&arguments, streams),
        Command::Decrypt(arguments) => public_ids::decrypt(&arguments, streams),
        Command::State(command) => state::state(&command, streams),
        Command::Marks(command) => marks::marks(&command, streams),
        Command::File(command) => file::file(&command, streams),
        Command::Watch(arguments) => watch::watch(&arguments, streams),
        Command::Bench(arguments) => bench::bench(&arguments, streams),
        Command::Completion(arguments) => completion::completion(&arguments, Arguments::command(), streams),
        Command::Man(manual::ManArguments {}) => manual::man(Arguments::command(), streams),
        Command::Help(arguments) => help::help(&arguments, streams),
    }
}
