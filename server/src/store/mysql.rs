//! MySQL and MariaDB.

use super::dialect::{Dialect, Durable};

pub(super) static DIALECT: Dialect = Dialect {
    name: "MySQL",
    begin: "START TRANSACTION READ WRITE",
    for_update: "FOR UPDATE",
    text: ("_utf8mb4 x'", "'"),
    // UNIX_TIMESTAMP would go by the time zone of the session, where an hour of autumn comes twice.
    now_ms: "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) DIV 1000",
    touch: "",
    within_a_day: "update_time > NOW() - INTERVAL 1 DAY",
    tag: "CAST(biz_tag AS CHAR)",
    // Another engine may have no transactions, and by another collation two names may be one.
    table_options: "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    leaf_alloc: "CREATE TABLE IF NOT EXISTS leaf_alloc (
        biz_tag varchar(128) NOT NULL DEFAULT '',
        max_id bigint NOT NULL DEFAULT 1,
        step int NOT NULL,
        description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
        PRIMARY KEY (biz_tag)
    ) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    columns: "SELECT column_name, column_type FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = ?",
    largest,
    untransacted: Some(
        "SELECT CAST(CONCAT(t.table_name, ' is ', t.engine) AS CHAR) FROM information_schema.tables t
         JOIN information_schema.engines e ON e.engine = t.engine
         WHERE t.table_schema = DATABASE() AND t.table_name IN ('leaf_alloc', 'leafid_space', 'leafid_worker')
         AND e.transactions <> 'YES' ORDER BY 1",
    ),
    unlike: Some(
        "SELECT CONCAT(table_name, '.', column_name, ' is ', collation_name) FROM information_schema.columns
         WHERE table_schema = DATABASE() AND (table_name = 'leaf_alloc' AND column_name = 'biz_tag'
         OR table_name IN ('leafid_space', 'leafid_worker') AND column_name = 'name')
         AND collation_name NOT LIKE 'utf8mb4%bin' ORDER BY 1",
    ),
    schema: None,
    elsewhere: None,
    // A proxy may answer CONNECTION_ID() by itself.
    backend: None,
    insert_new: ("INSERT IGNORE INTO", ""),
    durable: &[
        Durable {
            setting: "innodb_flush_log_at_trx_commit",
            query: "SELECT CAST(@@innodb_flush_log_at_trx_commit AS CHAR)",
            good: &["1"],
            or: "a crash of the machine loses what was committed, and ids come twice",
            mend: "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same line in my.cnf",
        },
        Durable {
            setting: "sync_binlog",
            query: "SELECT CAST(IF(@@log_bin = 0, 1, @@sync_binlog) AS CHAR)",
            good: &["1"],
            or: "replicas that become the primary may miss what was committed, and ids come twice",
            mend: "SET GLOBAL sync_binlog = 1, and the same line in my.cnf",
        },
    ],
    collates: "ALTER TABLE ? CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
};

/// Without its strict mode MySQL stores the largest number that the column can hold for each that is larger.
fn largest(column_type: &str) -> Option<i64> {
    let column_type = column_type.to_ascii_lowercase();
    let bits = match column_type.split(['(', ' ']).next()? {
        "bigint" => 64,
        "int" => 32,
        "mediumint" => 24,
        "smallint" => 16,
        "tinyint" => 8,
        _ => return None,
    };
    let bits = if column_type.contains("unsigned") { 63.min(bits) } else { bits - 1 };
    // At most 63 bits.
    Some((u64::MAX >> (64 - bits)) as i64)
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn the_largest_number_of_a_column_is_known() {
        for (column_type, number) in [
            ("bigint(20)", Some(i64::MAX)),
            ("bigint unsigned", Some(i64::MAX)),
            ("int(11)", Some(2_147_483_647)),
            ("INT unsigned", Some(4_294_967_295)),
            ("mediumint(9)", Some(8_388_607)),
            ("tinyint(3) unsigned", Some(255)),
            ("decimal(5,0)", None),
            ("double", None),
        ] {
            assert_eq!(largest(column_type), number, "{column_type}");
        }
    }
}
