//! The command line, for `node/bin/leafid.js`.

/// Runs a command line, the program's name left out, on this process's streams; answers the exit code.
#[napi_derive::napi(catch_unwind)]
pub fn cli(arguments: Vec<String>) -> i32 {
    leafid::cli::main(arguments)
}
