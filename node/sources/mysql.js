'use strict'

// Ranges of ids from a table of MariaDB or MySQL, by mysql2.

const { listed, quoted, settingsOf, wrongColumns } = require('../lib/databases.js')

const SETTINGS = 'SELECT @@innodb_flush_log_at_trx_commit, @@log_bin, @@sync_binlog, @@read_only'
const URL = ['mysql|mariadb', 'mysql://user:password@host:3306/database, percent-encoded', ['@/']]
const COLUMNS = `SELECT column_name, data_type, engine
                 FROM information_schema.tables JOIN information_schema.columns USING (table_schema, table_name)
                 WHERE table_schema = DATABASE() AND table_name = ?`

/** What runs a statement, for two seconds. Calls are rare: each has a connection of its own. */
function mariadb(given) {
  const settings = { ...settingsOf(given, 'uri', ...URL), connectTimeout: 2000, supportBigNumbers: true }
  const mysql = require('mysql2/promise')
  return async (sql, values) => {
    const db = await mysql.createConnection({ ...settings })
    db.on('error', () => {}) // the connection was cut: the query has the error
    try {
      // `query`, because `execute` prepares a statement, which a proxy may not find again.
      const [answer] = await db.query({ sql, timeout: 2000, values, rowsAsArray: true })
      db.end().catch(() => {}) // a server that hangs is not waited for
      return answer
    } catch (error) {
      db.destroy()
      throw error
    }
  }
}

function source(given, { table: name = 'leaf_alloc' } = {}) {
  const table = quoted(name, '`')
  const run = mariadb(given)
  const create = `CREATE TABLE IF NOT EXISTS ${table} (
    biz_tag varchar(128) PRIMARY KEY,
    max_id  bigint NOT NULL DEFAULT 1,
    step    int NOT NULL DEFAULT 1000
  ) ENGINE = InnoDB`
  const add = `INSERT INTO ${table} (biz_tag) VALUES (?) ON DUPLICATE KEY UPDATE biz_tag = biz_tag`
  // One statement: its own answer has the number of rows, and the value of LAST_INSERT_ID(…).
  const take = `UPDATE ${table} SET max_id = LAST_INSERT_ID(GREATEST(max_id, ?) + ?) WHERE biz_tag = ?`

  async function fetch(tag, step, after = 0n) {
    const done = await run(take, [after, step, tag])
    if (done.affectedRows !== 1) return null // no such tag
    return { start: BigInt(done.insertId) - BigInt(step), end: BigInt(done.insertId) }
  }
  fetch.createTables = async ({ tags } = {}) => {
    const added = listed(tags)
    await run(create)
    for (const tag of added) await run(add, [tag])
  }
  fetch.check = async () => problems(await run(SETTINGS), await run(COLUMNS, [name]), table)
  return fetch
}

/** What is wrong with the server, and with this table's columns. */
function problems([settings], columns, table) {
  const [flush, hasBinlog, syncBinlog, readOnly] = settings.map(String)
  const kinds = Object.fromEntries(columns)
  const found = wrongColumns(table, kinds, { biz_tag: 'varchar(128)', max_id: 'bigint' })
  const engine = columns[0]?.[2] ?? 'InnoDB'
  if (engine !== 'InnoDB') {
    found.push(`the engine of ${table} is ${engine}: a crash loses ranges; ALTER TABLE ${table} ENGINE = InnoDB`)
  }
  if (['0', '2'].includes(flush)) {
    const mend = 'SET GLOBAL innodb_flush_log_at_trx_commit = 1, and in the settings of the server'
    found.push(`innodb_flush_log_at_trx_commit is ${flush}: a crash loses commits; ${mend}`)
  }
  if (hasBinlog !== '0' && syncBinlog !== '1') {
    const mend = 'SET GLOBAL sync_binlog = 1, and in the settings of the server'
    found.push(`sync_binlog is ${syncBinlog}: a crash of the machine loses commits; ${mend}`)
  }
  if (!['0', 'OFF'].includes(readOnly)) found.push(`read_only is ${readOnly}, as of a replica: connect to the primary`)
  return found
}

module.exports = { source }
