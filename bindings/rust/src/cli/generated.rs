//! `leafid completion` and `leafid man`: what is made from the declaration of the command line.

use super::streams::{Outcome, Streams};
use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

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

pub(super) fn completion(
    arguments: &CompletionArguments,
    mut command: Command,
    streams: &mut Streams<'_>,
) -> Outcome {
    let shell = match arguments.shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    // Into memory first: it panics if its output cannot be written.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "leafid", &mut script);
    streams.stdout.write_all(&script)?;
    Ok(true)
}

pub(super) fn man(_: &ManArguments, mut command: Command, streams: &mut Streams<'_>) -> Outcome {
    command.build();
    let page = |command: &Command| clap_mangen::Man::new(command.clone());
    let whole = page(&command);
    whole.render_title(streams.stdout)?;
    whole.render_name_section(streams.stdout)?;
    whole.render_synopsis_section(streams.stdout)?;
    whole.render_description_section(streams.stdout)?;
    each(&command, "leafid", streams)?;
    writeln!(streams.stdout, ".SH EXIT STATUS\n0: done. 1: refused or failed. 2: invalid arguments.")?;
    whole.render_version_section(streams.stdout)?;
    Ok(true)
}

/// The commands below `command`, each with its text and its options.
fn each(command: &Command, before: &str, streams: &mut Streams<'_>) -> std::io::Result<()> {
    for below in command.get_subcommands() {
        let name = format!("{before} {}", below.get_name());
        if below.has_subcommands() {
            each(below, &name, streams)?;
            continue;
        }
        writeln!(streams.stdout, ".SH \"{}\"", name.to_uppercase())?;
        let man = clap_mangen::Man::new(below.clone());
        let mut text = Vec::new();
        man.render_synopsis_section(&mut text)?;
        man.render_description_section(&mut text)?;
        man.render_options_section(&mut text)?;
        // Their titles are those of a page of its own.
        let text = String::from_utf8_lossy(&text);
        for line in text.lines().filter(|line| !line.starts_with(".ie") && !line.starts_with(".el")) {
            match line.strip_prefix(".SH ") {
                Some("OPTIONS") => writeln!(streams.stdout, ".SS Options")?,
                Some(_) => writeln!(streams.stdout, ".PP")?,
                None => writeln!(streams.stdout, "{line}")?,
            }
        }
    }
    Ok(())
}
