// One request to one server, by the platform's fetch, and what is wrong with the frame of its response.

import { LARGEST_BODY, MODES, bodyOf, fetch } from './http_request.js'
import { clearTimeout, setTimeout } from './time.js'

/**
 * Sends a request `{ method, path, type, body }` below a URL. `isSelfEvident`: the text of its response shows whether
 * it is whole.
 *
 * @returns {Promise<{ status: number, location: string | null, flaw: string | null, body: Uint8Array }>} rejected with
 *   an AbortError after `withinMs`, or when `stop` ends it
 */
export async function exchange(url, { method, path, type, body }, headers, withinMs, stop, isSelfEvident) {
  const timer = setTimeout(() => stop.abort(), Math.ceil(withinMs))
  try {
    const all = { Accept: 'application/json', ...headers }
    if (type !== null) all['Content-Type'] = type
    const { signal } = stop
    const response = await fetch(url + path, { method, headers: all, body, redirect: 'manual', signal, ...MODES })
    // A redirect that is not followed has the status 0 in a browser, and tells nothing more.
    const status = response.status || 302
    const { bytes, isLong } = await bodyOf(response)
    const flaw = isLong ? `is longer than ${LARGEST_BODY} bytes` : flawOf(response, status, bytes.length, isSelfEvident)
    return { status, location: response.headers.get('location'), flaw, body: bytes }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * `isSelfEvident`: its text shows whether it is whole. Half a body of digits is a number too: then the headers must say
 * where it ends. A platform shows no other part of the frame.
 */
function flawOf({ headers }, status, length, isSelfEvident) {
  const age = headers.get('age')
  if (age !== null) return `comes from a cache (Age: ${JSON.stringify(age)}): keep caches from this URL`
  if (status !== 200) return null
  const isEncoded = headers.has('content-encoding')
  const said = headers.get('content-length')
  if (said !== null && !isEncoded) return said === String(length) ? null : 'ends before its end'
  if (isSelfEvident) return null
  if (isEncoded) return 'is compressed, so that a cut one is not noticed: keep compression from this URL'
  if (/^chunked$/i.test(headers.get('transfer-encoding') ?? '')) return null
  return 'does not say where it ends (no Content-Length, not chunked, or hidden from this origin)'
}
