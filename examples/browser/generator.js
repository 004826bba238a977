// The generator of this tab, and what there is to see of it.

import { Snowflake } from 'leafid/wasm'

/**
 * Worker ids for the tabs of this browser, in an id space that no other browser has: its ids are for show. Pages whose ids
 * meet in one column need one id space, and lease their worker ids.
 */
function options() {
  const space = localStorage.getItem('id-space') ?? crypto.randomUUID()
  localStorage.setItem('id-space', space)
  return { name: `browser-example-${space}`, worker: { first: 0, last: 31 }, exclusiveRange: true }
}

export class Generator {
  #flake = null
  #picture

  constructor(picture) {
    this.#picture = picture
  }

  get isOpen() {
    return this.#flake !== null
  }

  get workerId() {
    return this.#flake.workerId
  }

  async open() {
    this.#flake = await Snowflake.open(options())
    this.#picture.opened(this.workerId, this.#until)
  }

  /** The next ids. After a pause a span may have to be stored first. */
  async take(count) {
    await this.#flake.ready()
    const ids = this.#flake.take(count)
    this.#picture.issued(this.workerId, count, this.#until)
    return ids
  }

  /** Writes where the ids ended: the rest of the last span stays unused. */
  async close() {
    const flake = this.#flake
    this.#flake = null
    const [{ workerId }, at] = [flake, Date.now()]
    await flake[Symbol.asyncDispose]?.()
    flake.close()
    this.#picture.closed(workerId, at)
  }

  get #until() {
    return this.#flake.stats().reservedUntilMs
  }
}
