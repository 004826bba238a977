//! SQLite: one file, for the servers of one host.

use super::dialect::Dialect;

pub(super) static DIALECT: Dialect = Dialect {
    name: "SQLite",
    // Its transactions come one after another. Those of several connections would wait by polling, the last for seconds.
    most_connections: 1,
    // FULL: a commit has reached the disk, also in WAL mode.
    session: &["PRAGMA busy_timeout = 5000", "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"],
    // It takes the lock now: a transaction that reads first could not write after another one has.
    begin: "BEGIN IMMEDIATE",
    for_update: "",
    numbered: false,
    now_ms: "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
    touch: ", update_time = CURRENT_TIMESTAMP",
    within_a_day: "update_time > datetime('now', '-1 day')",
    binary: "",
    tag: "CAST(biz_tag AS text)",
    column: "SELECT COUNT(*) FROM pragma_table_info(?) WHERE name = ?",
    table_options: "",
    leaf_alloc: "CREATE TABLE IF NOT EXISTS leaf_alloc (
        biz_tag varchar(128) NOT NULL PRIMARY KEY,
        max_id bigint NOT NULL DEFAULT 1,
        step int NOT NULL,
        description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
    )",
    untransacted: None,
    insert_new: ("INSERT INTO", "ON CONFLICT DO NOTHING"),
    durable: &[],
};
