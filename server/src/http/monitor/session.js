// Asks the server for its figures every second, while the page is seen.

const EVERY_MS = 1000
const PATIENCE_MS = 5000
const SLOWEST_MS = 5000
/** Of this tab alone: it is gone when the tab is closed. */
const KEY = 'leafid-server-token'

/**
 * `given(state)` is called with the figures, `failed(text)` when there are none, `denied(text)` when a token is missing
 * or does not do.
 */
export class Session {
  #timer
  #running
  #failures = 0
  #query = {}

  constructor({ given, failed, denied }) {
    Object.assign(this, { given, failed, denied })
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#stop() : this.#poll()))
  }

  /** What to ask for, from now on. */
  ask(query) {
    this.#query = query
    this.#poll()
  }

  get hasToken() {
    return sessionStorage.getItem(KEY) !== null
  }

  /** Without a token the one that is kept is forgotten. */
  use(token) {
    if (token) sessionStorage.setItem(KEY, token)
    else sessionStorage.removeItem(KEY)
    this.#poll()
  }

  #stop() {
    clearTimeout(this.#timer)
    this.#running?.abort()
    this.#running = undefined
  }

  async #poll() {
    this.#stop()
    if (document.hidden) return
    const running = (this.#running = new AbortController())
    const pause = await this.#once(running)
    // A newer one has taken over.
    if (this.#running !== running) return
    if (pause !== null) this.#timer = setTimeout(() => this.#poll(), pause)
  }

  /** The pause until the next one, or null to wait for a token. */
  async #once(running) {
    const begun = performance.now()
    const late = setTimeout(() => running.abort(), PATIENCE_MS)
    try {
      const token = sessionStorage.getItem(KEY)
      const headers = token ? { Authorization: `Bearer ${token}` } : {}
      const address = `monitor/state?${new URLSearchParams(this.#query)}`
      const answer = await fetch(address, { headers, cache: 'no-store', signal: running.signal })
      const state = await answer.json()
      if (this.#running !== running) return null
      if (answer.status === 401 || answer.status === 403) {
        this.denied(state.message)
        return null
      }
      if (!answer.ok) throw new Error(state.message)
      this.#failures = 0
      this.given(state)
      return Math.max(EVERY_MS - (performance.now() - begun), EVERY_MS / 4)
    } catch (error) {
      if (this.#running !== running) return null
      this.#failures += 1
      this.failed(error instanceof TypeError || error.name === 'AbortError' ? 'it does not answer' : error.message)
      return Math.min(EVERY_MS * 2 ** (this.#failures - 1), SLOWEST_MS)
    } finally {
      clearTimeout(late)
    }
  }
}
