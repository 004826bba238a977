//! The address of a store.

use super::dialect::Dialect;
use super::mysql;
use super::postgres;
use super::sqlite;
use leafid_core::{Error, Result};

/// The allowed values of `store`, for error messages.
pub(crate) const ALLOWED: &str = "a path, sqlite:PATH, mysql://USER:PASSWORD@HOST/DATABASE, postgres://… or etcd://HOST:PORT,HOST:PORT/PREFIX";

/// The dialect, the address as the driver wants it, and the address to show. Errors: `invalid_argument`.
pub(crate) fn parse(store: &str) -> Result<(&'static Dialect, String, String)> {
    let dialect = match store.split_once("://") {
        Some(("mysql" | "mariadb", _)) => &mysql::DIALECT,
        Some(("postgres" | "postgresql", _)) => &postgres::DIALECT,
        Some(("sqlite", path)) => return file(path),
        Some(_) => return Err(Error::invalid("store", without_password(store), ALLOWED)),
        None => return file(store.strip_prefix("sqlite:").unwrap_or(store)),
    };
    Ok((dialect, store.to_owned(), without_password(store)))
}

/// The file is made if it is missing.
fn file(path: &str) -> Result<(&'static Dialect, String, String)> {
    if path.is_empty() || path.contains(['\0', '?', '#']) || path.starts_with(":memory:") {
        return Err(Error::invalid("store", format!("{path:?}"), ALLOWED));
    }
    let escaped = path.replace('%', "%25").replace(' ', "%20");
    Ok((&sqlite::DIALECT, format!("sqlite:{escaped}?mode=rwc"), format!("sqlite:{path}")))
}

/// Whoever reads a log may not read the database.
fn without_password(store: &str) -> String {
    let Some((scheme, rest)) = store.split_once("://") else { return store.to_owned() };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let path = path.split('?').next().unwrap_or_default();
    let Some((user, host)) = authority.rsplit_once('@') else {
        return format!("{scheme}://{authority}{path}");
    };
    let user = user.split(':').next().unwrap_or_default();
    format!("{scheme}://{user}@{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (store, shown) in [
            ("mysql://leaf:s3cret@db:3306/leaf", "mysql://leaf@db:3306/leaf"),
            ("postgres://leaf:s3@cret@db/leaf?password=s3cret", "postgres://leaf@db/leaf"),
            ("postgres://db/leaf", "postgres://db/leaf"),
            ("mysql://leaf:s3cret@db", "mysql://leaf@db"),
        ] {
            assert_eq!(parse(store).map(|(_, _, shown)| shown), Ok(shown.to_owned()));
        }
        let error = parse("oracle://leaf:s3cret@db/leaf").map(|(dialect, ..)| dialect.name).unwrap_err();
        assert!(!error.to_string().contains("s3cret") && error.to_string().contains("oracle://leaf@db/leaf"));
    }

    #[test]
    fn anything_without_a_scheme_is_a_file() {
        for (store, url) in [
            ("ids.db", "sqlite:ids.db?mode=rwc"),
            ("sqlite:///var/lib/ids.db", "sqlite:/var/lib/ids.db?mode=rwc"),
            ("sqlite:a b%.db", "sqlite:a%20b%25.db?mode=rwc"),
        ] {
            assert_eq!(
                parse(store).map(|(dialect, url, _)| (dialect.name, url)),
                Ok(("SQLite", url.to_owned()))
            );
        }
        for wrong in ["", "sqlite::memory:", "a?mode=memory"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
