//! Logs: a line each, to standard error.

use crate::clock::unix_ms;
use leafid_core::{Error, Result, Utc};
use log::{LevelFilter, Log, Metadata, Record};
use std::io::Write;

struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // The drivers log each statement, and TLS each client that is none.
        let target = metadata.target();
        target.starts_with("leafid") || metadata.level() <= log::Level::Warn && !target.starts_with("rustls")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            // These name a parameter of the store's URL with its value, and whole lines of .pgpass.
            let is_of_options = record.target().starts_with("sqlx_postgres::options");
            let text = match is_of_options {
                true => "PostgreSQL's driver ignores a parameter of the store's URL, or a line of .pgpass"
                    .to_owned(),
                false => record.args().to_string(),
            };
            // One write: lines of several threads do not mix. A failed write is not reported: there is no other place.
            let line = format!("{} {} {}\n", Utc(unix_ms()), record.level(), text);
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

/// Logs what happens now and then: `LEAFID_SERVER_LOG` is off, error, warn, info (the default), debug or trace.
///
/// Errors: `invalid_argument` for another value.
pub(super) fn start() -> Result<()> {
    const NAME: &str = "LEAFID_SERVER_LOG";
    let level = std::env::var(NAME).unwrap_or_default();
    let wrong = |_| {
        Error::invalid(
            NAME,
            format!("{:?}", leafid_core::options::shown_url(&level)),
            "off, error, warn, info, debug or trace",
        )
    };
    let filter = if level.is_empty() { LevelFilter::Info } else { level.parse().map_err(wrong)? };
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(filter);
    }
    Ok(())
}
