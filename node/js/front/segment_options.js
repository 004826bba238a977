// Checks the types of the options of segments. The core checks the values.

import { mostPrewarmed } from './limits.js'
import { FROM, SERVERS, checkedServers, ofSegments } from './option_rules.js'
import { kinds, readersOf } from './options.js'
import { integer, isRecord, isText, record } from './readers.js'
import { refuse } from './refuse.js'

const FETCH = 'a function (tag, step) that answers { start, end } or a promise of it'
const PREWARM = `an array of at most ${mostPrewarmed} tags, or "last-day" for those of the last day`

function prewarm(value, name) {
  if (value === 'last-day') return value
  return Array.isArray(value) && value.every(isText) ? [...value] : refuse(name, value, PREWARM)
}

function start(value, name) {
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) === value) return value
  return Number.isSafeInteger(value) ? BigInt(value) : refuse(name, value)
}

const TAGS = 'an object of { start, step } by tag'
const fileTag = { start, step: integer }

function tags(value, name) {
  if (!isRecord(value)) refuse(name, value, TAGS)
  return Object.entries(value).map(([tag, given]) => {
    if (!isRecord(given)) refuse(name, value, TAGS)
    return { name: tag, ...record(given, fileTag) }
  })
}

const fetch = (value, name) => (typeof value === 'function' ? value : refuse(name, value, FETCH))

/** Made with the first segments. The servers are an argument. */
let readers
const read = given => record(given, (readers ??= readersOf(true, { ...kinds, tags, prewarm, callback: fetch }, ofSegments)))

/** `{ fetch, options }` of the arguments of a constructor; `fetch` is null without one. */
export function segmentsOptions(first, second) {
  const fetches = isRecord(first)
  if (fetches && second !== undefined) refuse('options', second, 'nothing after options with fetch')
  if (!fetches && (first === undefined || first === null)) refuse('servers', first, FROM)
  const given = fetches ? first : (second ?? {})
  if (!isRecord(given)) refuse('options', given, 'an object of options')
  const { fetch: fetcher = null, ...options } = read(given)
  if (fetches && !fetcher) refuse('fetch', given.fetch, FETCH)
  if (!fetches) options.servers = servers(first)
  return { fetch: fetcher, options }
}

function servers(value) {
  const list = isText(value) ? [value] : value
  const fits = Array.isArray(list) && list.length > 0 && list.every(isText)
  return fits ? checkedServers([...list], value) : refuse('servers', value, SERVERS)
}
