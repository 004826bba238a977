//! Shows the worker ids that the store has leased, and frees one.

use super::opening::open;
use super::settings::lease_ms;
use crate::holder::Holder;
use crate::lease_rules::{Pool, Worker};
use crate::leases::Leases;
use crate::options::{Options, WorkerCommand};
use leafid_core::{Error, Result, Utc};
use std::time::Duration;
use tokio::time::sleep;

/// The characters of an instance that are shown: the whole one is a secret.
const SHOWN: usize = 12;

pub(super) async fn worker(options: &Options, command: &WorkerCommand) -> Result<()> {
    let store = open(options)?;
    store.make_tables().await?;
    let pool = Pool { lease_ms: lease_ms(&store, options).await?, ..options.pool() };
    let leases = Leases::new(store.clone(), pool);
    let done = match command {
        WorkerCommand::Show { name } => show(&leases, name).await,
        WorkerCommand::Free { worker, confirm, name } if worker == confirm => {
            free(&leases, name, *worker).await
        }
        WorkerCommand::Free { worker, confirm, .. } => {
            let allowed = format!("{worker}, the worker id to free, as a confirmation");
            Err(Error::invalid("confirm", confirm, &allowed))
        }
    };
    store.close().await;
    done
}

async fn show(leases: &Leases, name: &str) -> Result<()> {
    let (store_ms, space, workers) = leases.rows(name).await?;
    println!(
        "{} worker ids of {name:?} were leased; the store's clock reads {}",
        workers.len(),
        Utc(store_ms)
    );
    if space.floor_ms > store_ms {
        println!("nothing is granted before {}: the table was an older copy", Utc(space.floor_ms));
    }
    for worker in &workers {
        println!("{}", line(worker, store_ms)?);
    }
    Ok(())
}

fn line(worker: &Worker, store_ms: i64) -> Result<String> {
    let holder: String = worker.instance.chars().take(SHOWN).collect();
    let lease = match worker.is_held(store_ms) {
        true => format!("held by {holder}…{} until {}", who(worker), Utc(worker.ends_ms)),
        false => "held by nobody".to_owned(),
    };
    let ahead_ms = (worker.until_ms - store_ms).max(0);
    let span = format!("granted up to {}, {ahead_ms} ms ahead", Utc(worker.until_ms));
    let skipped = worker.skipped()?.iter().map(skips).collect::<String>();
    Ok(format!("worker id {}: {lease}; {span}{skipped}", worker.worker_id))
}

/// What the claim said of its process.
fn who(worker: &Worker) -> String {
    match Holder::parse(&worker.holder) {
        Holder { host, pid, .. } if !host.is_empty() => format!(" (host {host}, pid {pid})"),
        _ => String::new(),
    }
}

fn skips(&(from_ms, until_ms): &(i64, i64)) -> String {
    format!("; no more ids of {} to {}", Utc(from_ms), Utc(until_ms))
}

async fn free(leases: &Leases, name: &str, id: i64) -> Result<()> {
    let (store_ms, _, workers) = leases.rows(name).await?;
    let Some(seen) = workers.iter().find(|worker| worker.worker_id == id) else {
        return Err(Error::invalid("worker", id, &format!("one that was leased of {name:?}")));
    };
    let lease_ms = leases.lease_ms();
    if seen.ends_ms > store_ms + lease_ms {
        // Its clock was ahead, so only its renewals show that somebody holds it.
        println!("waiting for {lease_ms} ms, in which a holder would renew worker id {id}");
        sleep(Duration::from_millis(lease_ms.unsigned_abs())).await;
    }
    let skipped = leases.free(name, seen).await?;
    println!("worker id {id} of {name:?} is free{}", skipped.iter().map(skips).collect::<String>());
    Ok(())
}
