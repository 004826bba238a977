// The checked options of a snowflake.

import { filteredMs } from './clock.js'
import { leaseServers } from './lease_servers.js'
import { wasm } from './module.js'
import {
  existing, headers, integer, isRecord, layoutOf, milliseconds, peerTimes, record, resolved, text, truth, worker,
} from './options.js'
import { platform } from './platform.js'
import { checkedHeaders, checkedUrls } from './servers.js'
import { userSource } from './user_source.js'

const isSource = value => typeof value === 'function' || (isRecord(value) && 'claim' in value)

const refused = why => (value, name) => wasm().refuse(name, value, `nothing in leafid/wasm: ${why}`)

/** A text that is not empty: that would be the default. */
const choice = (value, name) => text(value, name) || wasm().refuse(name, value)

const NO_FILES = refused('it keeps no files')
const ofFiles = (value, name) => (truth(value, name) ? NO_FILES(value, name) : value)

const NO_COARSE = '"system" in leafid/wasm; "coarse" needs the native package'
const clockSource = (value, name) =>
  value === 'system' ? value : wasm().refuse(name, value, value === 'coarse' ? NO_COARSE : '')

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
  sharedFs: ofFiles,
  sharedGroup: ofFiles,
  exclusiveRange: truth,
  noRecordWaitMs: integer,
  lazy: truth,
  clockSource,
  startAfter: existing,
  peerTimes,
  token: text,
  headers,
  caFile: refused('the platform chooses whom it trusts'),
  requestTimeoutMs: milliseconds,
  connectTimeoutMs: milliseconds,
  storage: value => value,
}

const NO_HOST_NAMES =
  'a number, or a lease; hostname:NAME needs the native package: import leafid, without /wasm'

/** No span ends further ahead of the clock than this and a tick, where none may run ahead of it. */
const LONGEST_SPAN_MS = 3000
const NO_RECORD_WAIT = 'LEAFID_NO_RECORD_WAIT_MS'
const OF_SERVERS = ['token', 'headers', 'requestTimeoutMs', 'connectTimeoutMs']

/** The options with their types checked. */
export function snowflakeOptions(given) {
  if (given === undefined || given === null) return {}
  if (!isRecord(given)) wasm().refuse('options', given, 'an object of options: docs/OPTIONS.md')
  return record(given, options)
}

function urlsOf(worker) {
  if (Array.isArray(worker)) return worker
  return /^\s*https?:\/\//i.test(worker) ? worker.split(',').map(url => url.trim()) : null
}

function layoutWith(given, epochMs) {
  const layout = layoutOf(given)
  if (epochMs === undefined) return layout
  const { fields } = resolved(layout)
  wasm().free(layout)
  return layoutOf({ ...fields, epochMs })
}

/** The worker ids: `{ first, last }`, or `{ source }`, which is described in acquire.js. */
function workersOf(name, given, layout) {
  const module = wasm()
  const worker = given.worker ?? platform().variable('LEAFID_WORKER')
  const said = given.worker === undefined ? 'LEAFID_WORKER' : 'worker'
  if (worker === undefined) module.refuseText('worker', 'not set, nor is LEAFID_WORKER')
  if (isSource(worker)) return { source: userSource(worker) }
  const urls = urlsOf(worker)
  if (urls) {
    const { token, requestTimeoutMs = 1000, connectTimeoutMs = 300 } = given
    const checked = { checked: checkedUrls(urls, said), headers: checkedHeaders(given.headers, token) }
    return { source: leaseServers({ name, urls, ...checked, requestTimeoutMs, connectTimeoutMs }) }
  }
  const text = isRecord(worker) ? `${worker.first}-${worker.last}` : String(worker)
  if (text.startsWith('hostname:')) module.refuseText(said, `'${text}'`, NO_HOST_NAMES)
  module.call('worker_range', layout, said, text, '')
  const [first, last] = module.numbers(2)
  return { first, last }
}

/** The settings of checked options. Handles in it live as long as the generator: `freeSettings`. */
export function settingsOf(given) {
  const module = wasm()
  const name = given.name ?? 'default'
  module.call('space_check', name)
  const layout = layoutWith(given.layout, given.epochMs)
  module.call('clock_check', layout, filteredMs())
  const { fields, text: layoutText, mostWorker, expiresAtMs } = resolved(layout)
  const workers = workersOf(name, given, layout)
  const { source } = workers
  for (const option of OF_SERVERS) {
    if (source?.urls || given[option] === undefined) continue
    module.refuse(option, given[option], 'only with the URL of a lease server as worker')
  }
  const { onClockBackwards = '', onExhausted = '', maxBackwardsMs, randomStart } = given
  const rules = module.call('rules_new', onClockBackwards, onExhausted, maxBackwardsMs, randomStart)
  const persist = given.persist ?? true
  const isRange = !source && workers.first !== workers.last
  const leases = Boolean(source?.leases)
  if (!persist && onExhausted === 'borrow' && !leases) {
    module.refuseText('on_exhausted', '"borrow"', '"wait" with persist = false, which never runs ahead of the clock')
  }
  const after = given.startAfter === undefined ? 0 : module.call('start_after', layout, given.startAfter)
  const settings = {
    name,
    layout,
    layoutText,
    layoutFields: fields,
    mostWorker,
    expiresAtMs,
    workers,
    leases,
    /** Whether an opening cannot end without the event loop, and whether it calls user callbacks. */
    awaits: Boolean(source?.urls),
    asks: Boolean(source) || given.peerTimes !== undefined,
    peerTimes: given.peerTimes,
    isRange,
    persist,
    after,
    noRecordWaitMs: module.call('no_record_wait', given.noRecordWaitMs, platform().variable(NO_RECORD_WAIT) ?? null, leases),
    timeoutMs: given.timeoutMs ?? 2000,
    stateDir: given.stateDir,
    storage: given.storage,
    exclusiveRange: given.exclusiveRange ?? false,
    lazy: given.lazy ?? false,
  }
  settings.rules = rules
  settings.borrows = onExhausted === 'borrow'
  source?.use()
  settings.store = platform().store(settings)
  if (!leases && settings.store.mayVanish) {
    settings.noRecordWaitMs = Math.max(settings.noRecordWaitMs, LONGEST_SPAN_MS + fields.tickMs)
  }
  // Spans of leases are stored by their source: no start repeats them.
  settings.forgets = !leases && (!persist || settings.store.forgets)
  if (settings.forgets) {
    settings.rules = module.call('rules_never_ahead', rules)
    settings.borrows = false
    module.free(rules)
  }
  const { store } = settings
  settings.key = JSON.stringify([
    name, layoutText, fields, source?.key ?? workers, persist, after, store.key,
    onClockBackwards, onExhausted, maxBackwardsMs, randomStart,
  ])
  return settings
}

export function freeSettings({ layout, rules, workers }) {
  wasm().free(layout, rules)
  workers.source?.drop()
}
