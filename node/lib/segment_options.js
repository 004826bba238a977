'use strict'

// Checks the types of the options of segments for the addon.

const { refuse } = require('./errors.js')
const native = require('./native.js')
const { headers, integer, isRecord, isText, record, text, truth } = require('./options.js')

function servers(value) {
  const list = typeof value === 'string' ? [value] : value
  const fits = Array.isArray(list) && list.length > 0 && list.every(isText)
  return fits ? [...list] : refuse('servers', value, 'a URL or several, or file:DIR; or else { fetch }')
}

function start(value, name) {
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value
  return Number.isSafeInteger(value) ? BigInt(value) : refuse(name, value)
}

const fileTag = { start, step: integer }

function tags(value, name) {
  if (!isRecord(value)) refuse(name, value, 'an object of { start, step } by tag')
  return Object.entries(value).map(([name, tag]) => {
    if (!isRecord(tag)) refuse('tags', value, 'an object of { start, step } by tag')
    return { name, ...record(tag, fileTag) }
  })
}

const PREWARM = `an array of at most ${native.limits().mostPrewarmed} tags, or "last-day" for those of the last day`

function prewarm(value, name) {
  if (value === 'last-day') return value
  const fits = Array.isArray(value) && value.every(tag => typeof tag === 'string')
  return fits ? [...value] : refuse(name, value, PREWARM)
}

function fetch(value, name) {
  return typeof value === 'function' ? value : refuse(name, value, 'a function (tag, step) that answers { start, end } or a promise of it')
}

const shared = {
  step: integer,
  adaptive: truth,
  prefetch: integer,
  timeoutMs: integer,
  name: text,
  stateDir: text,
  persist: truth,
  prewarm,
  keepUnused: truth,
  orderedSource: truth,
  blockSize: integer,
}
const ofServers = {
  ...shared,
  protocol: text,
  requestTimeoutMs: integer,
  connectTimeoutMs: integer,
  connections: integer,
  token: text,
  headers,
  caFile: text,
  sharedFs: truth,
  sharedGroup: truth,
  tags,
  create: truth,
}
const ofFetch = { fetch, ...shared, sharedFs: truth, sharedGroup: truth }

const FROM = 'a URL or an array of them, "file:DIR", or options with fetch'

/** `{ fetch, options }` of the arguments of a constructor; `fetch` is null without one. */
function segmentsOptions(first, second) {
  const fetches = isRecord(first)
  if (fetches && second !== undefined) refuse('options', second, 'nothing after options with fetch')
  if (!fetches && (first === undefined || first === null)) refuse('servers', first, FROM)
  const given = fetches ? first : (second ?? {})
  if (!isRecord(given)) refuse('options', given, 'an object of options')
  const readers = fetches ? ofFetch : ofServers
  const { fetch: fetcher, prewarm: warmed, ...options } = record(given, readers)
  if (fetches && !fetcher) refuse('fetch', fetcher, 'a function (tag, step) that answers { start, end } or a promise of it')
  if (!fetches) options.servers = servers(first)
  if (warmed === 'last-day') options.prewarmLastDay = true
  else if (warmed) options.prewarm = warmed
  return { fetch: fetcher ?? null, options }
}

module.exports = { segmentsOptions }
