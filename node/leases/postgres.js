'use strict'

// Leases of worker ids from a table of PostgreSQL, by pg.

const { AHEAD_MS, idsOf, newToken, quoted } = require('../lib/databases.js')
const { postgres, problems } = require('../lib/postgres_database.js')

function leases(given, { table: name = 'worker' } = {}) {
  const table = quoted(name)
  const rows = postgres(given, 1000)
  const columns = 'id int PRIMARY KEY, holder text, until_ms bigint NOT NULL DEFAULT 0'
  const create = `CREATE TABLE IF NOT EXISTS ${table} (${columns})`
  const add = `INSERT INTO ${table} (id) SELECT unnest($1::int[]) ON CONFLICT (id) DO NOTHING`
  const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
  const end = wish => `least(${wish}::bigint, ${now} + ${AHEAD_MS})`
  // The id that has been free for longest, by both clocks. SKIP LOCKED gives two clients two ids.
  const claim = `WITH free AS (SELECT id, until_ms FROM ${table} WHERE until_ms <= least($1::bigint, ${now})
                               ORDER BY until_ms LIMIT 1 FOR UPDATE SKIP LOCKED)
                 UPDATE ${table} SET holder = $2, until_ms = ${end('$3')} FROM free
                 WHERE ${table}.id = free.id RETURNING free.id, free.until_ms AS from_ms, ${table}.until_ms`
  const renew = `UPDATE ${table} SET until_ms = greatest(until_ms, ${end('$1')}), holder = $2
                 WHERE id = $3 AND holder = $4 RETURNING until_ms`
  const release = `UPDATE ${table} SET until_ms = least(until_ms, $1), holder = NULL WHERE id = $2 AND holder = $3`

  return {
    async claim({ instance, nowMs, untilMs }) {
      const [row] = await rows(claim, [nowMs, instance, untilMs])
      if (row === undefined) return null // none is free
      return { workerId: row.id, fromMs: Number(row.from_ms), untilMs: Number(row.until_ms), token: instance }
    },
    async renew({ workerId, token }, untilMs) {
      const next = newToken()
      const [row] = await rows(renew, [untilMs, next, workerId, token])
      return row === undefined ? null : { untilMs: Number(row.until_ms), token: next } // null: another one has the id
    },
    async release({ workerId, token }, untilMs) {
      await rows(release, [untilMs, workerId, token])
    },
    async createTables({ workers } = {}) {
      const ids = idsOf(workers)
      await rows(create)
      await rows(add, [ids])
    },
    async check() {
      const found = await problems(rows, table, { id: 'int', holder: 'text', until_ms: 'bigint' })
      if (found.length === 0 && (await rows(`SELECT id FROM ${table} LIMIT 1`)).length === 0) {
        found.push(`the table ${table} has no worker ids: createTables() adds them`)
      }
      return found
    },
  }
}

module.exports = { leases }
