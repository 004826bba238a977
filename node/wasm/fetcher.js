// The fetcher: requests segments from a source for the tags of one `Segments`. The module decides when.

import { LeafidError, codeOf, fault, numberOf } from './errors.js'
import { warn } from './logger.js'
import { random64, wasm } from './module.js'
import { platform } from './platform.js'
import { TagState } from './tag_state.js'
import { clearTimeout, elapsed } from './time.js'

/** The smallest request to a source that has not returned its step: a common value in Leaf's tables. */
const STEP = 1000
/** The ids to fetch for a tag before its first use, if the source returns them one by one. */
const PREWARMED = 16
const PREWARMED_AT_ONCE = 8
/** The largest whole number that the module takes. */
const LARGEST = 2 ** 53
/** The actions of a circuit breaker. */
const [ASK, , WAKE, RELEASE, PROBE] = [0, 1, 2, 3, 4]

const [REGRESSED, UNAVAILABLE, UNKNOWN_TAG] = ['segment_regressed', 'segment_unavailable', 'unknown_tag'].map(codeOf)
/** The errors that a call gets as they are when its time is over. */
const others = ['source_invalid', 'state_io', 'state_corrupt', 'state_mismatch', 'invalid_argument'].map(codeOf)
const KEPT = new Set([REGRESSED, UNKNOWN_TAG, ...others])

export class Fetcher {
  settings
  isClosed = false
  #source
  #marks
  #breaker
  /** By name, and by the number that the module knows. */
  #byName = new Map()
  #byNumber = new Map()
  #timers = new Set()
  #prewarm = []

  constructor(settings, marks, source) {
    this.settings = settings
    this.#marks = marks
    this.#source = source
    // A Leaf's requests are limited by its connections.
    this.#breaker = wasm().call('breaker_new', settings.stock === null)
  }

  get marks() {
    return this.#marks
  }

  get servers() {
    return this.#source.servers?.stats() ?? []
  }

