//! PostgreSQL.

use super::dialect::{Dialect, Durable};

pub(super) static DIALECT: Dialect = Dialect {
    name: "PostgreSQL",
    // The second of two waits for the row, and then reads what the first one stored. A pooler gives the session to other
    // programs, so the limits hold for this transaction alone.
    begin: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = 5000; \
            SET LOCAL idle_in_transaction_session_timeout = 10000",
    for_update: "FOR UPDATE",
    text: ("convert_from(decode('", "', 'hex'), 'UTF8')"),
    now_ms: "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
    touch: ", update_time = CURRENT_TIMESTAMP",
    within_a_day: "update_time > LOCALTIMESTAMP - INTERVAL '1 day'",
    tag: "CAST(biz_tag AS text)",
    table_options: "",
    leaf_alloc: "CREATE TABLE IF NOT EXISTS leaf_alloc (
        biz_tag varchar(128) NOT NULL PRIMARY KEY,
        max_id bigint NOT NULL DEFAULT 1,
        step int NOT NULL,
        description varchar(256) DEFAULT NULL,
        update_time timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
    )",
    columns: "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped",
    largest: |_| Some(i64::MAX),
    untransacted: None,
    unlike: None,
    schema: Some(
        "SELECT COALESCE((SELECT CAST(n.nspname AS text) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.oid = to_regclass('leaf_alloc')), CAST(current_schema() AS text), 'none')",
    ),
    // The catalog has the tables of all users, whatever the search_path is.
    elsewhere: Some(
        "SELECT CAST(c.relname AS text) || ' is also in the schema ' || CAST(n.nspname AS text) || ', and this user''s is in '
         || COALESCE((SELECT CAST(own.nspname AS text) FROM pg_class u JOIN pg_namespace own ON own.oid = u.relnamespace
         WHERE u.oid = to_regclass(CAST(c.relname AS text))), CAST(current_schema() AS text), 'none')
         || ': servers of both give the same ids and worker ids. Give all of them one search_path (ALTER ROLE '
         || quote_ident(CAST(current_user AS text)) || ' SET search_path = ' || quote_ident(CAST(n.nspname AS text))
         || ', for this one to use the other), and drop the tables that none uses (DROP TABLE '
         || quote_ident(CAST(n.nspname AS text)) || '.' || quote_ident(CAST(c.relname AS text)) || ')'
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relname IN ('leaf_alloc', 'leafid_space') AND c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
         AND c.oid IS DISTINCT FROM CAST(to_regclass(CAST(c.relname AS text)) AS oid) ORDER BY 1",
    ),
    backend: Some("SELECT pg_backend_pid()"),
    insert_new: ("INSERT INTO", "ON CONFLICT DO NOTHING"),
    durable: &[
        Durable {
            setting: "synchronous_commit",
            query: "SELECT current_setting('synchronous_commit')",
            good: &["on", "remote_apply", "remote_write"],
            or: "a crash of the machine loses what was committed, and ids come twice",
            mend: "ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf(); and see that no ALTER ROLE or ALTER \
                   DATABASE sets another one",
        },
        Durable {
            setting: "fsync",
            query: "SELECT current_setting('fsync')",
            good: &["on"],
            or: "a crash of the machine can lose or damage everything",
            mend: "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()",
        },
        Durable {
            setting: "an unlogged table",
            query: "SELECT CAST(relname AS text) FROM pg_class WHERE relpersistence <> 'p' AND oid IN \
                    (to_regclass('leaf_alloc'), to_regclass('leafid_space'), to_regclass('leafid_worker')) ORDER BY 1",
            good: &[],
            or: "a crash of the database empties it, and ids come twice",
            mend: "ALTER TABLE ? SET LOGGED",
        },
    ],
    collates: "",
};
