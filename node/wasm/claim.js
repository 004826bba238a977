// The claim of a worker id: its lock, its record, and its first span, durable.

import { filteredMs, markUsed } from './clock.js'
import { fault, numberOf } from './errors.js'
import { log } from './logger.js'
import { random64, wasm } from './module.js'
import { platform } from './platform.js'
import { RecordFile, owner } from './record.js'
import { sleep } from './time.js'
import { atOnce, inTime } from './user_calls.js'

/** The longest wait for the clock on a thread that has an event loop. */
export const MAX_WAIT_MS = 2
const SLICE_MS = 100

/** How the caller of a claim waits, and calls user callbacks: without the event loop, or by it. */
export const BLOCKING = { pause: ms => platform().block(ms), mayWait: false, ask: atOnce }
export const AWAITING = { pause: sleep, mayWait: true, ask: inTime }

/**
 * Claims a free worker id of the settings, or the one of a grant.
 *
 * @param {{ workerId: number, lease: number } | null} granted see acquire.js
 */
export function* claim(settings, waits, granted = null, floor = 0) {
  const module = wasm()
  const { name, workers, timeoutMs, noRecordWaitMs, lazy } = settings
  const first = granted ? granted.workerId : workers.first
  const last = granted ? granted.workerId : workers.last
  const cannotWait = lazy && !waits.mayWait
  const given = [name, first, last, timeoutMs, cannotWait, noRecordWaitMs]
  const search = module.call('search_new', ...given, platform().bootMs())
  try {
    for (;;) {
      const action = module.call('search_poll', search, platform().bootMs())
      if (action === 2) {
        log('warn', module.text())
        continue
      }
      const number = module.number()
      if (action === 3) {
        yield waits.pause(number)
        continue
      }
      try {
        if (action === 0) return yield* claimOne(settings, number, waits, granted, floor)
        const found = yield* peek(settings, number)
        module.call('search_peeked', search, found, filteredMs())
        module.free(found)
      } catch (error) {
        module.call('search_refused', search, numberOf(error), error.message)
      }
    }
  } finally {
    module.free(search)
  }
}

const peek = (settings, workerId) => (settings.persist ? RecordFile.peek(settings, workerId) : nothing())

// eslint-disable-next-line require-yield
function* nothing() {
  return 0
}

function* claimOne(settings, workerId, waits, granted, floor) {
  const { store } = settings
  const lock = yield store.lock(workerId)
  if (lock === null) throw inUse(settings, workerId)
  let file
  try {
    file = yield* RecordFile.open(settings, workerId, lock.file)
    const first = yield* begin(settings, file.record, waits, granted, floor)
    const record = wasm().call('record_begin', file.record, first.from, first.until, first.nowMs, ...owner())
    yield* file.write(record)
    markUsed()
    const message =
      `${store.place || 'no record is kept'}, worker id ${workerId} of "${settings.name}", ` +
      `layout ${settings.layoutText}`
    log('info', message)
    return { lock, file, workerId, granted, seed: random64(), ...first }
  } catch (error) {
    file?.close()
    lock.release()
    throw error
  }
}

/** The first span, from the record, the lease and the clock. */
function* begin({ layout, rules, after, noRecordWaitMs, forgets }, record, waits, granted, floor) {
  const module = wasm()
  for (;;) {
    const now = filteredMs()
    let [leaseFrom, leaseUntil] = [NaN, NaN]
    if (granted?.lease) {
      module.call('lease_span', granted.lease, layout, rules, now)
      ;[leaseFrom, leaseUntil] = module.numbers(2)
    }
    const given = [leaseFrom, leaseUntil, floor, after, noRecordWaitMs, forgets, now]
    if (module.call('start_poll', record, rules, ...given) === 0) {
      const [from, until, beginsMs] = module.numbers(3)
      return { from, until, beginsMs, leaseUntil, nowMs: now }
    }
    const left = Math.max(0, module.number() - filteredMs())
    if (!waits.mayWait && left > MAX_WAIT_MS) throw waitsTooLong(left)
    yield waits.pause(Math.min(Math.max(left, 1), SLICE_MS))
  }
}

export function waitsTooLong(left) {
  const message = `the next id is available in ${Math.ceil(left)} ms, longer than this thread may wait; call again then`
  return fault('would_block', message)
}

function inUse({ name, store, workers }, workerId) {
  const record = store.place ? ` (${store.path(workerId)})` : ''
  const advice = workers.source?.urls
    ? 'its lease has ended, as the server says: end that one, or let it continue'
    : 'close that one, give this one the same options, or use a range such as 0-31, which has an id for each'
  const message = `worker id ${workerId} of "${name}"${record} is held by ${store.others}; ${advice}`
  return fault('worker_in_use', message)
}
