//! The command line, for `node/bin/leafid.js`.

/// Runs a command line without the program's name, with the streams of this process, and returns the exit code.
#[napi_derive::napi(catch_unwind)]
pub fn cli(arguments: Vec<String>) -> i32 {
    leafid::cli::main(arguments)
}
