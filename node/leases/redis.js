'use strict'

// Leases of worker ids from Redis, by ioredis. A sorted set has the end of each worker id's span, a hash the holders. A
// key with an expiry is no lease: it ends by the clock of Redis, and says nothing about the span of the last holder.

const { AHEAD_MS, idsOf, newToken } = require('../lib/databases.js')
const { text } = require('../lib/readers.js')
const { problems, redis } = require('../lib/redis_database.js')

const CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most = now + ${AHEAD_MS}`
// The id that has been free for longest, by both clocks.
const CLAIM = `${CLOCK}
local free = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', math.min(ARGV[1], now), 'WITHSCORES', 'LIMIT', 0, 1)
if #free == 0 then return false end
free[3] = math.min(ARGV[2], most)
redis.call('ZADD', KEYS[1], free[3], free[1])
redis.call('HSET', KEYS[2], free[1], ARGV[3])
return free
`
// A driver whose connection was cut sends it again, with the same new token.
const RENEW = `${CLOCK}
local holder = redis.call('HGET', KEYS[2], ARGV[1])
if holder ~= ARGV[2] and holder ~= ARGV[4] then return false end
redis.call('ZADD', KEYS[1], 'GT', math.min(ARGV[3], most), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return redis.call('ZSCORE', KEYS[1], ARGV[1])
`
const RELEASE = `
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return false end
redis.call('ZADD', KEYS[1], 'LT', ARGV[3], ARGV[1])
return redis.call('HDEL', KEYS[2], ARGV[1])
`

function leases(given, { prefix = '{worker}' } = {}) {
  text(prefix, 'prefix', 'a text')
  const run = redis(given, 1000)
  const ends = `${prefix}:until`
  const evaluate = (script, ...values) => run(client => client.eval(script, 2, ends, `${prefix}:holder`, ...values))

  return {
    async claim({ instance, nowMs, untilMs }) {
      const free = await evaluate(CLAIM, nowMs, untilMs, instance)
      return free && { workerId: Number(free[0]), fromMs: Number(free[1]), untilMs: Number(free[2]), token: instance }
    },
    async renew({ workerId, token }, untilMs) {
      const next = newToken()
      const stored = await evaluate(RENEW, workerId, token, untilMs, next)
      return stored && { untilMs: Number(stored), token: next } // null: another one has the id
    },
    async release({ workerId, token }, untilMs) {
      await evaluate(RELEASE, workerId, token, untilMs)
    },
    async createTables({ workers } = {}) {
      const added = idsOf(workers).flatMap(id => [0, id])
      await run(client => client.zadd(ends, 'NX', ...added))
    },
    check: () =>
      run(async client => {
        const found = await problems(client)
        if ((await client.zcard(ends)) === 0) found.push(`${ends} has no worker ids: createTables() adds them`)
        return found
      }),
  }
}

module.exports = { leases }
