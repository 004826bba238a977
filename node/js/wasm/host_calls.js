// The calls of the module's machines: how each kind is carried out here. docs/WASM-ABI.md has the kinds.
//
// A host of calls has
//   store          where files are, and what locks: platform.js
//   users          the user's `peerTimes()`, `claim(request)`, `renew(lease, untilMs)` and `release(lease, untilMs)`;
//                  `take` reads their answers: user_answers.js
//   lock           the lock that is held, or null
//   stops          by the handle of a request, what ends it when no caller waits for it. Without it the request goes
//                  on: a lease that comes late is given back
//   thrown         what user code threw last: `{ error }`, or null

import { filteredMs } from './clock.js'
import { LeafidError, fault } from './errors.js'
import { sendRequest } from './http_request.js'
import { warn } from './logger.js'
import { numberOf, random64, wasm } from './module.js'
import { outside } from './outside.js'
import { isThenable, textOf } from './user_calls.js'

const [MAKE, , READ, WRITE] = [0, 1, 2, 3]
const [FULL, OTHER] = [2, 3]
const [UNANSWERED, LATE] = [3, 4]

/** It ended: 0 it was done, 1 no. */
const ended = (call, how = 0) => wasm().call('call_end', call, how, 0, '')

/** It ended with an error: leafid's keep their code, others their text. */
function failed(call, error) {
  const number = error instanceof LeafidError ? numberOf(error) : 0
  wasm().call('call_end', call, 2, number, number ? error.message : textOf(error))
}

/** An operation on a file failed. */
function failedAt(call, action, path, error) {
  if (error instanceof LeafidError) return failed(call, error)
  const isFull = error?.name === 'QuotaExceededError' || error?.code === 'ENOSPC' || error?.code === 'EDQUOT'
  wasm().call('call_failed', call, action, isFull ? FULL : OTHER, path, textOf(error), '')
}

/** Passes what `begin` brings, at once or by a promise, to `take`, and what goes wrong to `fail`. */
function after(begin, take, fail) {
  const taken = value => {
    try {
      take(value)
    } catch (error) {
      fail(error)
    }
  }
  let value, isLater
  try {
    value = begin()
    isLater = isThenable(value)
  } catch (error) {
    return fail(error)
  }
  return isLater ? Promise.resolve(value).then(taken, fail) : taken(value)
}

/** Calls user code, and keeps what it throws. */
function user(call, host, ask, take) {
  host.thrown = null
  const thrown = error => {
    host.thrown = { error }
    failed(call, error)
  }
  const begin = () => outside(ask)
  const read = value => {
    try {
      take(value)
    } catch (error) {
      failed(call, error)
    }
  }
  return after(begin, read, thrown)
}

function leaseOf([workerId, fromMs, untilMs, leaseMs], [token, ...peerTimesMs]) {
  const lease = { workerId, fromMs, untilMs }
  if (!Number.isNaN(leaseMs)) lease.leaseMs = leaseMs
  if (token !== null) lease.token = token
  if (peerTimesMs.length > 0) lease.peerTimesMs = peerTimesMs.map(Number)
  return lease
}

/** Carries out the steps of a file that has these bytes, or `null`: the bytes that it is to have. */
export function changed(call, path, found) {
  const module = wasm()
  let bytes = found
  if (bytes === null) {
    module.call('call_initial', call)
    const initial = module.output()
    if (initial.length > 0) bytes = initial
  }
  const steps = first => [call, first, filteredMs(), random64(), random64(), path, bytes]
  for (let first = true; module.call('call_step', ...steps(first)) === 1; first = false) {
    const [at, piece] = [module.number(), module.output()]
    bytes = bytes.slice()
    bytes.set(piece, at)
  }
  return bytes === found ? null : bytes
}

function update(call, { store, lock }, [workerId], [file], action) {
  if (lock?.lost) {
    return failed(call, fault('worker_lost', `worker id ${workerId}: ${lock.lost}; close, then open again`))
  }
  const path = store.path(file)
  const begin = () => store.update(file, found => changed(call, path, found))
  return after(begin, () => ended(call), error => failedAt(call, action, path, error))
}

