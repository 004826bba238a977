//! The subject of the system tests in Rust: `leafid-system <command> key=value…`. Each command is one way to use, or
//! to mistreat, a generator; the runner in `../run.py` starts it, disturbs it, and judges what it issued.

mod attack;
mod ledger;
mod lessee;
mod options;
mod process;
mod rounds;
mod segments;
mod serve;
mod stream;

use options::Options;

fn main() {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    if command == "segments" {
        return ended(segments::run(args));
    }
    let options = Options::parse(args);
    let done = match command.as_str() {
        "stream" => stream::run(&options),
        "serve" => serve::run(),
        "lessee" => lessee::run(&options),
        "signal-forks" => attack::signals::run(&options),
        "fork-storm" => attack::storm::run(&options),
        "close-race" => attack::close::run(&options),
        "wait-forks" => attack::waiting::run(&options),
        "many" => attack::many::run(&options),
        "daemon" => attack::daemon::run(&options),
        "barrier" => attack::barrier::run(&options),
        _ => Err(format!("unknown command {command:?}")),
    };
    ended(done);
}

fn ended(done: Result<(), String>) {
    if let Err(message) = done {
        eprintln!("error {message}");
        std::process::exit(3);
    }
}
