// A source of segments as a database would be one, in memory; it remembers what it was asked.

import { randomBytes } from 'node:crypto'
import { HANG, PATIENT, wasm } from './support.mjs'

export { HANG, wasm }

export const sleep = ms => new Promise(done => setTimeout(done, ms))

/** Segments that keep nothing on the disk, of an id space of their own. */
export const alone = () => ({ persist: false, name: `node-${randomBytes(6).toString('hex')}`, timeoutMs: PATIENT })

export class Counter {
  /** The calls: `{ tag, step }`. */
  asked = []
  /** How many are under way, and the most there were at once for one tag. */
  most = 0
  #underWay = new Map()

  /** `start`: the first id of each tag; `ms`: how long an answer takes. */
  constructor({ start = 1, ms = 0 } = {}) {
    this.start = start
    this.ms = ms
    this.next = new Map()
  }

  fetch = async (tag, step) => {
    this.asked.push({ tag, step })
    const now = (this.#underWay.get(tag) ?? 0) + 1
    this.#underWay.set(tag, now)
    this.most = Math.max(this.most, now)
    if (this.ms > 0) await sleep(this.ms)
    const start = this.next.get(tag) ?? this.start
    this.next.set(tag, start + step)
    this.#underWay.set(tag, now - 1)
    return { start, end: start + step }
  }

  get steps() {
    return this.asked.map(({ step }) => step)
  }
}

/** Waits until it is so. */
export async function until(what, call) {
  for (const end = Date.now() + HANG; ; await sleep(2)) {
    const value = await call()
    if (value) return value
    if (Date.now() > end) throw new Error(`${what} did not come about`)
  }
}

/** The ids from `first` to `last`, both included. */
export const between = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => BigInt(first + i))
