'use strict'

// What leafid/sources and leafid/leases share.

const { fault } = require('./errors.js')

const refused = message => fault('invalid_argument', message)

/** A table's name as statements have it. */
function quoted(table, quote = '"') {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(table)) {
    throw refused(`table is ${JSON.stringify(table)}; allowed: a letter or _, then letters, digits and _`)
  }
  return quote + table + quote
}

/** A prefix of keys that ends with a slash: without one it would be that of other keys, too. */
function folder(prefix) {
  if (typeof prefix === 'string' && prefix.endsWith('/')) return prefix
  throw refused(`prefix is ${JSON.stringify(prefix)}; allowed: what ends with a slash, as /leafid/worker/`)
}

/** Tags. A text would be one of its letters each. */
function listed(tags = []) {
  if (!Array.isArray(tags)) throw refused(`tags is ${JSON.stringify(tags)}; allowed: an array of tags`)
  return tags
}

/** Worker ids: so many from 0, or those of a range. */
function idsOf(workers = 1024) {
  const { first, last } = typeof workers === 'number' ? { first: 0, last: workers - 1 } : workers
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/**
 * The settings of a driver, from a URL or as they are. A pool is refused: a transaction that was left open on one of its
 * connections could take a range back, and requests that wait for an id could hold all of them.
 */
function settingsOf(given, urlName) {
  if (typeof given === 'string') return { [urlName]: given }
  if (typeof given === 'object' && given !== null && typeof given.query !== 'function') return given
  throw refused('a pool, a client or nothing was given; allowed: a URL or settings, each call has a connection of its own')
}

/** What is wrong with a table's columns: their types by names. One that is to have 64 bits must have them. */
function wrongColumns(table, found, wanted) {
  if (Object.keys(found).length === 0) return [`there is no table ${table}: createTables() makes it`]
  return Object.entries(wanted)
    .filter(([name, kind]) => found[name] === undefined || (kind === 'bigint' && found[name] !== kind))
    .map(([name, kind]) => {
      return `the column ${name} of ${table} is ${found[name] ?? 'missing'}: ALTER TABLE, so that it is ${kind}`
    })
}

/** What the promise gives, or an error after so many milliseconds. */
async function within(ms, who, promise) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${who} did not answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

module.exports = { folder, idsOf, listed, quoted, settingsOf, within, wrongColumns }
