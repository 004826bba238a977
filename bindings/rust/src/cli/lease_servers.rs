//! `leafid check` with leased worker ids: whether the servers lease one.

use super::report::{Report, Status};
use crate::os::env::Env;
use crate::worker::acquire::{check_server_clocks, guarded_claim, request};
use crate::worker::settings::SnowflakeSettings;
use crate::worker::worker_ids::WorkerIds;
use leafid_core::{Error, Result};
use std::io;

/// Claims a worker id and releases it at once. Does nothing if the ids do not come from lease servers.
pub(super) fn check_lease_servers(
    report: &mut Report<'_>,
    env: &Env,
    settings: &SnowflakeSettings,
) -> io::Result<()> {
    let WorkerIds::FromSource(source) = &settings.key.workers else { return Ok(()) };
    let claimed = request(env, &settings.key.space.name, None).and_then(|request| {
        let grant = guarded_claim(source, &request, env.clock.boot_time())?;
        let fits = (|| -> Result<i64> {
            check_server_clocks(env, &grant)?;
            if let Some((_, lease)) = &grant.lease {
                lease.span(&settings.key.space.layout, &settings.key.space.rules, env.clock.filtered_ms())?;
            }
            Ok(grant.worker_id)
        })();
        grant.release_unused();
        fits
    });
    match claimed {
        Ok(id) => {
            report.line(Status::Ok, "lease servers", format!("leased worker id {id}, and took it back"))
        }
        Err(error) => report.line(Status::Failed, "lease servers", described(&error)),
    }
}

fn described(error: &Error) -> String {
    format!("{}: {}", error.code().name(), error.message())
}