  tag(name) {
    const known = this.#byName.get(name)
    if (known) return known
    const state = new TagState(this.#byName.size + 1, name, this)
    this.#byName.set(name, state)
    this.#byNumber.set(state.number, state)
    return state
  }

  /** Those that were used, sorted by name. */
  tags() {
    return [...this.#byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
  }

  /** Fetches tags before their first use, a few at a time. */
  prewarm(names) {
    // They are taken from the end.
    this.#prewarm = [...names].reverse()
    for (let at = 0; at < PREWARMED_AT_ONCE; at++) this.#prewarmNext()
  }

  #prewarmNext() {
    while (!this.isClosed && this.#prewarm.length > 0) {
      const state = this.tag(this.#prewarm.pop())
      const { stock } = this.settings
      if (stock) wasm().call('fetch_needs', state.fetch, Math.min(PREWARMED, stock.most))
      // A tag that is fetched already leaves its turn to the next.
      if (this.want(state, null).awaited) return
    }
  }

  /**
   * Starts the tag's next fetch, unless one is under way or it is too early. The reason is its prefetch, or calls that
   * wait for `need` ids. Returns what there is to say to a call: whether there are new ids, whether a fetch will end,
   * how many have ended and begun, and the source's refusal of the tag.
   */
  want(state, need) {
    const waits = need !== null
    if (waits && need > 1) wasm().call('fetch_needs', state.fetch, need)
    const refilled = state.refill()
    if (refilled) state.changed()
    this.#decide(state, waits)
    const { isFetching, isAsked, ended } = state.fetches()
    const refused = state.isRefused ? copyOf(state.error) : null
    const awaited = isFetching || refilled || state.wakesAt !== null
    return { refilled, refused, awaited, ended, begun: ended + Number(isAsked) }
  }

  #decide(state, waits) {
    if (this.isClosed || state.fetches().isFetching) return
    const { wants, isLow } = state.look()
    if (Number.isNaN(wants)) return
    const action = wasm().call('fetch_poll', state.fetch, waits, waits || state.isWaiting() || isLow, elapsed())
    if (action === 1) {
      state.wakesAt = null
      this.#ask(state, false)
    } else if (action === 2) {
      state.wakesAt = wasm().number()
      this.#at(state.wakesAt, at => {
        if (wasm().call('fetch_timer', state.fetch, at) === 0) return
        state.wakesAt = null
        state.changed()
        this.#decide(state, state.isWaiting())
      })
    }
  }

  /** Calls at a time, without keeping the process alive. */
  #at(at, call) {
    const run = () => {
      this.#timers.delete(timer)
      call(at)
    }
    const timer = platform().background(run, Math.max(Math.ceil(at - elapsed()), 0))
    this.#timers.add(timer)
  }

  /** Does what the circuit breaker says. */
  #pass(action) {
    const module = wasm()
    const number = module.number()
    if (action === WAKE || (action === RELEASE && !Number.isNaN(number))) {
      this.#at(number, () => this.#pass(module.call('breaker_timer', this.#breaker, elapsed())))
    }
    if (action === RELEASE) {
      for (let count; (count = module.call('breaker_released', this.#breaker)) > 0; ) {
        for (const tag of [...module.ids(count)]) this.#ask(this.#byNumber.get(Number(tag)), false)
      }
    } else if (action === PROBE) {
      this.#ask(this.#byNumber.get(number), true)
    }
  }

  /** Asks the source, from the event loop, unless it is down. `probes`: to find out whether it still is. */
  async #ask(state, probes) {
    // Never inside a call for ids.
    await null
    const module = wasm()
    if (this.isClosed) return
    const { hasFailed } = state.fetches()
    const action = module.call('breaker_enter', this.#breaker, state.number, probes, hasFailed, elapsed())
    if (action !== ASK) return this.#pass(action)
    state.refill()
    const { left, wants } = state.look()
    if (module.call('fetch_begin', state.fetch, wants, STEP, elapsed()) === 0) {
      this.#pass(module.call('breaker_cancelled', this.#breaker, state.number, probes, elapsed()))
      state.changed()
      return
    }
    const [wanted, step, short] = module.numbers(3)
    const urgent = state.isWaiting() || left <= short
    state.askedAt = elapsed()
    const outcome = await this.#fetched(state, step, urgent)
    state.askedAt = null
    // What came after the close is never issued: its ids are a gap.
    if (!this.isClosed) this.#ended(state, outcome, wanted)
  }

  /** `{ segments, refused, step }` that are durable in the marks, or `{ error }`. */
  async #fetched(state, step, urgent) {
    try {
      const after = await this.#marks.after(state.name)
      if (this.isClosed) return null
      const batch = await this.#source.ask({ tag: state, step, after, urgent })
      if (this.isClosed) return null
      if (batch === null) {
        const name = JSON.stringify(state.name)
        throw fault('unknown_tag', `the source knows no tag ${name}; make it there, or correct the name`)
      }
      const accepted = await this.#marks.accept(state.name, batch.segments, after)
      return { ...accepted, step: batch.step }
    } catch (error) {
      if (error instanceof LeafidError) return { error }
      return { error: fault('internal', `a defect of leafid: ${error?.stack ?? error}; please report it`, error) }
    }
  }

  #ended(state, outcome, wanted) {
    const module = wasm()
    const { settings } = this
    const error = outcome.error ?? outcome.refused
    const isDenied = Boolean(outcome.error) && (this.#source.servers?.denies(state.name) ?? false)
    let failures = 0
    if (outcome.error) {
      state.count(error)
      const maySkip = settings.stock !== null && error.code === REGRESSED
      const given = [numberOf(error), error.message, isDenied, elapsed(), random64(), maySkip]
      failures = module.call('fetch_failed', state.fetch, ...given)
    } else {
      // A source that returns no step has shown its step when the request left the number to it.
      const shown = wanted === 0 ? lengthOf(outcome.segments[0]) : undefined
      const own = settings.step ?? outcome.step ?? shown
      const given = error ? [numberOf(error), error.message] : [0, '']
      module.call('fetch_succeeded', state.fetch, wanted, own, elapsed(), ...given)
      state.add(outcome.segments)
      state.refill()
    }
    if (error && (failures > 0 || outcome.error) && error.code !== state.error?.code) warn(error)
    state.error = error ?? null
    state.isRefused = Boolean(outcome.error) && (isDenied || error.code === UNKNOWN_TAG)
    const isAnswered = isDenied || error?.code !== UNAVAILABLE
    const backOffMs = this.#source.servers?.backOffMs()
    const failed = isAnswered ? 0 : (error.requests ?? 1)
    this.#pass(module.call('breaker_ended', this.#breaker, state.number, failed, backOffMs, elapsed(), random64()))
    state.changed()
    // A source of single ids is asked again until there are enough.
    if (failures !== 0 || settings.stock !== null) this.want(state, null)
    this.#prewarmNext()
  }

  /** The error of a call that has waited this long. */
  late(state, waitedMs) {
    const late = `no id of the tag ${JSON.stringify(state.name)} within ${waitedMs} ms`
    if (state.error) {
      const code = KEPT.has(state.error.code) ? state.error.code : UNAVAILABLE
      return copyOf(state.error, `${late}: ${state.error.message}`, code)
    }
    const down = state.askedAt === null ? this.#whyDown() : null
    if (down) {
      const what =
        'its source is down, so it was not asked for this tag; see the source, or raise timeoutMs; it failed for the ' +
        `tag ${JSON.stringify(down.name)}`
      return copyOf(down.error, `${late}: ${what}: ${down.error.message}`, UNAVAILABLE)
    }
    return fault('segment_unavailable', `${late}: ${this.#whySilent(state)}; see the source, or raise timeoutMs`)
  }

  #whySilent(state) {
    const silentFor = state.askedAt === null ? null : this.#source.silentFor(state)
    if (silentFor !== null) return `its source has not answered for ${Math.round(silentFor)} ms`
    if (state.askedAt !== null) return 'requests for other tags took all `connections`'
    wasm().call('breaker_state', this.#breaker)
    const isFull = wasm().number(1) === 1
    return isFull ? 'its source has not answered requests for other tags' : 'its source was not asked yet'
  }

  /** While the source is down: a tag for which it failed. */
  #whyDown() {
    wasm().call('breaker_state', this.#breaker)
    const [isDown, , failed] = wasm().numbers(3)
    const state = this.#byNumber.get(failed)
    return isDown === 1 && state?.error ? state : null
  }

  /** For ever. Ids in memory, and what still comes, are never issued. */
  close() {
    if (this.isClosed) return
    this.isClosed = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#source.close()
    const breaker = this.#breaker
    this.#breaker = 0
    wasm().free(breaker)
    for (const state of this.#byName.values()) state.close()
  }
}

const lengthOf = ([start, end, stride]) => Math.min(Number((end - start + stride - 1n) / stride), LARGEST)

/** Each call gets an error of its own. */
function copyOf(error, message = error.message, code = error.code) {
  const copy = new LeafidError(code, message)
  if ('cause' in error) copy.cause = error.cause
  return copy
}
