'use strict'

// Leases of worker ids from ZooKeeper, by the package zookeeper. A node for each worker id has the holder and the end of
// the span. A write compares the version that was read, so a read from a server that is behind does no harm. Ephemeral
// nodes are not used: they end with a session, and say nothing about the span of the last holder. ZooKeeper tells its
// clock as the time of a write: what a node has is written once more before it is changed.

const { AHEAD_MS, folder: checked, hostList, idsOf, newToken, within } = require('../lib/databases.js')

function leases(hosts, { prefix = '/leafid/worker/' } = {}) {
  hostList(hosts, 'zk-1:2181,zk-2:2181, without a user')
  const ZooKeeper = require('zookeeper')
  const { ZBADVERSION, ZNODEEXISTS, ZNONODE, ZOO_LOG_LEVEL_ERROR: debug_level } = ZooKeeper.constants
  const folder = checked(prefix).replace(/\/+$/, '')
  const is = (error, code) => error.message.startsWith(`${code} `)

  /** A session for each call: calls are rare. What is not done after these milliseconds is an error. */
  async function session(use, limitMs = 1000) {
    const client = new ZooKeeper({ connect: hosts, timeout: 2000, debug_level })
    const done = new Promise(resolve => client.once('connect', resolve)).then(() => use(client))
    client.init({})
    try {
      return await within(limitMs, 'ZooKeeper', done)
    } finally {
      client.close()
    }
  }

  async function read(client, id) {
    const [{ version }, value] = await client.get(`${folder}/${id}`, false)
    const [holder, endMs] = JSON.parse(value)
    return { id, holder, endMs, version }
  }

  /** ZooKeeper's clock, and the next version. An error if the version is no longer this one. */
  async function write(client, id, holder, endMs, version) {
    const stat = await client.set(`${folder}/${id}`, JSON.stringify([holder, endMs]), version)
    return { clockMs: Number(stat.mtime), next: stat.version }
  }

  const change = ({ workerId, token }, newHolder, newEndMs) =>
    session(async client => {
      const { holder, endMs, version } = await read(client, workerId)
      if (holder !== token) return null // another one has the id
      const { clockMs, next } = await write(client, workerId, holder, endMs, version)
      const untilMs = newEndMs(endMs, clockMs)
      await write(client, workerId, newHolder, untilMs, next)
      return untilMs
    })

  const created = (client, path, value) =>
    client.create(path, value, 0).catch(error => {
      if (!is(error, ZNODEEXISTS)) throw error
    })

  return {
    claim: ({ instance, nowMs, untilMs: wishMs }) =>
      session(async client => {
        const ids = await client.get_children(folder, false)
        const found = await Promise.all(ids.map(id => read(client, id)))
        for (const { id, holder, endMs, version } of found.sort((one, other) => one.endMs - other.endMs)) {
          if (endMs > nowMs) break
          try {
            const { clockMs, next } = await write(client, id, holder, endMs, version)
            if (endMs > clockMs) break
            const untilMs = Math.min(wishMs, clockMs + AHEAD_MS)
            await write(client, id, instance, untilMs, next)
            return { workerId: Number(id), fromMs: endMs, untilMs, token: instance }
          } catch (error) {
            if (!is(error, ZBADVERSION)) throw error // another client was faster: the next id
          }
        }
        return null // none is free
      }),
    async renew(lease, untilMs) {
      const token = newToken()
      const longer = (oldMs, clockMs) => Math.max(oldMs, Math.min(untilMs, clockMs + AHEAD_MS))
      const endMs = await change(lease, token, longer)
      return endMs && { untilMs: endMs, token }
    },
    release: (lease, untilMs) => change(lease, null, oldMs => Math.min(oldMs, untilMs)),
    async createTables({ workers } = {}) {
      const added = idsOf(workers)
      await session(async client => {
        const above = folder.split('/').slice(1)
        for (const [at] of above.entries()) await created(client, `/${above.slice(0, at + 1).join('/')}`, '')
        for (const id of added) await created(client, `${folder}/${id}`, JSON.stringify([null, 0]))
      }, 60_000)
    },
    check: () =>
      session(async client => {
        const ids = await client.get_children(folder, false).catch(error => {
          if (is(error, ZNONODE)) return []
          throw error
        })
        return ids.length > 0 ? [] : [`there are no nodes below ${folder}: createTables() makes them`]
      }),
  }
}

module.exports = { leases }
