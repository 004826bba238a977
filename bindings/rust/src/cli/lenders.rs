//! `leafid check` where worker ids are leased: whether the servers lease one.

use super::report::{Report, Status};
use crate::os::env::Env;
use crate::snowflake::lease_calls::{guarded_claim, request};
use crate::worker::acquire::lenders_agree;
use crate::worker::settings::Settings;
use crate::worker::worker_ids::WorkerIds;
use leafid_core::{Error, Result};
use std::io;

/// Claims a worker id and gives it back at once; nothing where the ids come from elsewhere.
pub(super) fn lease_servers(report: &mut Report<'_>, env: &Env, settings: &Settings) -> io::Result<()> {
    let WorkerIds::Asked(source) = &settings.key.workers else { return Ok(()) };
    let claimed = request(env, &settings.key.name, None).and_then(|request| {
        let given = guarded_claim(source, &request)?;
        let fits = (|| -> Result<i64> {
            lenders_agree(env, &given)?;
            if let Some((_, lease)) = &given.lease {
                lease.span(&settings.key.layout, &settings.key.rules, env.clock.believed_ms())?;
            }
            Ok(given.worker_id)
        })();
        given.release_unused();
        fits
    });
    match claimed {
        Ok(id) => {
            report.line(Status::Ok, "lease servers", format!("leased worker id {id}, and took it back"))
        }
        Err(error) => report.line(Status::Failed, "lease servers", told(&error)),
    }
}

fn told(error: &Error) -> String {
    format!("{}: {}", error.code().name(), error.message())
}
