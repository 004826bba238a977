// The sources of segments: the user callback, and servers in each protocol.
//
// A source has
//   ask(request)       `{ tag, step, after, urgent }`, tag as a TagState; a promise of `{ segments, step? }`, or of
//                      null for an unknown tag. An error has `requests`, how many failed, if that was not one
//   silentFor(tag)     how long a request for it has had no response, milliseconds; null while none runs
//   servers            the ServerPool, or null
//   close()

import { numberOf } from './errors.js'
import { wasm } from './module.js'
import { platform } from './platform.js'
import { ServerPool } from './servers.js'
import { clearTimeout, elapsed } from './time.js'
import { askUser } from './user_fetch.js'

const silence = ({ askedAt }) => (askedAt === null ? null : elapsed() - askedAt)

/** Segments from the user callback. */
export class CallbackSource {
  servers = null
  #fetch

  constructor(fetch) {
    this.#fetch = fetch
  }

  async ask({ tag, step, after }) {
    const segment = await askUser(this.#fetch, tag.name, step, after)
    return segment && { segments: [segment] }
  }

  silentFor = silence

  close() {}
}

/** The segment that the module has judged to be an answer, and the source's own step. */
function answer() {
  const module = wasm()
  const step = module.number()
  return { segments: [[...module.ids(3)]], step: Number.isNaN(step) ? undefined : step }
}

/** Segments from servers of ranges. */
export class RangeSource {
  #isOrdered

  constructor(settings) {
    this.servers = new ServerPool(settings)
    this.#isOrdered = settings.order === 0
  }

  ask({ tag: { name }, step, after }) {
    const module = wasm()
    const given = [name, step, after, this.#isOrdered]
    // A caller may start to wait during the request.
    return this.servers.ask(name, true, {
      make: (high, low) => module.call('range_request', ...given, high, low),
      judge: (response, high, low) => module.call('range_judge', response, ...given, high, low),
      read: answer,
      isSelfEvident: true,
    })
  }

  silentFor = silence

  close() {
    this.servers.close()
  }
}

/** What a judgement says of a response without ids: another call returns the reason. */
const EMPTY = 2

/** Segments from a tinyid. */
export class TinyidSource {
  #token

  constructor({ token = '', ...settings }) {
    this.servers = new ServerPool(settings)
    this.#token = token
  }

  async ask({ tag: { name } }) {
    const module = wasm()
    let isEmpty = false
    const make = reason => (high, low) => module.call('tinyid_request', name, this.#token, reason, high, low)
    const judge = response => {
      const judgement = module.call('tinyid_judge', response, name)
      isEmpty = judgement === EMPTY
      return judgement
    }
    try {
      return await this.servers.ask(name, true, { make: make(false), judge, read: answer, isSelfEvident: false })
    } catch (error) {
      if (!isEmpty) throw error
      const judge = response => module.call('tinyid_judge_reason', response, name, numberOf(error), error.message)
      return this.servers.ask(name, true, { make: make(true), judge, read: answer, isSelfEvident: true })
    }
  }

  silentFor = silence

  close() {
    this.servers.close()
  }
}

/** Ids, or blocks of them, from a Leaf: each request gives one. */
export class LeafSource {
  #blockSize
  #ids
  /** The fetch of each tag, by its number: `{ tag, resolve, reject }`. */
  #fetches = new Map()
  #tags = new Map()
  #timers = new Set()

  constructor(settings) {
    this.servers = new ServerPool(settings)
    this.#blockSize = settings.blockSize
    this.#ids = wasm().call('single_new', settings.connections)
  }

  ask({ tag, step, urgent }) {
    return new Promise((resolve, reject) => {
      this.#fetches.set(tag.number, { resolve, reject })
      this.#tags.set(tag.number, tag)
      const short = Math.ceil(Math.max(step, 1) / Math.max(this.#blockSize, 1))
      wasm().call('single_fetch', this.#ids, tag.number, short, urgent, elapsed())
      this.#act(tag.number)
    })
  }

  /** Does what the last call of the module says. */
  #act(number) {
    const module = wasm()
    const [workers, wakeAt, end, count, requests] = module.numbers(5)
    const fetch = this.#fetches.get(number)
    if (end !== 0) this.#fetches.delete(number)
    if (end === 1) {
      const ids = module.ids(3 * count)
      fetch.resolve({ segments: Array.from({ length: count }, (_, at) => [...ids.slice(3 * at, 3 * at + 3)]) })
    } else if (end === 2) {
      fetch.reject(Object.assign(module.errorOf(count, module.text()), { requests }))
    }
    if (!Number.isNaN(wakeAt)) this.#wake(number, wakeAt)
    for (let at = 0; at < workers; at++) this.#work()
  }

  #wake(number, at) {
    const run = () => {
      this.#timers.delete(timer)
      wasm().call('single_timer', this.#ids, number, elapsed())
      this.#act(number)
    }
    const timer = platform().background(run, Math.max(at - elapsed(), 0))
    this.#timers.add(timer)
  }

  /** Sends one request after another while ids are wanted. */
  async #work() {
    const module = wasm()
    for (;;) {
      if (!this.#ids) return
      const number = module.call('single_begin', this.#ids, elapsed())
      if (number === 0) return
      let [segment, error] = [[0n, 0n, 0n], null]
      try {
        segment = await this.#get(this.#tags.get(number).name)
      } catch (failed) {
        error = failed
      }
      if (!this.#ids) return
      const why = error ? [numberOf(error), error.message] : [0, '']
      const continues = module.call('single_ended', this.#ids, number, ...segment, ...why, elapsed())
      this.#act(number)
      if (!continues) return
    }
  }

  async #get(name) {
    const module = wasm()
    const { segments } = await this.servers.ask(name, true, {
      make: (high, low) => module.call('leaf_request', this.#blockSize, name, high, low),
      judge: response => module.call('leaf_judge', response, this.#blockSize, name),
      read: answer,
      isSelfEvident: false,
    })
    return segments[0]
  }

  silentFor({ number }) {
    const since = wasm().maybe('single_silent_since', this.#ids, number)
    return since === null ? null : elapsed() - since
  }

  close() {
    const ids = this.#ids
    this.#ids = 0
    for (const timer of this.#timers) clearTimeout(timer)
    this.servers.close()
    wasm().free(ids)
  }
}
