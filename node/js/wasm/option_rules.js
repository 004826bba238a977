// What options are in WebAssembly: what needs files or the host's own TLS is refused.

import { wasm } from './module.js'
import { integer, isRecord, layoutFields, milliseconds, record, text, truth } from './readers.js'
import { refuse } from './refuse.js'

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** An existing id as a bigint. */
export function existing(id, name) {
  if (typeof id === 'string') return parsed(id, name)
  if (typeof id === 'bigint' && id >= 0n && BigInt.asIntN(64, id) === id) return id
  if (Number.isSafeInteger(id) && id >= 0) return BigInt(id)
  return refuse(name, id, ID)
}

function parsed(id, name) {
  try {
    return wasm().call('id_parse', id)
  } catch (error) {
    if (name === 'id') throw error
    return refuse(name, id)
  }
}

export const layout = (value, name) => (isRecord(value) ? record(value, layoutFields) : text(value, name))

const refused = why => (value, name) => refuse(name, value, `nothing in leafid/wasm: ${why}`)
const only = (allowed, why) => (value, name) => (truth(value, name) === allowed ? value : refused(why)(value, name))
const [ofFiles, caFile] = [only(false, 'it keeps no files'), refused('the platform chooses whom it trusts')]

/** A text that is not empty: that would be the default. */
const choice = (value, name) => text(value, name) || refuse(name, value)

const NO_COARSE = '"system" in leafid/wasm; "coarse" needs the native package'
const clockSource = (value, name) => (value === 'system' ? value : refuse(name, value, value === 'coarse' ? NO_COARSE : ''))
/** A handle of the platform. */
const storage = value => value

export const ofSnowflakes = {
  onClockBackwards: choice,
  onExhausted: choice,
  timeoutMs: milliseconds,
  sharedFs: ofFiles,
  sharedGroup: ofFiles,
  clockSource,
  caFile,
  requestTimeoutMs: milliseconds,
  connectTimeoutMs: milliseconds,
  storage,
}
export const ofSegments = {
  keepUnused: only(false, 'it cannot tell whether a store was copied, and the ids would be issued twice'),
  sharedFs: ofFiles,
  sharedGroup: ofFiles,
  storage,
}
const NO_SOURCE = refused('it has no source file:DIR')
export const ofServerSegments = { caFile, tags: NO_SOURCE, create: NO_SOURCE }

export const FROM = 'a URL or an array of them, or options with fetch'
export const SERVERS = FROM

export function checkedServers(servers, given) {
  const needsFiles = servers.some(url => url.startsWith('file:'))
  return needsFiles ? refuse('servers', given, `${FROM}; file:DIR needs the native package`) : servers
}
