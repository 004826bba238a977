'use strict'

// The user callback that fetches segments. The host decides when it is called, and for which tags.

const { segment } = require('./answers.js')
const { failure } = require('./failure.js')

const NOTHING = Object.freeze({})
/** Tags whose last failure is kept. */
const MOST_FAILURES = 64

class UserFetch {
  #fetch
  /** The last failure, by tag: `{ text, error }`, the newest last. `null` after the close, when a call may be under way. */
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
      this.#failures?.delete(tag)
    } catch (error) {
      answered = failure(error)
      this.#note(tag, { text: answered.failed, error })
    }
    answer(answered)
  }

  #note(tag, failure) {
    if (!this.#failures) return
    this.#last = failure
    this.#failures.delete(tag)
    this.#failures.set(tag, failure)
    if (this.#failures.size > MOST_FAILURES) this.#failures.delete(this.#failures.keys().next().value)
  }

  /** Drops the failures and keeps no more, because no caller will get them. */
  close() {
    this.#failures = null
    this.#last = null
  }

  /** The failure whose text ends this message, if there is one. */
  failureIn(message, tag) {
    const failures = [this.#failures?.get(tag), this.#last]
    return failures.find(failure => failure && String(message).endsWith(failure.text))
  }
}

module.exports = { UserFetch }
