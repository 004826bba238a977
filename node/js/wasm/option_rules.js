// What options are in WebAssembly: what needs files or the host's own TLS is refused.

import { wasm } from './module.js'
import { platform } from './platform.js'
import { isRecord, layoutFields, record, text, truth } from './readers.js'
import { refuse } from './refuse.js'
import { ID } from './shown.js'

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

/** The options of a snowflake, or of segments: their names, kinds, and variables of the environment. */
export function optionRows(areOfSegments) {
  wasm().call('option_rows', areOfSegments)
  const texts = wasm().list()
  return Array.from({ length: texts.length / 3 }, (_, row) => {
    const [name, kind, variable] = texts.slice(3 * row)
    return { name, kind, variable }
  })
}

/** The variables of the environment that options of a snowflake, or of segments, read. */
export function variables(areOfSegments) {
  const found = optionRows(areOfSegments).map(({ variable }) => [variable, variable && platform().variable(variable)])
  const set = found.filter(([name, value]) => name && value !== undefined)
  return set.map(([name, value]) => `${name}=${value}\0`).join('')
}

const refused = why => (value, name) => refuse(name, value, `nothing in leafid/wasm: ${why}`)
const only = (allowed, why) => (value, name) => (truth(value, name) === allowed ? value : refused(why)(value, name))
const ofFiles = only(false, 'it keeps no files')

const NO_COARSE = '"system" in leafid/wasm; "coarse" needs the native package'
const NO_SOURCE = refused('it has no source file:DIR')

const shared = {
  sharedFs: ofFiles,
  sharedGroup: ofFiles,
  caFile: refused('the platform chooses whom it trusts'),
  /** A handle of the platform. */
  storage: value => value,
}
export const ofSnowflakes = {
  clockSource: (value, name) => (value === 'system' ? value : refuse(name, value, value === 'coarse' ? NO_COARSE : '')),
  ...shared,
}
export const ofSegments = {
  keepUnused: only(false, 'it cannot tell whether a store was copied, and the ids would be issued twice'),
  tags: NO_SOURCE,
  create: NO_SOURCE,
  ...shared,
}

export const FROM = 'a URL or an array of them, or options with fetch'
export const SERVERS = FROM

export function checkedServers(servers, given) {
  const needsFiles = servers.some(url => url.startsWith('file:'))
  return needsFiles ? refuse('servers', given, `${FROM}; file:DIR needs the native package`) : servers
}
