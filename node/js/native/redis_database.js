'use strict'

// A Redis, by ioredis.

const { wholeUrl, within } = require('./databases.js')

/**
 * What calls a function with a client and waits so many milliseconds for its promise. Calls are rare: each has a
 * connection of its own, unless a client was given.
 */
function redis(given, limitMs) {
  if (typeof given !== 'string') return use => within(limitMs, 'Redis', use(given))
  wholeUrl(given, 'redis|rediss', 'redis://user:password@host:6379/0, percent-encoded', ['@/'])
  const { Redis } = require('ioredis')
  return async use => {
    const client = new Redis(given, { connectTimeout: limitMs, retryStrategy: () => null })
    let cut // why the connection ended, which an error of a command does not say
    client.on('error', error => {
      cut = error
    })
    try {
      return await within(limitMs, 'Redis', use(client))
    } catch (error) {
      throw cut ?? error
    } finally {
      client.disconnect()
    }
  }
}

/** What is wrong with the server, each with what mends it. */
async function problems(client) {
  const lines = (await client.info()).split('\r\n')
  const info = Object.fromEntries(lines.filter(line => line.includes(':')).map(line => line.split(':', 2)))
  const found = []
  if (info.aof_enabled !== '1') {
    const mend = 'CONFIG SET appendonly yes, and CONFIG REWRITE'
    found.push(`appendonly is no: a crash loses what came after the last snapshot; ${mend}`)
  }
  const fsync = await client.config('GET', 'appendfsync').then(([, value]) => value, refusal => refusal)
  if (fsync instanceof Error) {
    found.push(`appendfsync is not known, CONFIG GET answered ${fsync.message}: it must be always`)
  } else if (fsync !== 'always') {
    const mend = 'CONFIG SET appendfsync always, and CONFIG REWRITE'
    found.push(`appendfsync is ${fsync}: a crash of the machine loses the last commands; ${mend}`)
  }
  if (info.maxmemory_policy.startsWith('allkeys')) {
    const mend = 'CONFIG SET maxmemory-policy noeviction, and CONFIG REWRITE'
    found.push(`maxmemory-policy is ${info.maxmemory_policy}: keys can be removed; ${mend}`)
  }
  if (info.role !== 'master') found.push(`role is ${info.role}, this is a replica: connect to its master`)
  if (info.cluster_enabled === '1') {
    const mend = 'set cluster-replica-no-failover on each replica'
    found.push(`cluster_enabled is 1: a replica that lacks the last commands may be promoted; ${mend}`)
  }
  return found
}

module.exports = { problems, redis }
