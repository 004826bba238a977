// The high-water marks of a source's tags: what it gave before, to this page or process or to another one of the same
// store, is refused.
//
// A store of marks has
//   read(name)               the bytes of a mark, or null; a promise
//   update(name, change)     replaces them by what `change` returns for them, durably and with no other update between;
//                            a promise of nothing. It is rejected with what `change` throws, and changes nothing then
//   list(prefix)             `[name, bytes]` of all marks whose names begin so; a promise
//   path(name)               for messages
//   place                    where it is, for `stateDir`
//   key                      two stores with one key are one

import { LeafidError, fault } from './errors.js'
import { wasm } from './module.js'
import { nowMs } from './time.js'

export const [ASCENDING, RANGES, SPARSE] = [0, 1, 2]
const FILE_BYTES = 8192
const DAY_MS = 86_400_000
const MOST_RECENT = 1000
/** The most spans that memory holds of a tag: few where ids only ascend. */
const MOST_SPANS = [32, 1024, 1024]
const decoder = new TextDecoder()

/** The guards in memory, by source and tag, for the life of this page or process. */
const memory = new Map()

/** `state_io` for what a store throws. */
async function tried(doing, path, call) {
  try {
    return await call()
  } catch (error) {
    if (error instanceof LeafidError) throw error
    const full = error?.name === 'QuotaExceededError' || error?.code === 'ENOSPC' || error?.code === 'EDQUOT'
    const advice = full ? 'free some space there' : 'see that the place is there and can be written'
    throw fault('state_io', `cannot ${doing} ${path}: ${error?.message ?? error}; ${advice}`, error)
  }
}

/** Segments, three i64 each. */
function bytesOf(segments) {
  return new Uint8Array(BigInt64Array.from(segments.flat()).buffer)
}

/** The first `count` ids of an answer as segments. */
function segmentsOf(count) {
  const ids = wasm().ids(3 * count)
  return Array.from({ length: count }, (_, at) => [...ids.slice(3 * at, 3 * at + 3)])
}

export class Marks {
  #store
  #source
  #order
  #memory

  /** `store` is null if nothing is stored; `name` is the id space of the source. */
  constructor(store, name, source, order) {
    this.#store = store
    // A store already belongs to an id space.
    this.#source = store ? source : `${name} ${source}`
    this.#order = order
    this.#memory = `${store?.key ?? ''} ${name} ${source}`
  }

  /** Every id below it was given before. 0 for a new tag. */
  async after(tag) {
    if (!this.#store) return this.#after(tag)
    const name = this.#name(tag)
    const bytes = (await tried('read', this.#store.path(name), () => this.#store.read(name))) ?? new Uint8Array()
    return wasm().call('mark_after', this.#source, tag, this.#store.path(name), bytes)
  }

  /**
   * Checks segments that the source returned for `after`: `{ segments, refused }`, of those that were not given before.
   * They are stored durably, and none of their ids may be used before the promise is fulfilled. `refused` says why
   * others were left out.
   */
  async accept(tag, segments, after) {
    if (!this.#store) return this.#accept(tag, segments, after)
    const name = this.#name(tag)
    let stored
    await tried('write', this.#store.path(name), () => this.#store.update(name, bytes => {
      const module = wasm()
      const path = this.#store.path(name)
      const given = [this.#source, tag, path, bytes ?? new Uint8Array(), bytesOf(segments)]
      const count = module.call('mark_accept', ...given, this.#order, after, nowMs())
      stored = { segments: segmentsOf(count), refused: null }
      const number = module.number(2)
      const output = module.output()
      if (number) stored.refused = module.errorOf(number, decoder.decode(output.subarray(FILE_BYTES)))
      return output.slice(0, FILE_BYTES)
    }))
    // The store may have been cleared meanwhile.
    const known = this.#accept(tag, stored.segments, after)
    return { segments: known.segments, refused: stored.refused ?? known.refused }
  }

  #guard(tag) {
    if (!memory.has(this.#memory)) memory.set(this.#memory, new Map())
    const guards = memory.get(this.#memory)
    if (!guards.has(tag)) guards.set(tag, wasm().call('guard_new', this.#order, 0n, 0, MOST_SPANS[this.#order]))
    return guards.get(tag)
  }

  #after(tag) {
    return wasm().call('guard_mark', this.#guard(tag))
  }

  /** As `accept`, by what this page or process remembers. */
  #accept(tag, segments, after) {
    const guard = this.#guard(tag)
    const accepted = []
    let refused = null
    for (const segment of segments) {
      try {
        wasm().call('guard_offer', guard, ...segment, after)
        accepted.push(segment)
      } catch (error) {
        refused ??= error
      }
    }
    if (refused && accepted.length === 0) throw refused
    return { segments: accepted, refused }
  }

  /** The tags that were fetched within a day, at most 1,000, the latest first. */
  async recent() {
    if (!this.#store) return []
    const module = wasm()
    module.call('mark_name', this.#source, null)
    const found = []
    for (const [name, bytes] of await this.#store.list(module.text())) {
      try {
        const fetchedMs = module.call('mark_recent', this.#store.path(name), bytes)
        const tag = module.text()
        // A mark contains only the beginning of a long name.
        if (Math.abs(nowMs() - fetchedMs) <= DAY_MS && this.#name(tag) === name) found.push([fetchedMs, tag])
      } catch {
        // A damaged one is reported when its tag is used.
      }
    }
    found.sort(([one, a], [other, b]) => other - one || (a < b ? -1 : 1))
    return found.slice(0, MOST_RECENT).map(([, tag]) => tag)
  }

  #name(tag) {
    const module = wasm()
    module.call('mark_name', this.#source, tag)
    return module.text()
  }
}
