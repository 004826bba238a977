//! SQLite: one file, for the servers of one host.

use super::dialect::Dialect;

pub(super) static DIALECT: Dialect = Dialect {
    name: "SQLite",
    // It takes the lock now: a transaction that reads first could not write after another one has.
    begin: "BEGIN IMMEDIATE",
    for_update: "",
    text: ("CAST(x'", "' AS TEXT)"),
    now_ms: "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
    touch: ", update_time = CURRENT_TIMESTAMP",
    within_a_day: "update_time > datetime('now', '-1 day')",
    tag: "CAST(biz_tag AS text)",
    table_options: "",
    leaf_alloc: "CREATE TABLE IF NOT EXISTS leaf_alloc (
        biz_tag varchar(128) NOT NULL PRIMARY KEY,
        max_id bigint NOT NULL DEFAULT 1,
        step int NOT NULL,
        description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
    )",
    columns: "SELECT name, type FROM pragma_table_info(?)",
    largest: |_| Some(i64::MAX),
    untransacted: None,
    unlike: None,
    schema: None,
    elsewhere: None,
    backend: None,
    insert_new: ("INSERT INTO", "ON CONFLICT DO NOTHING"),
    durable: &[],
    collates: "",
};
