//! PostgreSQL.

use super::dialect::Dialect;

pub(super) static DIALECT: Dialect = Dialect {
    name: "PostgreSQL",
    most_connections: u32::MAX,
    session: &["SET lock_timeout = 5000", "SET idle_in_transaction_session_timeout = 10000"],
    // The second of two waits for the row, and then reads what the first one stored.
    begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    for_update: "FOR UPDATE",
    numbered: true,
    now_ms: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
    touch: ", update_time = CURRENT_TIMESTAMP",
    within_a_day: "update_time > LOCALTIMESTAMP - INTERVAL '1 day'",
    binary: "",
    tag: "CAST(biz_tag AS text)",
    column: "SELECT COUNT(*) FROM pg_attribute
        WHERE attrelid = to_regclass(?) AND attname = ? AND NOT attisdropped",
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
    durable: &[
        (
            "SELECT current_setting('synchronous_commit')",
            &["on", "remote_apply", "remote_write"],
            "set on, or a crash of the machine loses what was committed, and ids come twice",
        ),
        (
            "SELECT current_setting('fsync')",
            &["on"],
            "set on, or a crash of the machine can lose or damage everything",
        ),
        (
            "SELECT CAST(COUNT(*) AS text) FROM pg_class WHERE relpersistence <> 'p' AND oid IN \
             (to_regclass('leaf_alloc'), to_regclass('leafid_space'), to_regclass('leafid_worker'))",
            &["0"],
            "ALTER TABLE … SET LOGGED, or a crash of the database empties a table, and ids come twice",
        ),
    ],
};
