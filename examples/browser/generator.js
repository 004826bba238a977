// The generator of this tab, and what there is to see of it.

import { Snowflake } from 'leafid/wasm'

/** For the tabs of this browser. No other one has this range: ids of this page leave it nowhere. Else lease them. */
const OPTIONS = { name: 'browser-example', worker: { first: 0, last: 31 }, exclusiveRange: true }

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
    this.#flake = await Snowflake.open(OPTIONS)
    this.#picture.opened(this.workerId, this.#until)
  }

  /** The next ids. After a pause a span may have to be stored first. */
  async take(count) {
    await this.#flake.ready()
    const ids = this.#flake.take(count)
    this.#picture.issued(this.workerId, count, this.#until)
    return ids
  }

  /** Writes where the ids ended: the rest of the last span is given to nobody. */
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
