'use strict'

// The user callback that fetches segments. The host decides when it is called, and for which tags.

const { segment } = require('./answers.js')
const { failure } = require('./failure.js')
const { FetchFailures } = require('./fetch_failures.js')

const NOTHING = Object.freeze({})

class UserFetch {
  #fetch
  #failures = new FetchFailures()

  constructor(fetch) {
    this.#fetch = fetch
  }

  /** Calls the user callback. It throws nothing, and calls `answer` once. */
  async ask({ tag, step, after }, answer) {
    let answered
    try {
      answered = segment(await this.#fetch.call(undefined, tag, step, after)) ?? NOTHING
      this.#failures.forget(tag)
    } catch (error) {
      answered = failure(error)
      this.#failures.note(tag, answered.failed, error)
    }
    answer(answered)
  }

  /** Drops the failures, because no caller will get them. */
  close() {
    this.#failures.close()
  }

  /** The failure whose text ends this message, if there is one. */
  failureIn(message, tag) {
    return this.#failures.in(message, tag)
  }
}

module.exports = { UserFetch }
