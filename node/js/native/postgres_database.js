'use strict'

// Statements on PostgreSQL, by pg.

const { settingsOf, wrongColumns } = require('./databases.js')

const SETTINGS = `SELECT current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync,
                  current_setting('synchronous_standby_names') AS standbys,
                  current_setting('default_transaction_isolation') AS isolation, pg_is_in_recovery()::text AS follows`
const URL = ['postgres|postgresql', 'postgresql://user:password@host:5432/database, percent-encoded', []]
const COLUMNS = `SELECT attname::text AS name, format_type(atttypid, NULL) AS kind, relpersistence::text AS persistence
                 FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
                 WHERE pg_class.oid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`

/**
 * What runs a statement, for so many milliseconds, and gives its rows. Calls are rare: each has a connection of its own.
 * A query without a name is one step, also behind a pooler.
 */
function postgres(given, limitMs) {
  const limits = { connectionTimeoutMillis: limitMs, query_timeout: limitMs }
  const settings = { ...settingsOf(given, 'connectionString', ...URL), ...limits }
  const { Client } = require('pg')
  return async (text, values) => {
    const client = new Client(settings)
    client.on('error', () => {}) // the connection was cut: the query has the error
    try {
      await client.connect()
      return (await client.query(text, values)).rows
    } finally {
      client.end().catch(() => {}) // a server that hangs is not waited for
    }
  }
}

/** What is wrong with the server, and with this table's columns. */
async function problems(rows, table, columns) {
  const [{ commit, fsync, standbys, isolation, follows }] = await rows(SETTINGS)
  const there = await rows(COLUMNS, [table])
  const found = wrongColumns(table, Object.fromEntries(there.map(({ name, kind }) => [name, kind])), columns)
  if (there[0]?.persistence === 'u') {
    found.push(`the table ${table} is UNLOGGED: a crash empties it; ALTER TABLE ${table} SET LOGGED`)
  }
  if (commit === 'off' || (standbys && ['local', 'remote_write'].includes(commit))) {
    const mend = 'ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf()'
    found.push(`synchronous_commit is ${commit}: a crash or a fail-over loses commits; ${mend}`)
  }
  if (fsync !== 'on') {
    const mend = 'ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()'
    found.push(`fsync is ${fsync}: a crash of the machine loses commits; ${mend}`)
  }
  if (isolation !== 'read committed') {
    const mend = "ALTER ROLE … SET default_transaction_isolation = 'read committed'"
    found.push(`default_transaction_isolation is ${isolation}: of two calls at once one fails; ${mend}`)
  }
  if (follows === 'true') found.push('pg_is_in_recovery() is true, this is a standby: connect to the primary')
  return found
}

module.exports = { postgres, problems }
