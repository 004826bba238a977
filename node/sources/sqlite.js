'use strict'

// Ranges of ids from a table of SQLite, by better-sqlite3.

const { listed, quoted, wrongColumns } = require('../lib/databases.js')

function source(path, { table: name = 'leaf_alloc' } = {}) {
  const Database = require('better-sqlite3')
  const table = quoted(name)
  const create = `CREATE TABLE IF NOT EXISTS ${table} (biz_tag text PRIMARY KEY, max_id integer NOT NULL DEFAULT 1)`
  const add = `INSERT INTO ${table} (biz_tag) VALUES (?) ON CONFLICT (biz_tag) DO NOTHING`
  const take = `UPDATE ${table} SET max_id = max(max_id, ?) + ? WHERE biz_tag = ? RETURNING max_id`

  /** With a connection for each call: calls are rare. */
  function run(use) {
    const db = new Database(path, { timeout: 2000 }).defaultSafeIntegers()
    try {
      // Each commit is on the disk before it is answered, also in WAL mode, where better-sqlite3 sets NORMAL.
      db.pragma('synchronous = FULL')
      return use(db)
    } finally {
      db.close()
    }
  }

  async function fetch(tag, step, after = 0n) {
    // BigInts, because a number would be a double. To prepare reads the file already, which may be locked.
    const [row] = run(db => db.prepare(take).all(BigInt(after), BigInt(step), tag))
    return row ? { start: row.max_id - BigInt(step), end: row.max_id } : null // null: no such tag
  }
  fetch.createTables = async ({ tags } = {}) => {
    const added = listed(tags)
    run(db => db.exec(create))
    for (const tag of added) run(db => db.prepare(add).run(tag))
  }
  fetch.check = async () => {
    const columns = run(db => db.prepare('SELECT name, type FROM pragma_table_info(?)').raw().all(name))
    return wrongColumns(table, Object.fromEntries(columns), { biz_tag: 'text', max_id: 'integer' })
  }
  return fetch
}

module.exports = { source }
