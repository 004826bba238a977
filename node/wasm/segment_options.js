// The checked options of segments.

import { wasm } from './module.js'
import { headers, integer, isRecord, isText, record, text, truth } from './options.js'
import { checkedHeaders, checkedUrls } from './servers.js'

/** The number of each source in the module, and its name. */
const CALLBACK = 0
const SOURCES = ['callback', 'leaf', 'leaf-snowflake', 'range', 'tinyid']
const STEP = 1000
const MOST_PREWARMED = 1000

const FROM = 'a URL or an array of them, or options with fetch'
const FETCH = 'a function (tag, step) that answers { start, end } or a promise of it'
const PREWARM = `an array of at most ${MOST_PREWARMED} tags, or "last-day" for those of the last day`

const refused = why => (value, name) => wasm().refuse(name, value, `nothing in leafid/wasm: ${why}`)
const only = (allowed, why) => (value, name) => (truth(value, name) === allowed ? value : refused(why)(value, name))

function prewarm(value, name) {
  if (value === 'last-day') return value
  if (!Array.isArray(value) || !value.every(isText) || value.length > MOST_PREWARMED) {
    wasm().refuse(name, value, PREWARM)
  }
  return [...value]
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

/** The arguments of a constructor, their types checked: `{ fetch, servers, options }`, `fetch` or `servers` null. */
export function segmentsOptions(first, second) {
  const fetches = isRecord(first)
  if (fetches && second !== undefined) wasm().refuse('options', second, 'nothing after options with fetch')
  if (!fetches && (first === undefined || first === null)) wasm().refuse('servers', first, FROM)
  const given = fetches ? first : (second ?? {})
  if (!isRecord(given)) wasm().refuse('options', given, 'an object of options')
  const { fetch = null, ...options } = record(given, fetches ? ofFetch : ofServers)
  if (fetches && !fetch) wasm().refuse('fetch', fetch, FETCH)
  return { fetch, servers: fetches ? null : serversOf(first), options }
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

function sourceOf({ fetch, options: { protocol = 'leaf' } }) {
  if (fetch) return CALLBACK
  const number = SOURCES.indexOf(protocol)
  const names = SOURCES.slice(1).map(name => `"${name}"`)
  return number > CALLBACK ? number : wasm().refuse('protocol', protocol, names.join(', '))
}

/** The settings of checked types. */
export function settingsOf(given) {
  const module = wasm()
  const { fetch, servers, options } = given
  const { name = 'default', adaptive = true, persist = true, orderedSource } = options
  const source = sourceOf(given)
  const { step, prefetch, timeoutMs, requestTimeoutMs, connectTimeoutMs, connections, blockSize } = options
  const numbers = [step, prefetch, timeoutMs, requestTimeoutMs, connectTimeoutMs, connections, blockSize]
  const ordered = orderedSource === undefined ? -1 : Number(orderedSource)
  const order = module.call('segments_check', source, name, ...numbers, ordered)
  const [asked, percent, timeout, requestTimeout, connectTimeout, most, size] = module.numbers(7)
  const isOneByOne = source === 1 || source === 2
  const settings = {
    name,
    persist,
    stateDir: options.stateDir,
    storage: options.storage,
    source,
    sourceName: SOURCES[source],
    order,
    step: Number.isNaN(asked) ? undefined : asked,
    firstStep: Number.isNaN(asked) ? (fetch ? STEP : 0) : asked,
    adaptive,
    prefetch: percent,
    timeoutMs: timeout,
    stock: isOneByOne ? { most: Number.isNaN(asked) ? STEP : asked, adaptive } : null,
    blockSize: isOneByOne ? size : blockSize,
    prewarm: options.prewarm ?? [],
    fetch,
  }
  if (settings.prewarm !== 'last-day') settings.prewarm.forEach(tag => checkTag(settings, tag))
  if (fetch) return settings
  const token = options.token
  const isTinyid = source === 4
  return {
    ...settings,
    urls: checkedUrls(servers, 'servers'),
    headers: checkedHeaders(options.headers, isTinyid ? undefined : token),
    token,
    requestTimeoutMs: requestTimeout,
    connectTimeoutMs: connectTimeout,
    connections: most,
    option: 0,
  }
}

/** Throws for a name that this source does not accept as a tag. */
export function checkTag({ source, blockSize }, tag) {
  wasm().call('tag_check', tag)
  wasm().call(source === 1 || source === 2 ? 'leaf_check_tag' : 'tag_of_ids_check', blockSize, tag)
}
