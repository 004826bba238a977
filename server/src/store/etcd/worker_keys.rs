//! Worker ids. `space/NAME` is compared by every write, and orders all that happens to the ids of a name. `worker/NAME`
//! has a key for each id. `alive/NAME` has one for each holder, which etcd removes when its lease ends: etcd judges that
//! by its own time, so a server whose clock is ahead takes no id from a live holder.

use super::counters::{parse, pause, text};
use super::{Etcd, Read, gateway};
use crate::clock::filtered_ms;
use crate::holder::Holder;
use crate::lease_rules::{Pool, Space, Worker};
use crate::store::lease_rows::LeaseRow;
use crate::store::workers::Step;
use leafid_core::Result;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

#[derive(Default, Serialize, Deserialize)]
struct StoredSpace {
    floor_ms: i64,
    latest_ms: i64,
    longest_ms: i64,
    revision: i64,
    /// The tokens of rows that were stored up to this revision are void.
    voided: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredWorker {
    #[serde(flatten)]
    worker: Worker,
    /// That of the space.
    revision: i64,
}

/// One attempt. `None`: another server was first.
pub(crate) async fn change_workers<T>(
    etcd: &Etcd,
    name: &str,
    only: Option<i64>,
    pool: &Pool,
    step: Step<T>,
) -> Result<Option<T>> {
    let read = read_name(etcd, name, only).await?;
    let (value, writes) = step(&read.space, &read.workers, read.store_ms)?;
    let Some(space) = writes.space else { return Ok(Some(value)) };
    if read.key.revision == 0 {
        pool.check_names(names(etcd).await?)?;
    }
    let voided = if writes.voids_tokens { space.revision } else { read.voided };
    let stored = StoredSpace {
        floor_ms: space.floor_ms,
        latest_ms: space.latest_ms,
        longest_ms: space.longest_ms,
        revision: space.revision,
        voided,
    };
    let mut puts = vec![gateway::put(&read.key.key, &text(&stored)?)];
    if let Some(worker) = writes.worker {
        let key = format!("{}{:020}", of_name(etcd, "alive", name), worker.worker_id);
        puts.push(match worker.token.is_empty() {
            true => json!({ "request_delete_range": { "key": gateway::encode(key.as_bytes()) } }),
            false => alive(etcd, &key, pool.lease_ms).await?,
        });
        let key = format!("{}{:020}", of_name(etcd, "worker", name), worker.worker_id);
        puts.push(gateway::put(&key, &text(&StoredWorker { worker, revision: space.revision })?));
    }
    if etcd.write_if(&read.key, &puts).await? {
        return Ok(Some(value));
    }
    // The etcd lease of this try ends by itself. It is not revoked: behind a proxy that sends a request twice, this try may
    // be the one that was written.
    pause().await;
    Ok(None)
}

/// How many names have worker ids.
async fn names(etcd: &Etcd) -> Result<i64> {
    let mut request = etcd.all("space");
    request["count_only"] = json!(true);
    let answer = etcd.gateway.read("/v3/kv/range", &request).await.map_err(|error| etcd.failed(error))?;
    // A count of zero is left out.
    Ok(answer["count"].as_str().map_or(Ok(0), str::parse).unwrap_or(i64::MAX))
}

/// The key of a holder, with an etcd lease that is not shorter than the holder's.
async fn alive(etcd: &Etcd, key: &str, lease_ms: i64) -> Result<Value> {
    let ttl = lease_ms / 1000 + 1;
    let granted = etcd.gateway.read("/v3/lease/grant", &json!({ "TTL": ttl.to_string() })).await;
    let granted = granted.map_err(|error| etcd.failed(error))?;
    let id = granted["ID"].as_str().ok_or_else(|| gateway::failed("a lease without an id"))?;
    Ok(json!({ "request_put": { "key": gateway::encode(key.as_bytes()), "value": "", "lease": id } }))
}

/// This server's clock, and what is stored of a name and its worker ids.
pub(crate) async fn workers(etcd: &Etcd, name: &str) -> Result<(i64, Space, Vec<Worker>)> {
    let read = read_name(etcd, name, None).await?;
    Ok((read.store_ms, read.space, read.workers))
}

/// All of a name, as it was at one revision.
async fn read_name(etcd: &Etcd, name: &str, only: Option<i64>) -> Result<ReadName> {
    let space_key = format!("{}space/{name}", etcd.prefix);
    let rows = |kind: &str| {
        let prefix = of_name(etcd, kind, name);
        let (first, last) = only.map_or((0, i64::MAX), |id| (id, id));
        // The key above the last one.
        let end = format!("{prefix}{last:020}\0");
        let key = format!("{prefix}{first:020}");
        json!({ "request_range": {
            "key": gateway::encode(key.as_bytes()), "range_end": gateway::encode(end.as_bytes())
        } })
    };
    let space = json!({ "request_range": { "key": gateway::encode(space_key.as_bytes()) } });
    let request = json!({ "success": [space, rows("worker"), rows("alive")] });
    let answer = etcd.gateway.read("/v3/kv/txn", &request).await.map_err(|error| etcd.failed(error))?;
    let reads = |at: usize| gateway::reads(&answer["responses"][at]["response_range"]);
    let key = reads(0)?.pop().unwrap_or(Read { key: space_key, revision: 0, value: Vec::new() });
    let stored: StoredSpace =
        if key.revision == 0 { StoredSpace::default() } else { parse(name, &key.value)? };
    // etcd has no clock. Read after the answer: a slow one makes no lease look longer.
    let store_ms = filtered_ms();
    let prefix = of_name(etcd, "alive", name).len();
    let alive: HashSet<i64> =
        reads(2)?.iter().filter_map(|read| read.key.get(prefix..)?.parse().ok()).collect();
    let workers = reads(1)?
        .iter()
        .map(|read| {
            let row: StoredWorker = parse(name, &read.value)?;
            let is_alive = alive.contains(&row.worker.worker_id);
            Ok(row.into_worker(&stored, is_alive, store_ms))
        })
        .collect::<Result<_>>()?;
    let space = Space {
        floor_ms: stored.floor_ms,
        latest_ms: stored.latest_ms,
        longest_ms: stored.longest_ms,
        revision: stored.revision,
    };
    Ok(ReadName { key, space, workers, voided: stored.voided, store_ms })
}

/// The worker ids that are held, of all names, at most `most` keys of each kind.
pub(crate) async fn lease_rows(etcd: &Etcd, most: usize) -> Result<(i64, Vec<LeaseRow>)> {
    let all = |kind: &str| {
        let mut range = etcd.all(kind);
        range["limit"] = json!(most.to_string());
        json!({ "request_range": range })
    };
    let request = json!({ "success": [all("space"), all("worker"), all("alive")] });
    let answer = etcd.gateway.read("/v3/kv/txn", &request).await.map_err(|error| etcd.failed(error))?;
    let of_kind = |at: usize, kind: &str| -> Result<Vec<Read>> {
        let mut reads = gateway::reads(&answer["responses"][at]["response_range"])?;
        let start = etcd.prefix.len() + kind.len() + 1;
        reads.iter_mut().for_each(|read| read.key = read.key.get(start..).unwrap_or_default().to_owned());
        Ok(reads)
    };
    let store_ms = filtered_ms();
    let mut spaces = HashMap::new();
    for Read { key, value, .. } in of_kind(0, "space")? {
        let space: StoredSpace = parse(&key, &value)?;
        spaces.insert(key, space);
    }
    let alive: HashSet<String> = of_kind(2, "alive")?.into_iter().map(|read| read.key).collect();
    let mut rows = Vec::new();
    for Read { key, value, .. } in of_kind(1, "worker")? {
        let name = key.split('\n').next().unwrap_or_default();
        let Some(space) = spaces.get(name).filter(|_| alive.contains(&key)) else { continue };
        let worker = parse::<StoredWorker>(name, &value)?.into_worker(space, true, store_ms);
        if !worker.token.is_empty() {
            rows.push(LeaseRow {
                name: name.to_owned(),
                worker_id: worker.worker_id,
                instance: worker.instance,
                ends_ms: worker.ends_ms,
                clock_ahead_ms: worker.clock_ahead_ms,
                holder: Holder::parse(&worker.holder),
            });
        }
    }
    Ok((store_ms, rows))
}

/// A name has no line break, so no name's keys begin with another's.
fn of_name(etcd: &Etcd, kind: &str, name: &str) -> String {
    format!("{}{kind}/{name}\n", etcd.prefix)
}

struct ReadName {
    key: Read,
    space: Space,
    workers: Vec<Worker>,
    voided: i64,
    store_ms: i64,
}

impl StoredWorker {
    /// The row, as the rules of leases read it.
    fn into_worker(self, space: &StoredSpace, is_alive: bool, store_ms: i64) -> Worker {
        let StoredWorker { mut worker, revision } = self;
        let is_void = revision <= space.voided;
        if is_void {
            for text in [&mut worker.token, &mut worker.released, &mut worker.instance, &mut worker.holder] {
                text.clear();
            }
        }
        // Whether it has ended is for etcd to say, not for this server's clock.
        worker.ends_ms = if is_alive && !is_void { worker.ends_ms.max(store_ms + 1) } else { 0 };
        worker
    }
}
