// The checked options of a snowflake.

import { wasm } from './module.js'
import { existing, headers, integer, isRecord, isText, layoutOf, milliseconds, record, resolved, text, truth } from './options.js'
import { platform } from './platform.js'
import { nowMs } from './time.js'

const rangeEnds = { first: value => value, last: value => value }
const SOURCE = 'in leafid/wasm a worker id, a range, or URLs of lease servers; callbacks need the native package'

/** As text, or an array of URLs. */
function worker(value, name) {
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return [...value]
  if (typeof value === 'function' || (isRecord(value) && 'claim' in value)) return wasm().refuse(name, value, SOURCE)
  if (!isRecord(value)) return String(integer(value, name))
  const { first, last } = record(value, rangeEnds, () => wasm().refuse(name, value))
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) wasm().refuse(name, value)
  return `${first}-${last}`
}

const refused = why => (value, name) => wasm().refuse(name, value, `nothing in leafid/wasm: ${why}`)

/** A text that is not empty: that would be the default. */
const choice = (value, name) => text(value, name) || wasm().refuse(name, value)

const NO_COARSE = '"system" in leafid/wasm; "coarse" needs the native package'

const options = {
  worker,
  name: text,
  stateDir: text,
  layout: value => value,
  epochMs: integer,
  onClockBackwards: choice,
  maxBackwardsMs: integer,
  onExhausted: choice,
  randomStart: integer,
  timeoutMs: milliseconds,
  persist: truth,
  sharedFs: truth,
  sharedGroup: (value, name) => (truth(value, name) ? refused('it does not set the modes of files')(value, name) : value),
  exclusiveRange: truth,
  noRecordWaitMs: integer,
  lazy: truth,
  clockSource: (value, name) => (value === 'system' ? value : wasm().refuse(name, value, value === 'coarse' ? NO_COARSE : '')),
  startAfter: existing,
  peerTimes: refused('lease servers tell the clocks of peers'),
  token: text,
  headers,
  caFile: refused('the platform chooses whom it trusts'),
  requestTimeoutMs: milliseconds,
  connectTimeoutMs: refused('fetch does not say when it is connected; see requestTimeoutMs'),
  storage: value => value,
}

/** No span ends further ahead of the clock than this and a tick, where none may run ahead of it. */
const LONGEST_SPAN_MS = 3000
const OF_SERVERS = ['token', 'headers', 'requestTimeoutMs']

/** The options with their types checked. */
export function snowflakeOptions(given) {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) wasm().refuse('options', given, `an object with any of ${Object.keys(options).join(', ')}`)
  return record(given, options)
}

const urlsOf = worker => (Array.isArray(worker) ? worker : /^\s*https?:\/\//i.test(worker) ? worker.split(',').map(url => url.trim()) : null)

function checkedUrl(url) {
  const wrong = allowed => wasm().refuse('worker', url, allowed)
  if (!URL.canParse(url)) wrong('URLs of lease servers, such as https://ids-1:8443')
  const { protocol, search, hash, username, password } = new URL(url)
  if (!/^https?:$/.test(protocol) || search || hash) wrong('URLs with http or https, and without a query')
  if (username || password) wrong('URLs without a user; use the option token')
  return url.replace(/\/+$/, '')
}

function layoutWith(given, epochMs) {
  const layout = layoutOf(given)
  if (epochMs === undefined) return layout
  const { fields } = resolved(layout)
  wasm().free(layout)
  return layoutOf({ ...fields, epochMs })
}

/** An epoch of the user's is not ahead of the clock. */
function checkEpoch({ layout: given, epochMs }, layout) {
  const { fields } = resolved(layout)
  const now = nowMs()
  if ((epochMs !== undefined || isRecord(given)) && fields.epochMs > now) {
    wasm().refuse('epochMs', fields.epochMs, `Unix milliseconds from 0 to 2^53, not ahead of the clock, which reads ${now}`)
  }
}

function workersOf(worker, layout) {
  const module = wasm()
  if (worker === undefined) module.refuseText('worker', 'not set, nor is LEAFID_WORKER')
  const urls = urlsOf(worker)
  if (urls) return { urls: urls.map(checkedUrl) }
  module.call('worker_range', layout, worker, platform().host)
  const [first, last] = module.numbers(2)
  return { first, last }
}

const flag = (given, name) => given ?? ['1', 'true'].includes(platform().variable(name))

/**
 * The settings of checked options. Handles in it live as long as the generator: `freeSettings`. `opens`: whether the store
 * is needed, whose directory is then made.
 */
export function settingsOf(given, opens = true) {
  const module = wasm()
  const name = given.name ?? 'default'
  module.call('space_check', name)
  const layout = layoutWith(given.layout, given.epochMs)
  checkEpoch(given, layout)
  const { fields, text: layoutText, mostWorker, expiresAtMs } = resolved(layout)
  const workers = workersOf(given.worker ?? platform().variable('LEAFID_WORKER'), layout)
  for (const option of OF_SERVERS) {
    if (!workers.urls && given[option] !== undefined) module.refuse(option, given[option], 'only with the URL of a lease server as worker')
  }
  const { onClockBackwards = '', onExhausted = '', maxBackwardsMs, randomStart } = given
  const rules = module.call('rules_new', onClockBackwards, onExhausted, maxBackwardsMs, randomStart)
  const persist = given.persist ?? true
  const isRange = !workers.urls && workers.first !== workers.last
  if (!persist && isRange) module.refuse('persist', false, 'true with a range of worker ids: without records two processes would take the same one')
  if (!persist && onExhausted === 'borrow' && !workers.urls) module.refuse('onExhausted', 'borrow', '"wait" with persist: false, which never runs ahead of the clock')
  const after = given.startAfter === undefined ? 0 : module.call('start_after', layout, given.startAfter)
  const settings = {
    name,
    layout,
    layoutText,
    layoutFields: fields,
    mostWorker,
    expiresAtMs,
    workers,
    isRange,
    persist,
    after,
    noRecordWaitMs: workers.urls ? leasedWait(given) : (given.noRecordWaitMs ?? 0),
    timeoutMs: given.timeoutMs ?? 2000,
    requestTimeoutMs: given.requestTimeoutMs ?? 1000,
    token: given.token,
    headers: given.headers,
    stateDir: given.stateDir,
    sharedFs: given.sharedFs ?? false,
    storage: given.storage,
    exclusiveRange: flag(given.exclusiveRange, 'LEAFID_EXCLUSIVE_RANGE'),
    lazy: given.lazy ?? false,
  }
  settings.rules = rules
  settings.borrows = onExhausted === 'borrow'
  if (!opens) return settings
  settings.store = platform().store(settings)
  if (!workers.urls && settings.store.mayVanish) settings.noRecordWaitMs = Math.max(settings.noRecordWaitMs, LONGEST_SPAN_MS + fields.tickMs)
  // Spans of leases are stored by the server: no start repeats them.
  settings.forgets = !workers.urls && (!persist || settings.store.forgets)
  if (settings.forgets) {
    settings.rules = module.call('rules_never_ahead', rules)
    settings.borrows = false
    module.free(rules)
  }
  const { store } = settings
  settings.key = JSON.stringify([
    name, layoutText, fields, workers, persist, after, store.key,
    onClockBackwards, onExhausted, maxBackwardsMs, randomStart,
  ])
  return settings
}

function leasedWait({ noRecordWaitMs = 0 }) {
  return noRecordWaitMs === 0 ? 0 : wasm().refuse('noRecordWaitMs', noRecordWaitMs, '0 with leases, which give no span twice')
}

export function freeSettings({ layout, rules }) {
  wasm().free(layout, rules)
}
