'use strict'

// The user callback that fetches segments. The host decides when it is called, and for which tags.

const { segment } = require('./answers.js')
const { failure } = require('./failure.js')

const NOTHING = Object.freeze({})

class UserFetch {
  #fetch
  /** The last failure, by tag: `{ text, error }`. */
  #failures = new Map()
  /** Likewise, of any tag: also the reason for other tags while the source is down. */
  #last = null

  constructor(fetch) {
    this.#fetch = fetch
  }

  /** Calls the user callback. It throws nothing, and calls `answer` once. */
  async ask({ tag, step, after }, answer) {
    let answered
    try {
      answered = segment(await this.#fetch.call(undefined, tag, step, after)) ?? NOTHING
      this.#failures.delete(tag)
    } catch (error) {
      answered = failure(error)
      this.#last = { text: answered.failed, error }
      this.#failures.set(tag, this.#last)
    }
    answer(answered)
  }

  /** The failure whose text ends this message, if there is one. */
  failureIn(message, tag) {
    const failures = [this.#failures.get(tag), this.#last]
    return failures.find(failure => failure && String(message).endsWith(failure.text))
  }
}

module.exports = { UserFetch }
