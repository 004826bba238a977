// Requests to servers, by the platform's fetch. The module makes them and judges the responses.

import { fault } from './errors.js'
import { wasm } from './module.js'
import { clearTimeout, elapsed, setTimeout } from './time.js'

const { fetch, AbortController } = globalThis
const LARGEST_BODY = 64 * 1024
/** What a judgement says besides 0, an answer. */
const REFUSED = 1
const decoder = new TextDecoder()

/** The request that a call of the module answered. */
function requestOf() {
  const module = wasm()
  const [post, , pathLength, typeLength, bodyLength] = module.numbers(5)
  const bytes = module.output()
  const part = (from, length) => decoder.decode(bytes.subarray(from, from + length))
  const request = { method: post ? 'POST' : 'GET', path: part(0, pathLength), type: null, body: null }
  if (bodyLength < 0) return request
  return { ...request, type: part(pathLength, typeLength), body: bytes.slice(pathLength + typeLength) }
}

/**
 * Asks the servers, one after another, until one gives an answer.
 *
 * @param {object} servers `{ urls, headers, token, timeoutMs, option }`; option: 0 `servers`, 1 `worker`
 * @param {() => void} make a call of the module that answers a request
 * @param {(response: number) => number} judge a call of the module that answers a judgement, given the response's handle
 * @returns {Promise<void>} fulfilled right after the judgement 0, whose numbers and ids are still the answer
 */
export async function ask({ urls, headers, token, timeoutMs, option }, make, judge, read = () => {}) {
  const module = wasm()
  make()
  const request = requestOf()
  const deadline = elapsed() + timeoutMs
  let last = null
  for (const url of urls) {
    const left = deadline - elapsed()
    if (left <= 0) break
    let response
    try {
      response = await exchange(url, request, headers, token, left)
    } catch (error) {
      last = fault('segment_unavailable', whyUnanswered(url, error, left), error)
      last.unreachable = true
      continue
    }
    const { status, location, flaw, body } = response
    const handle = module.call('response_new', status, option, url, location, flaw, body)
    try {
      const judgement = judge(handle)
      if (judgement === 0) return read()
      last = module.errorOf(module.number(), module.text())
      if (judgement === REFUSED) throw last
    } finally {
      module.free(handle)
    }
  }
  throw last ?? fault('segment_unavailable', `${urls[0]} was not asked: no time was left; raise requestTimeoutMs`)
}

async function exchange(url, { method, path, type, body }, headers, token, left) {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), Math.ceil(left))
  try {
    const all = { ...headers }
    if (type !== null) all['Content-Type'] = type
    if (token !== undefined) all.Authorization = `Bearer ${token}`
    const init = { method, headers: all, redirect: 'manual', cache: 'no-store', signal: stop.signal }
    if (body !== null) init.body = body
    // Credentials of the page are not the server's business.
    const response = await fetch(url + path, withoutUnknown(init))
    const read = await bodyOf(response)
    const age = response.headers.get('age')
    const flaw = age === null ? read.flaw : `comes from a cache (Age: "${age}"): keep caches from this URL`
    // A redirect that is not followed has the status 0 in a browser, and tells nothing more.
    return { status: response.status || 302, location: response.headers.get('location'), flaw, body: read.bytes }
  } finally {
    clearTimeout(timer)
  }
}

/** workerd does not know the modes of a cache, and keeps none for POST. */
function withoutUnknown(init) {
  try {
    new Request('http://localhost', { cache: init.cache })
    return init
  } catch {
    const { cache, ...rest } = init
    return rest
  }
}

async function bodyOf(response) {
  const parts = []
  let length = 0
  let flaw = null
  const reader = response.body?.getReader()
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    length += value.length
    if (length > LARGEST_BODY) {
      flaw = `is longer than ${LARGEST_BODY} bytes`
      reader.cancel().catch(() => {})
      break
    }
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, flaw }
}

function whyUnanswered(url, error, left) {
  if (error?.name === 'AbortError') return `${url} did not answer in ${Math.ceil(left)} ms; see whether it is overloaded, or raise requestTimeoutMs`
  const cause = error?.cause?.message ?? error?.message ?? String(error)
  return `${url} cannot be reached: ${cause}; see whether it runs, and in a browser whether it allows this origin (CORS)`
}
