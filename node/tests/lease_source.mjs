// A lease source as a database would be one, in memory; it remembers every span it gave.

import assert from 'node:assert/strict'
import { decode } from 'leafid'

export const sleep = ms => new Promise(done => setTimeout(done, ms))

/** Keeps the event loop from turning. */
export const block = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

/** How long spans last that are to be lost; others outlive any slow machine. */
export const SPAN = 6000

export class LeaseSource {
  #rows
  #tokens = 0
  /** Every span given: `{ workerId, fromMs, untilMs }`. */
  spans = []
  /** The calls made: `['claim', request]`, `['renew', lease, untilMs]`, `['release', lease, untilMs]`. */
  calls = []

  /** `ids`: the worker ids it gives; `spanMs`: how long each time; `once`: each only once, so that a loss shows. */
  constructor({ ids = [3, 4, 5, 6], once = false, spanMs = once ? SPAN : 3_600_000 } = {}) {
    this.once = once
    this.#rows = new Map(ids.map(id => [id, { untilMs: 0, token: null }]))
    this.spanMs = spanMs
  }

  claim(request) {
    this.calls.push(['claim', request])
    const now = Date.now()
    for (const [workerId, row] of this.#rows) {
      if (row.token === null || (row.untilMs <= now && !this.once)) {
        const fromMs = Math.max(now, row.untilMs)
        Object.assign(row, { untilMs: fromMs + this.spanMs, token: `t${++this.#tokens}` })
        this.spans.push({ workerId, fromMs, untilMs: row.untilMs })
        return { workerId, fromMs, untilMs: row.untilMs, leaseMs: this.spanMs, token: row.token }
      }
    }
    return null
  }

  renew(lease, untilMs) {
    this.calls.push(['renew', lease, untilMs])
    const row = this.#rows.get(lease.workerId)
    if (row.token !== lease.token || row.untilMs <= Date.now()) return null
    Object.assign(row, { untilMs: Math.max(row.untilMs, Date.now() + this.spanMs), token: `t${++this.#tokens}` })
    this.spans.push({ workerId: lease.workerId, fromMs: lease.untilMs, untilMs: row.untilMs })
    return { untilMs: row.untilMs, token: row.token }
  }

  release(lease, untilMs) {
    this.calls.push(['release', lease, untilMs])
    const row = this.#rows.get(lease.workerId)
    if (row.token !== lease.token) return
    const span = this.spans.findLast(span => span.workerId === lease.workerId)
    Object.assign(row, { untilMs: Math.min(row.untilMs, untilMs), token: null })
    span.untilMs = row.untilMs
  }

  /** The arguments of the calls of this kind. */
  called(kind) {
    return this.calls.filter(call => call[0] === kind).map(call => call.slice(1))
  }

  /** Fails unless each id lies in a span that was given, and all are different. */
  assertGave(ids) {
    for (const id of ids) {
      const { timestampMs, workerId } = decode(id)
      const within = span => span.workerId === workerId && span.fromMs <= timestampMs && timestampMs < span.untilMs
      assert.ok(this.spans.some(within), `${id} of ${workerId} at ${timestampMs} is in no span given`)
    }
    assert.equal(new Set(ids).size, ids.length, 'repeated ids')
  }
}

/**
 * Asks for ids for `ms`, from the event loop: the ids, and the errors by code. `enough`, once it says so, ends it before.
 */
export async function run(flake, ms, enough = () => false) {
  const ids = []
  const codes = new Map()
  const end = Date.now() + ms
  do {
    try {
      ids.push(flake.next(), ...flake.take(3))
    } catch (error) {
      codes.set(error.code, error)
    }
    await sleep(3)
  } while (Date.now() < end && !(await enough(ids, codes)))
  return { ids, codes }
}
