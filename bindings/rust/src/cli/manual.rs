//! `leafid man`: the manual page, from the declaration of the command line.

use super::streams::{Outcome, Streams};
use clap::builder::StyledStr;
use clap::{Args, Command};

/// Print the manual page, for `leafid man | man -l -`
#[derive(Args)]
pub(super) struct ManArguments {}

/// One page for all commands, without the version.
pub(super) fn man(mut declared: Command, streams: &mut Streams<'_>) -> Outcome {
    declared.build();
    let about = roff(declared.get_about());
    let mut page = format!(".TH leafid 1 \"\" leafid\n.SH NAME\nleafid \\- {about}\n");
    page += ".SH SYNOPSIS\n\\fBleafid\\fR COMMAND [OPTIONS]\n";
    each(&mut declared, &mut page);
    page += ".SH EXIT STATUS\n0: done. 1: refused or failed. 2: invalid arguments.\n";
    streams.stdout.write_all(page.as_bytes())?;
    Ok(true)
}

/// The sections of a command and of those below it.
fn each(command: &mut Command, page: &mut String) {
    command.get_subcommands_mut().for_each(|below| each(below, page));
    if command.has_subcommands() {
        return;
    }
    let usage = command.render_usage().to_string();
    let words = command.get_bin_name().unwrap_or_default().to_uppercase();
    let about = roff(command.get_long_about().or(command.get_about())).replace("\n\n", "\n.PP\n");
    let usage = escaped(usage.trim_start_matches("Usage: "));
    *page += &format!(".SH \"{words}\"\n\\fB{usage}\\fR\n.PP\n{about}\n.SS Options\n");
    let (last, first): (Vec<_>, _) = command.get_arguments().partition(|arg| arg.is_positional());
    for arg in first.into_iter().chain(last).filter(|arg| !arg.is_hide_set()) {
        *page += &format!(".TP\n\\fB{}\\fR\n{}\n", escaped(&arg.to_string()), roff(arg.get_help()));
    }
}

fn roff(text: Option<&StyledStr>) -> String {
    escaped(&text.map(ToString::to_string).unwrap_or_default())
}

/// As roff reads it, but for a line that begins with a dot: there is none.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq")
}
