// The user callback that fetches segments, and what it threw.

import { segment } from './answers.js'
import { FetchFailures } from './fetch_failures.js'
import { wasm } from './module.js'
import { textOf } from './user_calls.js'

export class UserFetch {
  #fetch
  #failures = new FetchFailures()

  constructor(fetch) {
    this.#fetch = fetch
  }

  ask(tag, step, after) {
    return this.#fetch.call(undefined, tag, step, after)
  }

  /** Passes an answer to a call of the module. */
  answered(call, tag, value) {
    const found = segment(value)
    if (found === null) wasm().call('call_end', call, 1, 0, '')
    else wasm().call('call_fetched', call, found.start, found.end, found.stride)
    this.#failures.forget(tag)
  }

  failed(tag, error) {
    this.#failures.note(tag, textOf(error), error)
  }

  /** The failure whose text ends this message, if there is one: `{ error }`. */
  failureIn(message, tag) {
    return this.#failures.in(message, tag)
  }

  close() {
    this.#failures.close()
  }
}
