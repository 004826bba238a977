//! leafid-server: gives ids, ranges of ids and leases of worker ids to a whole company, from one SQL database.
//!
//! The modules are layers, and imports point downwards: `commands`, `http`, then `snowflake` and `tags`, then `leases`,
//! then `store` and `access`, then `options`, `traces`, `lease_rules`, `holder`, `ids`, `table_set` and `clock`. What
//! decides is in leafid-core, and in `lease_rules`.

mod access;
mod caught;
mod clock;
mod commands;
mod dots;
mod exchange;
mod holder;
mod http;
mod ids;
mod lease_rules;
mod leases;
mod options;
mod pem;
mod scope;
mod snowflake;
mod store;
mod table_set;
mod tags;
mod toml_file;
mod traces;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command line with these arguments, the first of which is the program's name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match options::parse(args) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("leafid-server: no threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("leafid-server: {error}");
            ExitCode::FAILURE
        }
    }
}
