//! The command line `leafid`: the same program in its cargo, pip and npm forms.
//!
//! Exit codes: 0 done, 1 a refusal or an error, 2 wrong usage. A reader that goes away, as in `leafid next -n 1000 |
//! head`, ends it quietly with 0.

mod check;
mod decode;
mod file;
mod holder;
mod lease_servers;
mod marks;
mod next;
mod options;
mod report;
mod state;
mod streams;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::io::{self, BufRead, ErrorKind, Write};
use streams::{End, Outcome, Streams};

#[derive(Parser)]
#[command(
    name = "leafid",
    version,
    about = "Unique 64-bit ids: decode them, make them, see that this host can, look after the records of worker ids",
    disable_help_subcommand = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Decode(decode::DecodeArguments),
    Next(next::NextArguments),
    Check(check::CheckArguments),
    #[command(subcommand)]
    State(state::StateCommand),
    #[command(subcommand)]
    Marks(marks::MarksCommand),
    #[command(subcommand)]
    File(file::FileCommand),
}

/// Runs a command line, the program's name left out, and answers the exit code.
pub fn run<A: Into<OsString> + Clone>(
    arguments: impl IntoIterator<Item = A>,
    stdin: &mut dyn BufRead,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> i32 {
    let mut streams = Streams { stdin, stdout, stderr };
    let named = [OsString::from("leafid")].into_iter().chain(arguments.into_iter().map(Into::into));
    let outcome = match Arguments::try_parse_from(named) {
        Ok(arguments) => command(arguments.command, &mut streams),
        // Also --help and --version, which are no errors.
        Err(told) if told.use_stderr() => {
            let _ = write!(streams.stderr, "{}", told.render()).and_then(|()| streams.stderr.flush());
            return 2;
        }
        Err(told) => write!(streams.stdout, "{}", told.render()).map(|()| true).map_err(End::Output),
    };
    let flushed = streams.stdout.flush();
    match outcome.and_then(|done| Ok(flushed.map(|()| done)?)) {
        Ok(true) => 0,
        Ok(false) => 1,
        // Who read it has gone away; of a socket, as Node gives to its children, perhaps without having read all.
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

/// Whether it is a command line, which is not run.
#[cfg(fuzzing)]
pub(crate) fn is_right(arguments: Vec<OsString>) -> bool {
    Arguments::try_parse_from(arguments).is_ok()
}

/// [`run`] on this process's own streams.
pub fn main<A: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = A>) -> i32 {
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    run(arguments, &mut io::stdin().lock(), &mut stdout, &mut io::stderr().lock())
}

fn command(command: Command, streams: &mut Streams<'_>) -> Outcome {
    match command {
        Command::Decode(arguments) => decode::decode(&arguments, streams),
        Command::Next(arguments) => next::next(&arguments, streams),
        Command::Check(arguments) => check::check(&arguments, streams),
        Command::State(command) => state::state(&command, streams),
        Command::Marks(command) => marks::marks(&command, streams),
        Command::File(command) => file::file(&command, streams),
    }
}
