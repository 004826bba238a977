// The options of segments: their types are checked here, their values by the module.

import { wasm } from './module.js'
import { headers, integer, isRecord, isText, json, record, text, truth } from './options.js'

const FROM = 'a URL or an array of them, or options with fetch'
const FETCH = 'a function (tag, step) that answers { start, end } or a promise of it'
const PREWARM = 'an array of at most 1000 tags, or "last-day" for those of the last day'

const refused = why => (value, name) => wasm().refuse(name, value, `nothing in leafid/wasm: ${why}`)
const only = (allowed, why) => (value, name) => (truth(value, name) === allowed ? value : refused(why)(value, name))

function prewarm(value, name) {
  if (value === 'last-day') return value
  return Array.isArray(value) && value.every(isText) ? [...value] : wasm().refuse(name, value, PREWARM)
}

const fetch = (value, name) => (typeof value === 'function' ? value : wasm().refuse(name, value, FETCH))

const shared = {
  step: integer,
  adaptive: truth,
  prefetch: integer,
  timeoutMs: integer,
  name: text,
  stateDir: text,
  persist: truth,
  prewarm,
  keepUnused: only(false, 'it cannot tell whether a store was copied, and the ids would be issued twice'),
  orderedSource: truth,
  blockSize: integer,
  sharedFs: only(false, 'it keeps no files'),
  sharedGroup: only(false, 'it keeps no files'),
  storage: value => value,
}
const ofServers = {
  ...shared,
  protocol: text,
  requestTimeoutMs: integer,
  connectTimeoutMs: integer,
  connections: integer,
  token: text,
  headers,
  caFile: refused('the platform chooses whom it trusts'),
  tags: refused('it has no source file:DIR'),
  create: refused('it has no source file:DIR'),
}
const ofFetch = { fetch, ...shared }

/** The arguments of a constructor, their types checked: `{ fetch, storage, stateDir }`, and all as JSON for the module. */
export function segmentsOptions(first, second) {
  const fetches = isRecord(first)
  if (fetches && second !== undefined) wasm().refuse('options', second, 'nothing after options with fetch')
  if (!fetches && (first === undefined || first === null)) wasm().refuse('servers', first, FROM)
  const given = fetches ? first : (second ?? {})
  if (!isRecord(given)) wasm().refuse('options', given, 'an object of options')
  const { storage, ...options } = record(given, fetches ? ofFetch : ofServers)
  const { fetch = null, stateDir } = options
  if (fetches && !fetch) wasm().refuse('fetch', fetch, FETCH)
  return { fetch, storage, stateDir, json: json(fetches ? options : { ...options, servers: serversOf(first) }) }
}

function serversOf(value) {
  const list = typeof value === 'string' ? [value] : value
  const fits = Array.isArray(list) && list.length > 0 && list.every(isText)
  if (!fits) wasm().refuse('servers', value, FROM)
  if (list.some(url => url.startsWith('file:'))) {
    wasm().refuse('servers', value, `${FROM}; file:DIR needs the native package`)
  }
  return [...list]
}
