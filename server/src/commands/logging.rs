//! Logs: a line each, to standard error.

use crate::clock::unix_ms;
use leafid_core::{Error, Result, Utc};
use log::{LevelFilter, Log, Metadata, Record};
use std::io::Write;

struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        is_ours(metadata) || is_of_options(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        let text = match (is_ours(record.metadata()), is_of_options(record.metadata())) {
            (true, _) => record.args().to_string(),
            // It names the parameter with its value, or a whole line of .pgpass.
            (false, true) => {
                "PostgreSQL's driver ignores a parameter of the store's URL, or a line of .pgpass".to_owned()
            }
            (false, false) => return,
        };
        // One write: lines of several threads do not mix. A failed write is not reported: there is no other place.
        let line = format!("{} {} {}\n", Utc(unix_ms()), record.level(), text);
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}

/// Lines of libraries are off: what they say is not of this program's users, who read it in the errors of requests.
fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("leafid")
}

/// The one thing that a library says and that the user has done.
fn is_of_options(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("sqlx_postgres::options") && metadata.level() <= log::Level::Warn
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

#[cfg(test)]
mod tests {
    use super::*;
    use log::Level;

    #[test]
    fn lines_of_libraries_are_off() {
        for (target, level, is_on) in [
            ("leafid_server::commands::run", Level::Debug, true),
            ("leafid::os", Level::Info, true),
            ("sqlx_postgres::options::parse", Level::Warn, true),
            ("sqlx_postgres::options::parse", Level::Debug, false),
            ("sqlx::pool::acquire", Level::Warn, false),
            ("sqlx_postgres::connection", Level::Error, false),
            ("opentelemetry_sdk", Level::Error, false),
            ("rustls::conn", Level::Error, false),
            ("hyper", Level::Trace, false),
        ] {
            let metadata = Metadata::builder().target(target).level(level).build();
            assert_eq!(Lines.enabled(&metadata), is_on, "{target} {level}");
        }
    }
}
