//! The address of a store.

use super::dialect::Dialect;
use super::jdbc;
use super::mysql;
use super::postgres;
use super::sqlite;
use leafid_core::options::{ENCODED, has_raw_password, shown_url};
use leafid_core::{Error, Result};

/// The allowed values of `store`, for error messages.
pub(crate) const ALLOWED: &str = "a path, sqlite:PATH, mysql://USER:PASSWORD@HOST/DATABASE, postgres://…, jdbc:mysql://… or etcd://HOST:PORT,HOST:PORT/PREFIX";

/// The address of an SQL store.
pub(crate) struct Address {
    pub(crate) dialect: &'static Dialect,
    pub(crate) target: DatabaseUrl,
    /// For messages: without a user and a password.
    pub(crate) shown: String,
}

/// As the driver wants it.
pub(crate) enum DatabaseUrl {
    MySql(String),
    Postgres(String),
    /// A path.
    Sqlite(String),
}

/// Errors: `invalid_argument`.
pub(crate) fn parse(store: &str) -> Result<Address> {
    if let Some(jdbc) = store.strip_prefix("jdbc:").filter(|rest| rest.contains("://")) {
        return parse(&jdbc::translated(jdbc)?);
    }
    let (shown, url) = (shown_url(store), store.to_owned());
    let (dialect, target) = match store.split_once("://") {
        Some(("mysql" | "mariadb", _)) => (&mysql::DIALECT, DatabaseUrl::MySql(url)),
        Some(("postgres" | "postgresql", _)) => (&postgres::DIALECT, DatabaseUrl::Postgres(url)),
        Some(("sqlite", path)) => return file(path),
        Some(_) => return Err(Error::invalid("store", shown, ALLOWED)),
        None => match store.strip_prefix("sqlite:") {
            Some(path) => return file(path),
            None => return plain_path(store),
        },
    };
    if has_raw_password(store) {
        let value = format!("{shown}, whose password is not encoded");
        return Err(Error::invalid("store", value, &format!("{ALLOWED}; {ENCODED}")));
    }
    Ok(Address { dialect, target, shown })
}

/// What may be an address in another program's words becomes no file. It may hold a password, and is not shown.
fn plain_path(path: &str) -> Result<Address> {
    let is_odd = |found: &char| found.is_whitespace() || "=@:;,()'\"\\".contains(*found);
    let Some(odd) = path.chars().find(is_odd) else { return file(path) };
    let wrong = format!("without a scheme such as postgres://, and no plain path, for it has {odd:?}");
    Err(Error::invalid("store", wrong, &format!("{ALLOWED}; write sqlite:PATH for a file of such a name")))
}

/// The file is made if it is missing.
fn file(path: &str) -> Result<Address> {
    let shown = shown_url(path);
    if path.is_empty() || path.contains(['\0', '?', '#']) || path.starts_with(":memory:") {
        return Err(Error::invalid("store", format!("{shown:?}"), ALLOWED));
    }
    let target = DatabaseUrl::Sqlite(path.to_owned());
    Ok(Address { dialect: &sqlite::DIALECT, target, shown: format!("sqlite:{shown}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (store, shown) in [
            ("mysql://leaf:s3cret@db:3306/leaf", "mysql://…@db:3306/leaf"),
            ("postgres://leaf:s3@cret@db/leaf?password=s3cret", "postgres://…@db/leaf?…"),
            ("postgres://db/leaf", "postgres://db/leaf"),
            ("mysql://leaf:s3cret@db", "mysql://…@db"),
            ("jdbc:mysql://db/leaf?user=leaf&password=s3cret", "mysql://…@db/leaf"),
        ] {
            assert_eq!(parse(store).map(|address| address.shown), Ok(shown.to_owned()));
        }
        let error = parse("oracle://leaf:s3cret@db/leaf").map(|address| address.shown).unwrap_err();
        assert!(!error.to_string().contains("s3cret") && error.to_string().contains("oracle://…@db/leaf"));
    }

    #[test]
    fn a_raw_password_is_refused_with_the_way_to_write_it() {
        for (store, shown) in [
            ("mysql://leaf:s3/cret@db/leaf", "store is mysql://…@db/leaf, whose password is not encoded"),
            ("postgres://leaf:12/s3cret@db/leaf", "store is postgres://…@db/leaf, whose password"),
            ("mysql://leaf:s3?cret@db/leaf", "store is mysql://…, whose password"),
            ("mysql://leaf:s3#cret@db/leaf", "store is mysql://…, whose password"),
            ("postgres://db/leaf?password=s3@cret", "store is postgres://…, whose password"),
        ] {
            let error = parse(store).map(|address| address.shown).unwrap_err();
            let text = error.message();
            assert!(text.starts_with(shown) && text.contains("/ as %2F") && !text.contains("cret"), "{text}");
        }
        assert!(parse("mysql://leaf:s3%2Fcr@et@db/leaf").is_ok());
    }

    #[test]
    fn a_plain_path_is_a_file() {
        for (store, path) in [
            ("ids.db", "ids.db"),
            ("sqlite:///var/lib/ids.db", "/var/lib/ids.db"),
            ("sqlite:a b%.db", "a b%.db"),
            ("/var/lib/ids-1_2~.db", "/var/lib/ids-1_2~.db"),
        ] {
            let address = parse(store).unwrap();
            assert!(matches!(address.target, DatabaseUrl::Sqlite(found) if found == path), "{store}");
            assert_eq!((address.dialect.name, address.shown), ("SQLite", format!("sqlite:{path}")));
        }
        for wrong in ["", "sqlite::memory:", "a?mode=memory"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_in_another_program_s_words_is_no_file() {
        for store in [
            "host=db dbname=leaf password=s3cret",
            "host=db",
            "leaf:s3cret@tcp(db:3306)/leaf",
            "leaf@db/leaf",
            "db:5432/leaf",
            "Server=db;Uid=leaf;Pwd=s3cret",
            "postgres:leaf",
            "jdbc:mysql:leaf",
            "db1,db2/leaf",
            "C:\\ids.db",
        ] {
            let error = parse(store).map(|address| address.shown).unwrap_err().to_string();
            assert!(!error.contains("s3cret") && error.contains("postgres://"), "{error}");
        }
    }
}
