// The servers of one source. The module decides which one is asked, for how long, and what its response means.

import { LeafidError, fault, numberOf } from './errors.js'
import { exchange } from './exchange.js'
import { random64, wasm } from './module.js'
import { elapsed } from './time.js'

const decoder = new TextDecoder()
const MOST_SERVERS = 64
const LONGEST_URL = 2000
const ALLOWED = 'a URL such as https://ids.example.com:8443/leafid, whose port and path may be left out'

/** The URLs, checked, without a slash at the end. `option` names them in messages. */
export function checkedUrls(urls, option) {
  const refuse = (value, allowed) => wasm().refuseText(option, value, allowed)
  if (urls.length === 0 || urls.length > MOST_SERVERS) refuse(`${urls.length} URLs`, `1 to ${MOST_SERVERS} URLs`)
  // Before all else: a password with a comma has cut a URL in two, of which the first looks like another mistake.
  if (urls.some(url => url.includes('@'))) {
    refuse('a URL with a user or password before its host', 'URLs without a user; a user or password belongs in `token` or `headers`')
  }
  return urls.map(url => {
    if (url.length > LONGEST_URL) refuse(`a URL of ${url.length} bytes`, `URLs of at most ${LONGEST_URL} bytes`)
    if (/[?#]/.test(url)) refuse(`${JSON.stringify(url)}, which has a query or a fragment`, ALLOWED)
    if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url) || new URL(url).port === '0') refuse(`${JSON.stringify(url)}, which is no URL of HTTP`, ALLOWED)
    return url.replace(/\/+$/, '')
  })
}

/** The headers of requests, checked. */
export function checkedHeaders(headers = {}, token) {
  const module = wasm()
  const all = {}
  if (token !== undefined) all.Authorization = `Bearer ${token}`
  if (token === '') {
    module.refuseText('token', 'empty', 'text that is not empty and has no control characters, or none')
  }
  for (const [name, value] of Object.entries(headers)) {
    const known = Object.keys(all).some(other => other.toLowerCase() === name.toLowerCase())
    if (known) module.refuse('headers', name, 'each name once, and no Authorization besides `token`')
    all[name] = value
  }
  try {
    new Headers(all)
  } catch {
    // The text may be a secret, so no message contains it.
    if (token !== undefined) {
      module.refuseText('token', 'or `headers` with a character that HTTP does not allow', 'other characters')
    }
    const allowed = 'letters, digits and - in names, no control characters'
    module.refuseText('headers', 'of a character that HTTP does not allow', allowed)
  }
  return all
}

export class ServerPool {
  #urls
  #headers
  #requestTimeoutMs
  #connectTimeoutMs
  #option
  /** The health of the servers, a handle. */
  #servers
  /** The requests under way. */
  #stops = new Set()

  /** `option`: 0 `servers`, 1 `worker`. */
  constructor({ urls, headers, requestTimeoutMs, connectTimeoutMs, option }) {
    this.#urls = urls
    this.#headers = headers
    this.#requestTimeoutMs = requestTimeoutMs
    this.#connectTimeoutMs = connectTimeoutMs
    this.#option = option
    this.#servers = wasm().call('servers_new', urls.length)
  }

