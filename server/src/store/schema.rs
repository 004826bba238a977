//! The tables of worker ids, as they are made.

use super::dialect::Dialect;

/// The statements that make the tables.
pub(super) fn lease_tables(dialect: &Dialect) -> [(&'static str, String); 2] {
    let options = dialect.table_options;
    let space = format!(
        "CREATE TABLE IF NOT EXISTS leafid_space (
            name varchar(64) NOT NULL,
            floor_ms bigint NOT NULL,
            latest_ms bigint NOT NULL,
            longest_ms bigint NOT NULL,
            revision bigint NOT NULL,
            PRIMARY KEY (name)
        ) {options}"
    );
    let worker = format!(
        "CREATE TABLE IF NOT EXISTS leafid_worker (
            name varchar(64) NOT NULL,
            worker_id bigint NOT NULL,
            begins_ms bigint NOT NULL,
            until_ms bigint NOT NULL,
            ends_ms bigint NOT NULL,
            token varchar(64) NOT NULL,
            released varchar(64) NOT NULL,
            instance varchar(255) NOT NULL,
            renewals bigint NOT NULL,
            clock_ahead_ms bigint NOT NULL,
            history varchar(4000) NOT NULL DEFAULT '',
            holder varchar(255) NOT NULL DEFAULT '',
            PRIMARY KEY (name, worker_id)
        ) {options}"
    );
    [("leafid_space", space), ("leafid_worker", worker)]
}

/// A column of `leafid_worker` that tables of 0.1.0 lack, and the statement that adds it.
pub(super) const HOLDER: &str = "holder";
pub(super) const SERVERS: &str = "leafid_server";
pub(super) const ADD_HOLDER: &str =
    "ALTER TABLE leafid_worker ADD COLUMN holder varchar(255) NOT NULL DEFAULT ''";

/// The table of the servers, which stores of 0.1.0 lack.
pub(super) fn server_table(dialect: &Dialect) -> String {
    let options = dialect.table_options;
    format!(
        "CREATE TABLE IF NOT EXISTS leafid_server (
            server varchar(255) NOT NULL,
            holder varchar(255) NOT NULL,
            seen_ms bigint NOT NULL,
            PRIMARY KEY (server)
        ) {options}"
    )
}

/// Said of a store that was empty. A volume that is not mounted, or another folder, looks like a first start.
pub(super) fn made_anew(shown: &str, what: &str) -> String {
    format!(
        "{shown} had no {what}, and new ones were made: if servers gave ids of this store before, it was lost, or this is \
         another one. Then stop this server, raise the counters above all ids that were given, and wait 50 s"
    )
}
