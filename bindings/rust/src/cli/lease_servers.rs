//! `leafid check` with leased worker ids: whether the servers lease one.

use super::report::{Report, Status};
use crate::os::env::Env;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::http::{Exchange, HttpResult};
use leafid_core::snowflake::{PEERS_THRESHOLD_MS, SPAN_WISH_MS, peers_agree};
use leafid_core::{Error, Lease, Result};
use std::io;

/// Claims a worker id and releases it at once. Does nothing if the ids do not come from lease servers.
pub(super) fn check_lease_servers(
    report: &mut Report<'_>,
    env: &Env,
    settings: &SnowflakeSettings,
) -> io::Result<()> {
    let Some(servers) = settings.source.as_ref().and_then(|source| source.as_servers()) else {
        return Ok(());
    };
    let (now_ms, boot) = (env.clock.filtered_ms(), env.clock.boot_time());
    let times = (now_ms, now_ms + SPAN_WISH_MS);
    let result = servers.ask(env, |to, name| Exchange::claim(to, name, None, times, 0, boot));
    let HttpResult::Claimed(claimed) = result else { return Ok(()) };
    let checked = claimed.lease.and_then(|lease| {
        let fits = fits(&lease, env, settings);
        let boot = env.clock.boot_time();
        servers.ask(env, |to, name| Exchange::release(to, name, &lease, lease.from_ms, 0, boot));
        fits
    });
    match checked {
        Ok(id) => {
            report.line(Status::Ok, "lease servers", format!("leased worker id {id}, and took it back"))
        }
        Err(error) => report.line(Status::Failed, "lease servers", described(&error)),
    }
}

/// The worker id of a lease that a generator could use.
fn fits(lease: &Lease, env: &Env, settings: &SnowflakeSettings) -> Result<i64> {
    let now_ms = env.clock.filtered_ms();
    peers_agree(now_ms, &lease.peer_times_ms, PEERS_THRESHOLD_MS)?;
    lease.span(&settings.options.layout, &settings.options.rules, now_ms)?;
    Ok(lease.worker_id)
}

fn described(error: &Error) -> String {
    format!("{}: {}", error.code().name(), error.message())
}
