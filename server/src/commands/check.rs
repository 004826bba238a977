//! Says what is wrong before a start.

use super::exposure::exposure;
use super::opening::open;
use super::run::POOLED;
use super::settings;
use crate::access::Tokens;
use crate::clock::{filtered_ms, unix_ms};
use crate::dots::Dots;
use crate::http::Tls;
use crate::leases::Leases;
use crate::options::{Options, ids, said_of_leaf};
use crate::store::Store;
use std::io::Write;
use std::ops::RangeInclusive;
use tokio::net::TcpListener;

/// A difference of clocks that clients would be refused for.
const APART_MS: i64 = 10_000;

/// Prints a line for each thing that it looks at. The error counts what is wrong.
pub(super) async fn check(options: &Options) -> Result<(), String> {
    let mut wrong = 0;
    let mut say = |is_right: bool, text: String| {
        // The reader may have gone, as head does: the exit status still says what is wrong.
        let _ = writeln!(std::io::stdout(), "{} {text}", if is_right { "ok   " } else { "WRONG" });
        wrong += u32::from(!is_right);
    };
    if let Some(line) = said_of_leaf(options) {
        say(true, line);
    }
    for address in std::iter::once(options.listen).chain(options.admin_listen) {
        match TcpListener::bind(address).await {
            Ok(_) => say(true, format!("listen: {address} is free")),
            Err(error) => say(
                false,
                format!(
                    "listen: {address}: {error}. A server that runs has it: stop it, or set --listen; ss -ltnp shows who"
                ),
            ),
        }
    }
    if let Err(error) = Tls::load(options) {
        say(false, error.message().to_owned());
    }
    match Tokens::load(options) {
        Ok(tokens) => exposure(options, !tokens.is_empty()).into_iter().for_each(|line| say(true, line)),
        Err(error) => say(false, error.message().to_owned()),
    }
    match open(options) {
        Ok(store) => check_store(&store, options, &mut say).await,
        Err(error) => say(false, format!("store: {error}")),
    }
    if wrong > 0 { Err(format!("{wrong} wrong")) } else { Ok(()) }
}

async fn check_store(store: &Store, options: &Options, say: &mut impl FnMut(bool, String)) {
    let (name, shown) = (store.name(), store.shown());
    let (is_pooled, store_ms) = match (store.is_pooled().await, store.now_ms().await) {
        (Ok(is_pooled), Ok(store_ms)) => (is_pooled, store_ms),
        (Err(error), _) | (_, Err(error)) => return say(false, format!("store: {error}")),
    };
    say(true, format!("store: {name} at {shown} answers"));
    let apart_ms = (store_ms - unix_ms()).abs();
    let is_near = apart_ms < APART_MS;
    let mend = if is_near { "" } else { ". Set that which is wrong by NTP: timedatectl set-ntp true" };
    say(is_near, format!("clocks: the store's and this host's differ by {apart_ms} ms{mend}"));
    if is_pooled {
        say(true, format!("pooler: {POOLED}"));
    }
    let tables = match store.tables().await {
        Ok(tables) => tables,
        Err(error) => return say(false, format!("tables: {error}")),
    };
    let has_tables = tables.iter().all(|(_, is_there)| *is_there);
    if let Some(local) = &options.snowflake_local {
        check_local(store, options, local, has_tables, say).await;
    }
    for (table, is_there) in tables {
        match is_there {
            true => say(true, format!("{table}: it is there")),
            false => say(true, format!("{table}: it will be made at the first start")),
        }
    }
    match settings::compare(store, options).await {
        Ok(differences) => differences.iter().for_each(|error| say(false, error.message().to_owned())),
        Err(error) => say(false, format!("settings: {error}")),
    }
    let dots = Dots::of(options);
    match if has_tables { dots.clashes(store).await } else { Ok(Vec::new()) } {
        Ok(lines) => lines.into_iter().for_each(|(is_right, line)| say(is_right, line)),
        Err(error) => say(false, format!("tags: {error}")),
    }
    match store.differences().await {
        Ok(differences) => differences.into_iter().for_each(|(difference, mend)| {
            say(
                true,
                format!(
                    "table {difference}: it has no name of characters that this lacks, or that differs by case. It may stay; \
                     to have both: {mend}"
                ),
            );
        }),
        Err(error) => say(false, format!("tables: {error}")),
    }
    if let Err(error) = store.check_tables().await {
        say(false, error.message().to_owned());
    }
    match store.schema().await {
        Ok(schema) => schema.into_iter().for_each(|schema| say(true, format!("schema: {schema}"))),
        Err(error) => say(false, format!("schema: {error}")),
    }
    match store.elsewhere().await {
        Ok(tables) => tables.into_iter().for_each(|table| say(false, format!("table {table}"))),
        Err(error) => say(false, format!("tables: {error}")),
    }
    match store.dangers().await {
        Ok(dangers) if dangers.is_empty() => {
            say(true, "durability: commits survive a crash of the store".to_owned())
        }
        Ok(dangers) => dangers.into_iter().for_each(|danger| say(false, format!("durability: {danger}"))),
        Err(error) => say(false, format!("durability: {error}")),
    }
}

/// It cannot see whether another host has these worker ids.
async fn check_local(
    store: &Store,
    options: &Options,
    local: &RangeInclusive<i64>,
    has_leases: bool,
    say: &mut impl FnMut(bool, String),
) {
    let (name, shown) = (&options.snowflake_name, ids(local));
    let leases = Leases::new(store.clone(), options.pool());
    match if has_leases { leases.check_unleased(name, local, filtered_ms()).await } else { Ok(()) } {
        Ok(()) => say(
            true,
            format!(
                "snowflake-local: the store has leased none of {shown} of {name}; see that no other host has them, and no \
                 server of this store among its workers"
            ),
        ),
        Err(error) => say(false, format!("snowflake-local: {}", error.message())),
    }
}
