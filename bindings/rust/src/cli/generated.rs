//! `leafid completion` and `leafid man`: files that the tests make from the declaration of the command line, and compare.
//!
//! The programs that make them are larger than the files, so they are no part of this program.

use super::streams::{Outcome, Streams};
use clap::{Args, ValueEnum};

/// Print the completion script of a shell
///
/// For bash: source <(leafid completion bash), for example in ~/.bashrc. For zsh: into a file _leafid of a directory of
/// $fpath. For fish: into ~/.config/fish/completions/leafid.fish.
#[derive(Args)]
pub(super) struct CompletionArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: CompletionShell,
}

#[derive(Clone, Copy, ValueEnum)]
enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

/// Print the manual page, for `leafid man | man -l -`
#[derive(Args)]
pub(super) struct ManArguments {}

const BASH: &str = include_str!("generated/leafid.bash");
const ZSH: &str = include_str!("generated/_leafid");
const FISH: &str = include_str!("generated/leafid.fish");
const MANUAL: &str = include_str!("generated/leafid.1");

pub(super) fn completion(arguments: &CompletionArguments, streams: &mut Streams<'_>) -> Outcome {
    let script = match arguments.shell {
        CompletionShell::Bash => BASH,
        CompletionShell::Zsh => ZSH,
        CompletionShell::Fish => FISH,
    };
    streams.stdout.write_all(script.as_bytes())?;
    Ok(true)
}

pub(super) fn man(_: &ManArguments, streams: &mut Streams<'_>) -> Outcome {
    streams.stdout.write_all(MANUAL.as_bytes())?;
    Ok(true)
}