  /**
   * Asks one server after the other until one gives an answer, or the time of a request is over.
   *
   * @param {string} tag of the request; '' if all requests are alike
   * @param {boolean} urgent whether a caller waits
   * @param {{ make: (high: bigint, low: bigint) => void, read: () => unknown,
   *   judge: (response: number, high: bigint, low: bigint) => number, isSelfEvident: boolean }} dialect calls of the
   *   module: for a request and for its judgement; `read` gets the answer from the module
   */
  async ask(tag, urgent, { make, judge, read, isSelfEvident }) {
    const module = wasm()
    const deadline = elapsed() + this.#requestTimeoutMs
    make(0n, 0n)
    const once = module.number(1)
    const [high, low] = [random64(), random64()]
    const request = module.call('request_new', this.#servers, tag, urgent, once, high, low, this.#connectTimeoutMs)
    try {
      for (;;) {
        this.#check()
        module.call('request_poll', this.#servers, request, elapsed(), Math.max(deadline - elapsed(), 0))
        const [at, withinMs] = module.numbers(2)
        const nonce = [...module.ids(2)]
        make(...nonce)
        const asked = requestOf()
        const response = await this.#send(this.#urls[at], asked, withinMs, isSelfEvident).catch(error => ({ error }))
        this.#check()
        const done = response.error
          ? this.#unanswered(request, this.#urls[at], asked, response.error)
          : this.#judged(request, this.#urls[at], asked, response, handle => judge(handle, ...nonce), read)
        if (done) return done.answer
      }
    } finally {
      if (this.#servers) module.call('request_end', this.#servers, request)
    }
  }

  async #send(url, request, withinMs, isSelfEvident) {
    const stop = new AbortController()
    this.#stops.add(stop)
    try {
      return await exchange(url, request, this.#headers, withinMs, stop, isSelfEvident)
    } finally {
      this.#stops.delete(stop)
    }
  }

  #judged(request, server, { path }, { status, location, flaw, body }, judge, read) {
    const module = wasm()
    const url = server + path.replace(/\?.*/s, '')
    const response = module.call('response_new', status, this.#option, url, location, flaw, body)
    try {
      const judgement = judge(response)
      const answer = judgement === 0 ? { answer: read() } : null
      const [number, message] = judgement === 0 ? [0, ''] : [module.number(), module.text()]
      module.call('request_judged', this.#servers, request, response, judgement, number, message, server, elapsed())
      return answer
    } finally {
      module.free(response)
    }
  }

  #unanswered(request, server, { path }, error) {
    const why = url => whyUnanswered(url, error)
    const url = server + path.replace(/\?.*/s, '')
    const number = numberOf(fault('segment_unavailable', ''))
    wasm().call('request_unanswered', this.#servers, request, number, why(url), why(server), elapsed())
    return null
  }

  #check() {
    if (!this.#servers) throw fault('closed', 'the source was closed while it was asked')
  }

  /** How long all servers back off, milliseconds; 0 if one may be asked now. */
  backOffMs() {
    return wasm().call('servers_back_off_ms', this.#servers, true, elapsed())
  }

  /** Whether every server refuses this tag. */
  denies(tag) {
    return wasm().call('servers_deny', this.#servers, tag) === 1
  }

  /** `{ url, lastError }` of each server. */
  stats() {
    return this.#urls.map((url, at) => ({ url, lastError: this.#lastError(at) }))
  }

  #lastError(at) {
    try {
      wasm().call('servers_error', this.#servers, at)
      return null
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      return error.message
    }
  }

  /** Ends the requests under way; later ones are `closed`. */
  close() {
    const servers = this.#servers
    this.#servers = 0
    for (const stop of this.#stops) stop.abort()
    wasm().free(servers)
  }
}

/** The request that a call of the module answered. */
function requestOf() {
  const module = wasm()
  const [post, , pathLength, typeLength, bodyLength] = module.numbers(5)
  const bytes = module.output()
  const text = (from, length) => decoder.decode(bytes.subarray(from, from + length))
  const request = { method: post ? 'POST' : 'GET', path: text(0, pathLength), type: null, body: undefined }
  if (bodyLength < 0) return request
  return { ...request, type: text(pathLength, typeLength), body: bytes.slice(pathLength + typeLength) }
}

function whyUnanswered(url, error) {
  if (error?.name === 'AbortError') {
    const why = 'see whether it is overloaded or this program was stopped'
    return `${url} did not answer in time; ${why}, or raise request_timeout_ms`
  }
  const cause = error?.cause?.message || error?.message || String(error)
  const advice = 'see whether it runs, and in a browser whether it allows this origin (CORS)'
  return `${url} cannot be reached: ${cause}; ${advice}`
}
