//! The agent in Rust, `leafid-agent <command> key=value…`: ../../../system/subjects.py lists its commands. The commands in
//! `attack` mistreat by themselves.

mod attack;
mod crowd;
mod issuer;
mod ledger;
mod options;
mod process;
mod rounds;
mod scenarios;
mod segments;
mod serve;
mod stream;

use options::Options;

fn main() {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let options = Options::parse(args);
    let done = match command.as_str() {
        "stream" => stream::run(&options),
        "serve" => serve::run(),
        "scenarios" => scenarios::run(),
        "signal-forks" => attack::signals::run(&options),
        "fork-storm" => attack::storm::run(&options),
        "close-race" => attack::close::run(&options),
        "wait-forks" => attack::waiting::run(&options),
        "many" => attack::many::run(&options),
        "barrier" => attack::barrier::run(&options),
        "burst" => attack::burst::run(&options),
        "footprint" => attack::footprint::run(&options),
        _ => Err(format!("unknown command {command:?}")),
    };
    if let Err(message) = done {
        eprintln!("error {message}");
        std::process::exit(3);
    }
}
