// What the user callback that fetches segments threw, for the errors of calls.

/** Tags whose last failure is kept. */
const MOST = 64

export class FetchFailures {
  /** The last failure, by tag: `{ text, error }`, the newest last. `null` after the close. */
  #byTag = new Map()
  /** Likewise, of any tag: also the reason for other tags while the source is down. */
  #last = null

  note(tag, text, error) {
    // A call may be under way when it is closed.
    if (!this.#byTag) return
    this.#last = { text, error }
    this.#byTag.delete(tag)
    this.#byTag.set(tag, this.#last)
    if (this.#byTag.size > MOST) this.#byTag.delete(this.#byTag.keys().next().value)
  }

  forget(tag) {
    this.#byTag?.delete(tag)
  }

  /** The failure whose text ends this message, if there is one. */
  in(message, tag) {
    const failures = [this.#byTag?.get(tag), this.#last]
    return failures.find(failure => failure && String(message).endsWith(failure.text))
  }

  /** Drops the failures and keeps no more, because no caller will get them. */
  close() {
    this.#byTag = null
    this.#last = null
  }
}
