import { defaultTimeoutMs } from './limits.js'
import { elapsed } from './time.js'

/** The failure of a lazy claim, which no call waited for: the next call has it. */
export class LastFailure {
  #error = null
  #atMs = 0
  #freshMs

  /** The options of the snowflake. */
  constructor({ timeoutMs }) {
    this.#freshMs = timeoutMs ?? defaultTimeoutMs
  }

  set(error) {
    this.#error = error
    this.#atMs = elapsed()
  }

  /**
   * Throws it, once. Returns one that no call had in time, or null: another claim may succeed by now, unless a retry cannot
   * help.
   */
  take() {
    const error = this.#error
    this.#error = null
    if (error && (error.retry === false || elapsed() - this.#atMs <= this.#freshMs)) throw error
    return error
  }
}