const KINDS = {
  /** The clocks of peers. */
  1: (call, host) => user(call, host, () => host.users.peerTimes(), value => host.users.take.times(call, value)),
  /** The claim of a worker id. */
  2: (call, host, [previous, nowMs, untilMs], [name, instance]) => {
    const request = { name, instance, previous: Number.isNaN(previous) ? null : previous, nowMs, untilMs }
    return user(call, host, () => host.users.claim(request), value => host.users.take.claim(call, value))
  },
  /** A longer lease. */
  3: (call, host, numbers, texts) => {
    const lease = leaseOf(numbers, texts)
    return user(call, host, () => host.users.renew(lease, numbers[4]), value => host.users.take.renew(call, value))
  },
  /** The end of a lease. */
  4: (call, host, numbers, texts) => {
    const lease = leaseOf(numbers, texts)
    return user(call, host, () => host.users.release(lease, numbers[4]), () => ended(call))
  },
  /** A request. */
  5: (call, host, [post, withinMs], [url, type, body, ...headers]) => {
    const stop = new AbortController()
    host.stops?.set(call, stop)
    const request = { method: post ? 'POST' : 'GET', url, type, body, headers }
    return sendRequest(call, request, withinMs, stop)
      .catch(error => {
        const why = stop.signal.aborted ? LATE : UNANSWERED
        wasm().call('call_end', call, why, 0, textOf(error?.cause?.message ? error.cause : error))
      })
      .finally(() => host.stops?.delete(call))
  },
  /** The lock of a worker id. */
  6: (call, host, [workerId], [name]) => {
    const take = lock => {
      host.lock = lock
      ended(call, lock === null ? 1 : 0)
    }
    return after(() => host.store.lock(name, workerId), take, error => failed(call, error))
  },
  /** Its end. */
  7: (call, host) => {
    host.lock?.release()
    host.lock = null
    ended(call)
  },
  /** The names of files. */
  8: (call, { store }, numbers, [prefix]) => {
    const take = files => {
      for (const [name, bytes] of files) wasm().call('call_found', call, filteredMs(), name, bytes)
      ended(call)
    }
    return after(() => store.list(prefix), take, error => failedAt(call, READ, store.path(prefix), error))
  },
  /** A file, without a lock. */
  9: (call, { store }, numbers, [file]) => {
    const path = store.path(file)
    const take = bytes => {
      changed(call, path, bytes)
      ended(call)
    }
    return after(() => store.read(file), take, error => failedAt(call, READ, path, error))
  },
  /** A file, which is made if it is missing. */
  10: (call, host, numbers, texts) => update(call, host, numbers, texts, MAKE),
  /** A change of a file. */
  11: (call, host, numbers, texts) => update(call, host, numbers, texts, WRITE),
  12: call => ended(call),
  /** The user's segments. */
  13: (call, { users }, [step], [given, tag]) => {
    const fail = error => {
      users.failed(tag, error)
      failed(call, error)
    }
    const take = value => {
      const found = users.read(tag, value)
      if (found === null) ended(call, 1)
      else wasm().call('call_fetched', call, found.start, found.end, found.stride)
    }
    return after(() => outside(() => users.ask(tag, step, BigInt(given))), take, fail)
  },
}

/** Code of leafid failed: the call ends all the same, because callers wait for it. */
function broken(call, error) {
  try {
    failed(call, fault('internal', `${textOf(error)}; report this`))
  } catch {
    // It had ended before, or the module did.
    warn(error)
  }
}

/** Carries out a call. Returns nothing once it has ended, or a promise of its end, which is never rejected; and its kind. */
export function carryOut(call, host) {
  const module = wasm()
  const kind = module.call('call_request', call, random64(), random64())
  const [numbers, texts] = [module.numbers(5), module.list()]
  try {
    return { kind, going: KINDS[kind](call, host, numbers, texts)?.catch(error => broken(call, error)) }
  } catch (error) {
    broken(call, error)
    return { kind }
  }
}
