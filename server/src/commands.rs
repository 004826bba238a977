//! The commands: serve, check, leaf-move, health, tags, worker ids and tokens.

mod check;
mod exposure;
mod health;
mod leaf_move;
mod logging;
mod opening;
mod run;
mod settings;
mod token;
mod worker;

use crate::dots::Dots;
use crate::options::{Cli, Command, Options};
use crate::store::TagChange;
use leafid_core::options::check_row_tag;
use leafid_core::{Error, Result};

/// Runs a command. The error is shown, and the program fails.
pub(crate) async fn run(cli: Cli) -> std::result::Result<(), String> {
    logging::start().map_err(|error| error.to_string())?;
    let done = match cli.command {
        None => run::run(cli.options).await,
        Some(Command::Check) => return check::check(&cli.options).await,
        Some(Command::LeafMove) => return leaf_move::leaf_move(&cli.options).await,
        Some(Command::Health) => return health::health(&cli.options).await,
        Some(Command::Tag { tag, step, first }) => set_tag(&cli.options, &tag, step, first).await,
        Some(Command::Worker(command)) => worker::worker(&cli.options, &command).await,
        Some(Command::Token { name, scopes, tags }) => token::token(&name, &scopes, &tags),
    };
    done.map_err(|error: Error| error.to_string())
}

async fn set_tag(options: &Options, tag: &str, step: i64, first: i64) -> Result<()> {
    check_row_tag(tag)?;
    let store = opening::open(options)?;
    store.make_tables().await?;
    Dots::of(options).check_new(&store, tag, first).await?;
    let change = TagChange { step: Some(step), first: Some(first), description: None };
    store.change_tag(tag, change).await?;
    store.close().await;
    println!("tag {tag:?} of {}: step {step}, the next range begins at {first} or above", store.shown());
    Ok(())
}
