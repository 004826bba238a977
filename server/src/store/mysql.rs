//! MySQL and MariaDB.

use super::dialect::Dialect;

pub(super) static DIALECT: Dialect = Dialect {
    name: "MySQL",
    most_connections: u32::MAX,
    session: &[
        "SET SESSION innodb_lock_wait_timeout = 5",
        // Otherwise a counter that does not fit its column is stored as the largest that does, again and again.
        "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
    ],
    begin: "START TRANSACTION",
    for_update: "FOR UPDATE",
    numbered: false,
    now_ms: "CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000 AS SIGNED)",
    touch: "",
    within_a_day: "update_time > NOW() - INTERVAL 1 DAY",
    binary: "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    tag: "CAST(biz_tag AS CHAR)",
    column: "SELECT COUNT(*) FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = ? AND column_name = ?",
    // Another engine may have no transactions.
    table_options: "ENGINE = InnoDB",
    leaf_alloc: "CREATE TABLE IF NOT EXISTS leaf_alloc (
        biz_tag varchar(128) NOT NULL DEFAULT '',
        max_id bigint NOT NULL DEFAULT 1,
        step int NOT NULL,
        description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
        PRIMARY KEY (biz_tag)
    ) ENGINE = InnoDB",
    untransacted: Some(
        "SELECT CAST(CONCAT(t.table_name, ' is ', t.engine) AS CHAR) FROM information_schema.tables t
         JOIN information_schema.engines e ON e.engine = t.engine
         WHERE t.table_schema = DATABASE() AND t.table_name IN ('leaf_alloc', 'leafid_space', 'leafid_worker')
         AND e.transactions <> 'YES' ORDER BY 1",
    ),
    insert_new: ("INSERT IGNORE INTO", ""),
    durable: &[
        (
            "SELECT CAST(@@innodb_flush_log_at_trx_commit AS CHAR)",
            &["1"],
            "set 1, or a crash of the machine loses what was committed, and ids come twice",
        ),
        (
            "SELECT CAST(@@sync_binlog AS CHAR)",
            &["1"],
            "set 1 if replicas can become the primary, or they may miss what was committed",
        ),
    ],
};
