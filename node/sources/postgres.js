'use strict'

// Ranges of ids from a table of PostgreSQL, by pg.

const { listed, quoted } = require('../lib/databases.js')
const { postgres, problems } = require('../lib/postgres_database.js')

function source(given, { table: name = 'leaf_alloc' } = {}) {
  const table = quoted(name)
  const rows = postgres(given, 2000)
  const create = `CREATE TABLE IF NOT EXISTS ${table} (
    biz_tag varchar(128) PRIMARY KEY,
    max_id  bigint NOT NULL DEFAULT 1,
    step    int NOT NULL DEFAULT 1000
  )`
  const add = `INSERT INTO ${table} (biz_tag) VALUES ($1) ON CONFLICT (biz_tag) DO NOTHING`
  // As text, because a program may read bigint as numbers.
  const take = `UPDATE ${table} SET max_id = greatest(max_id, $1::bigint) + $2::bigint
                WHERE biz_tag = $3 RETURNING max_id::text AS end`

  async function fetch(tag, step, after = 0n) {
    const [row] = await rows(take, [after, step, tag])
    if (row === undefined) return null // no such tag
    return { start: BigInt(row.end) - BigInt(step), end: BigInt(row.end) }
  }
  fetch.createTables = async ({ tags } = {}) => {
    const added = listed(tags)
    await rows(create)
    for (const tag of added) await rows(add, [tag])
  }
  fetch.check = () => problems(rows, table, { biz_tag: 'varchar(128)', max_id: 'bigint' })
  return fetch
}

module.exports = { source }
