// The open generators of this realm. All handles with the same settings share one.

import { fault } from './errors.js'
import { openNow, openSoon } from './generator.js'
import { warn } from './logger.js'
import { platform } from './platform.js'
import { recover } from './recovery.js'
import { freeSettings } from './settings.js'
import { elapsed, sleep } from './time.js'

/** How often `ready` looks whether another lease was claimed. */
const POLL_MS = 5

/** By the key of their settings; also those whose opening or closing is under way. */
const all = new Map()

export class Shared {
  settings
  generator = null
  handles = 0
  claims = 0
  /** What callers get while there is no generator. */
  lost = null
  #losses = 0
  /** The claim after a loss, a promise; null without one. It uses the settings. */
  #recovering = null
  /** The promise of the opening or of the closing, while it runs. */
  busy = null

  constructor(settings) {
    this.settings = settings
  }

  #begin(generator) {
    this.generator = generator
    this.lost = null
    this.claims++
    generator.onLoss = why => {
      this.#recovering = this.#lose(generator, why).finally(() => (this.#recovering = null))
    }
    endings()
  }

  /** Claims anew. The old generator is sealed first: its worker id may have another holder. */
  async #lose(generator, why) {
    this.#losses = generator.kept ? 0 : this.#losses
    const message =
      `the lease of worker id ${generator.workerId} is lost, and another one is being claimed: ${why.message}`
    this.lost = fault('would_block', message)
    const wanted = () => this.handles > 0 && this.generator === generator
    try {
      await generator.close(true)
      const told = error => (this.lost = error)
      const next = await recover(this.settings, generator, why, this.#losses++, wanted, told)
      if (next && wanted()) this.#begin(next)
      else await next?.close()
    } catch (error) {
      this.lost = error
      warn(error)
    }
  }

  /** Fulfilled when a call for an id finds a span, or when it is closed. After a loss it waits for the next claim. */
  async ready() {
    const deadline = elapsed() + this.settings.timeoutMs
    while (this.generator) {
      const { generator } = this
      if (!this.lost) {
        try {
          await generator.ready()
          if (!this.lost && this.generator === generator) return
        } catch (error) {
          if (!this.lost) throw error
        }
        continue
      }
      if (!this.#recovering || elapsed() >= deadline) throw this.lost
      await sleep(POLL_MS)
    }
  }

  /** At the end of the process. */
  end() {
    const { generator } = this
    this.lost = fault('closed', 'this snowflake is closed: the process ends')
    this.generator = null
    generator.close(false, true)
  }

  release() {
    this.handles--
    if (this.handles !== 0) return
    const { generator } = this
    this.generator = null
    let closed
    // Before the close, which may call a user callback: an opening there waits for the end.
    this.busy = new Promise(done => (closed = done))
    const done = () => {
      if (all.get(this.settings.key) === this) all.delete(this.settings.key)
      freeSettings(this.settings)
      this.busy = null
      closed()
    }
    let closing = []
    try {
      closing = [generator?.close(), this.#recovering].filter(Boolean)
    } finally {
      if (closing.length > 0) Promise.allSettled(closing).then(done)
      else done()
    }
  }

  /** The generator of these settings, if it is open: then the settings are freed. */
  static find(settings) {
    const found = all.get(settings.key)
    if (!found || found.busy) return null
    freeSettings(settings)
    found.handles++
    return found
  }

  /** Opens without the event loop. */
  static now(settings) {
    const found = Shared.find(settings)
    if (found) return found
    const shared = new Shared(settings)
    try {
      if (all.has(settings.key)) {
        throw fault('would_block', 'this generator is being opened or closed; return to the event loop, and call again')
      }
      shared.#begin(openNow(settings))
    } catch (error) {
      freeSettings(settings)
      throw error
    }
    all.set(settings.key, shared)
    shared.handles = 1
    return shared
  }

  /** Opens, and waits for what that needs. */
  static async soon(settings) {
    for (;;) {
      const found = Shared.find(settings)
      if (found) return found
      const other = all.get(settings.key)
      if (!other) break
      // Openings of the same settings fail as one.
      try {
        await other.busy
      } catch (error) {
        freeSettings(settings)
        throw error
      }
    }
    const shared = new Shared(settings)
    all.set(settings.key, shared)
    const opening = openSoon(settings)
    shared.busy = opening
    try {
      const generator = await opening
      shared.handles = 1
      shared.#begin(generator)
      return shared
    } catch (error) {
      all.delete(settings.key)
      freeSettings(settings)
      throw error
    } finally {
      shared.busy = null
    }
  }

  static open() {
    return [...all.values()].filter(shared => shared.generator)
  }
}

let ending = false

/** Has the open generators closed when the process or the page ends. */
function endings() {
  if (ending) return
  ending = true
  platform().ending(() => {
    for (const shared of Shared.open()) shared.end()
  })
}
