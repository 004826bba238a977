// One request to one server, by the platform's fetch.

import { wasm } from './module.js'
import { clearTimeout, setTimeout } from './time.js'

const { fetch } = globalThis
/** No correct response is longer. */
const LARGEST_BODY = 64 * 1024
/** Credentials of the page are not the server's business. workerd has no cache, and does not know these options. */
const MODES = 'WebSocketPair' in globalThis ? {} : { cache: 'no-store', credentials: 'omit' }

/**
 * Sends the request of a call `{ method, url, type, body, headers }`, and passes its response to the call. Rejected when
 * there is none, also after `withinMs` and when `stop` ends it.
 */
export async function sendRequest(call, { method, url, type, body, headers }, withinMs, stop) {
  const timer = setTimeout(() => stop.abort(), Math.ceil(withinMs))
  try {
    const all = new Headers()
    for (let at = 0; at < headers.length; at += 2) all.append(headers[at], headers[at + 1])
    if (type !== null) all.set('Content-Type', type)
    const { signal } = stop
    const response = await fetch(url, { method, headers: all, body, redirect: 'manual', signal, ...MODES })
    const { bytes, isLong } = await bodyOf(response)
    const flags = Number(response.headers.has('content-encoding')) + (isLong ? 2 : 0)
    const shown = ['location', 'age', 'content-length', 'transfer-encoding'].map(name => response.headers.get(name))
    // A redirect that is not followed has the status 0 in a browser.
    wasm().call('call_response', call, response.status, flags, ...shown, bytes)
  } finally {
    clearTimeout(timer)
  }
}

async function bodyOf(response) {
  const parts = []
  let length = 0
  const reader = response.body?.getReader()
  while (reader && length <= LARGEST_BODY) {
    const { done, value } = await reader.read()
    if (done) break
    parts.push(value)
    length += value.length
  }
  const isLong = length > LARGEST_BODY
  if (isLong) reader.cancel().catch(() => {})
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, isLong }
}
