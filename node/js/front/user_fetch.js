// The user callback that fetches segments, and what it threw, for the errors of calls. The core decides when it is
// called, and for which tags.

import { segment } from './answers.js'
import { textOf } from './user_calls.js'

/** Tags whose last failure is kept. */
const MOST = 64

export class UserFetch {
  #fetch
  /** The last failure, by tag: `{ text, error }`, the newest last. `null` after the close. */
  #byTag = new Map()
  /** Likewise, of any tag: also the reason for other tags while the source is down. */
  #last = null

  constructor(fetch) {
    this.#fetch = fetch
  }

  ask(tag, step, after) {
    return this.#fetch.call(undefined, tag, step, after)
  }

  /** The segment that it returned, or null for an unknown tag. Throws for anything else. */
  read(tag, value) {
    const read = segment(value)
    this.#byTag?.delete(tag)
    return read
  }

  failed(tag, error) {
    // A call may be under way when it is closed.
    if (!this.#byTag) return
    this.#last = { text: textOf(error), error }
    this.#byTag.delete(tag)
    this.#byTag.set(tag, this.#last)
    if (this.#byTag.size > MOST) this.#byTag.delete(this.#byTag.keys().next().value)
  }

  /** The failure whose text ends this message, if there is one. */
  failureIn(message, tag) {
    const failures = [this.#byTag?.get(tag), this.#last]
    return failures.find(failure => failure && String(message).endsWith(failure.text))
  }

  /** Drops the failures and keeps no more, because no caller will get them. */
  close() {
    this.#byTag = null
    this.#last = null
  }
}
