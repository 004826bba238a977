'use strict'

// Ranges of ids from keys of Redis, by ioredis.

const { listed } = require('../lib/databases.js')
const { text } = require('../lib/readers.js')
const { problems, redis } = require('../lib/redis_database.js')

// It compares texts and lets Redis add, because numbers of Lua are exact only up to 2^53.
const TAKE = `
local max, after = redis.call('GET', KEYS[1]), ARGV[2]
if not max then return false end
if #max < #after or (#max == #after and max < after) then redis.call('SET', KEYS[1], after) end
redis.call('INCRBY', KEYS[1], ARGV[1])
return redis.call('GET', KEYS[1])
`

function source(given, { prefix = 'segment:' } = {}) {
  text(prefix, 'prefix', 'a text')
  const run = redis(given, 2000)

  async function fetch(tag, step, after = 0n) {
    const end = await run(client => client.eval(TAKE, 1, prefix + tag, String(step), String(after)))
    if (end === null) return null // no such tag: a Redis that lost its data does not begin at 1 again
    return { start: BigInt(end) - BigInt(step), end: BigInt(end) }
  }
  fetch.createTables = async ({ tags } = {}) => {
    for (const tag of listed(tags)) await run(client => client.set(prefix + tag, '1', 'NX'))
  }
  fetch.check = () => run(problems)
  return fetch
}

module.exports = { source }
