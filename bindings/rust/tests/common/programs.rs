//! The programs that tests start. LEAFID_TEST_RUNNER is the command of an emulator, where they need one.

use std::ffi::OsStr;
use std::process::Command;

pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let runner = std::env::var("LEAFID_TEST_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace();
    let Some(emulator) = words.next() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(words).arg(program);
    command
}

/// This test binary again.
pub(crate) fn this_program() -> Command {
    command(std::env::current_exe().unwrap())
}
