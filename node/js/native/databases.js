'use strict'

// What leafid/sources and leafid/leases share.

const { randomBytes } = require('node:crypto')
const { URL } = require('node:url')

const { isText } = require('./readers.js')
const { refuse, refuseText } = require('./refuse.js')

/** How far the end of a span may be ahead of the database's clock: 30 s, and 10 s that a client's clock may be fast. */
const AHEAD_MS = 40_000
const ENCODED = '|%(?!00)[0-9A-Fa-f]{2})*'
const USER = String.raw`(?:[^\]\s/?#@%\\[<>^|]` + ENCODED
const HOST = String.raw`(?:\[[0-9A-Fa-f:.]*\]|[^\]\s/?#@:,\\[<>^|]*)(?::[0-9]+)?`
const REST = String.raw`(?:[/?](?:[^\s#@%]` + ENCODED + ')?'

/**
 * The URL, if it is whole: its user and password are percent-encoded, and none of the texts `without` is in it.
 *
 * Drivers take a part of another one for a host or a port, and name it in their errors, or name all of it: it may be of
 * the password.
 */
function wholeUrl(url, schemes, allowed, without) {
  const form = new RegExp(`^(?:${schemes})://(?:${USER}@)?${HOST}${REST}$`)
  const isWhole = isText(url) && form.test(url) && !without.some(text => url.includes(text))
  // A socket of PostgreSQL has no host.
  return isWhole && URL.canParse(url.replace('@/', '@host/')) ? url : refuse('url', url, allowed)
}

/** Hosts with their ports, and a path: what a driver takes apart likewise. */
function hostList(hosts, allowed) {
  const form = new RegExp(`^${HOST}(?:, *${HOST})*(?:/[^\\s?#@]*)?$`)
  return isText(hosts) && form.test(hosts) ? hosts : refuse('hosts', hosts, allowed)
}

/** A table's name as statements have it. */
function quoted(table, quote = '"') {
  if (!isText(table) || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(table)) {
    refuse('table', table, 'a letter or _, then letters, digits and _')
  }
  return quote + table + quote
}

/** A prefix of keys that ends with a slash: without one it would be that of other keys, too. */
function folder(prefix) {
  if (isText(prefix) && prefix.endsWith('/')) return prefix
  return refuse('prefix', prefix, 'what ends with a slash, as /leafid/worker/')
}

/** Tags. A text would be one of its letters each. */
function listed(tags = []) {
  return Array.isArray(tags) && tags.every(isText) ? tags : refuse('tags', tags, 'an array of tags, each a text')
}

/** Worker ids: so many from 0, or those of a range. */
function idsOf(workers = 1024) {
  const { first, last } = typeof workers === 'number' ? { first: 0, last: workers - 1 } : Object(workers)
  if (![first, last].every(Number.isSafeInteger) || first < 0 || last < first - 1) {
    refuse('workers', workers, 'how many worker ids there are, as 1024, or which, as { first: 512, last: 1023 }')
  }
  return Array.from({ length: last - first + 1 }, (_, at) => first + at)
}

/** What a lease has from a renewal on: of two copies of its holder one has it, and the other one cannot renew. */
const newToken = () => randomBytes(16).toString('hex')

/**
 * The settings of a driver, from a URL or as they are. A pool is refused: a transaction that was left open on one of its
 * connections could take a range back, and requests that wait for an id could hold all of them.
 */
function settingsOf(given, urlName, ...url) {
  const settings = isText(given) ? { [urlName]: given } : given
  if (typeof settings !== 'object' || settings === null || typeof settings.query === 'function') {
    refuseText('database', 'a pool, a client or nothing', 'a URL or settings, each call has a connection of its own')
  }
  if (settings[urlName]) wholeUrl(settings[urlName], ...url)
  return settings
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

module.exports = {
  AHEAD_MS,
  folder,
  hostList,
  idsOf,
  listed,
  newToken,
  quoted,
  settingsOf,
  wholeUrl,
  within,
  wrongColumns,
}
