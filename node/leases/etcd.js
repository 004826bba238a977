'use strict'

// Leases of worker ids from etcd, by the JSON gateway that every etcd has. A key for each worker id has the holder and
// the end of the span. A write compares the value that was read, so it fails if another client wrote meanwhile. A lease of
// etcd is not used: it ends by the clock of etcd, and says nothing about the span of the last holder. etcd tells its clock
// as the Date of its answers.

const { AHEAD_MS, folder, idsOf, newToken, wholeUrl } = require('../lib/databases.js')

const encoded = text => Buffer.from(text).toString('base64')
const decoded = text => Buffer.from(text, 'base64').toString()
const stored = (holder, untilMs) => encoded(JSON.stringify({ holder, until_ms: untilMs }))

function leases(url, { prefix: given = '/leafid/worker/' } = {}) {
  wholeUrl(url, 'http|https', 'http://host:2379 or https://host:2379, without a user', ['@', '?'])
  const prefix = folder(given)
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)
  const all = { key: encoded(prefix), range_end: encoded(end) }

  async function call(name, request) {
    const options = { method: 'POST', body: JSON.stringify(request), signal: AbortSignal.timeout(1000) }
    const answer = await fetch(`${url.replace(/\/+$/, '')}/v3/kv/${name}`, options)
    if (!answer.ok) throw new Error(`etcd answered ${answer.status}`)
    const clockMs = Date.parse(answer.headers.get('date'))
    if (Number.isNaN(clockMs)) {
      throw new Error('the answer of etcd has no Date, and its clock is not known: no proxy may remove it')
    }
    return { ...(await answer.json()), clockMs }
  }

  /** Worker id, what is stored, its bytes, and etcd's clock, the one that has been free for longest first. */
  async function read(keys) {
    const { kvs = [], clockMs } = await call('range', keys)
    const found = kvs.map(({ key, value }) => {
      const { holder, until_ms: untilMs } = JSON.parse(decoded(value))
      return { id: Number(decoded(key).slice(prefix.length)), holder, untilMs, before: value, clockMs }
    })
    return found.sort((one, other) => one.untilMs - other.untilMs)
  }

  async function put(id, unchanged, value) {
    const key = encoded(`${prefix}${id}`)
    const compare = [{ key, result: 'EQUAL', ...unchanged }]
    const { succeeded = false } = await call('txn', { compare, success: [{ request_put: { key, value } }] })
    return succeeded
  }

  /** Whether the value was still `before`. */
  const write = ({ id, before }, ...changed) => put(id, { target: 'VALUE', value: before }, stored(...changed))

  async function change({ workerId, token }, holder, endMs) {
    const [held] = await read({ key: encoded(`${prefix}${workerId}`) })
    if (held?.holder !== token) return null // another one has the id
    const untilMs = endMs(held)
    if (!(await write(held, holder, untilMs))) throw new Error('another client wrote meanwhile') // leafid calls again
    return untilMs
  }

  return {
    async claim({ instance, nowMs, untilMs: wishMs }) {
      for (const worker of await read(all)) {
        const untilMs = Math.min(wishMs, worker.clockMs + AHEAD_MS)
        const free = worker.untilMs <= Math.min(nowMs, worker.clockMs) // by both clocks
        if (free && (await write(worker, instance, untilMs))) {
          return { workerId: worker.id, fromMs: worker.untilMs, untilMs, token: instance }
        }
      }
      return null // none is free
    },
    async renew(lease, untilMs) {
      const token = newToken()
      const longer = held => Math.max(held.untilMs, Math.min(untilMs, held.clockMs + AHEAD_MS))
      const endMs = await change(lease, token, longer)
      return endMs && { untilMs: endMs, token }
    },
    release: (lease, untilMs) => change(lease, null, held => Math.min(held.untilMs, untilMs)),
    async createTables({ workers } = {}) {
      for (const id of idsOf(workers)) await put(id, { target: 'CREATE', create_revision: '0' }, stored(null, 0))
    },
    async check() {
      const there = (await read(all)).length > 0
      return there ? [] : [`there are no keys ${prefix}…: createTables() makes them`]
    },
  }
}

module.exports = { leases }
