// The module of public ids: leafid-public-ids.wasm in docs/WASM-ABI.md.

import { Module } from './module.js'
import { ID } from './shown.js'

const SOURCE = '"env:NAME", an environment variable, or "file:PATH", either with 32, 48 or 64 hexadecimal digits'

let compiled = null
let platform = null
let instance = null

/** Sets the compiled module, and where this platform has keys: `variable(name)` of the environment, and `file(path)`. */
export function begin(module, system) {
  compiled = module
  platform = system
}

/** The instance; it is made with the first keys. Throws after a defect of it. */
function wasm() {
  instance ??= new Module(compiled)
  if (instance.ended) throw instance.ended
  return instance
}

const { FinalizationRegistry } = globalThis
const collected = FinalizationRegistry ? new FinalizationRegistry(free) : null

function free(handle) {
  if (!instance.ended) instance.free(handle)
}

export const refuse = (name, value, allowed) => wasm().refuse(name, value, allowed)
export const refuseText = (name, text, allowed) => wasm().refuseText(name, text, allowed)

export function existing(id, name) {
  if (typeof id === 'string') return wasm().call('id_parse', id)
  if (typeof id === 'bigint' && BigInt.asIntN(64, id) === id) return id
  return Number.isSafeInteger(id) ? BigInt(id) : refuse(name, id, ID)
}

/** The hexadecimal digits that a source has, as text or bytes. No error shows a source that is neither: it may be a key. */
function digits(source) {
  if (source.startsWith('env:')) {
    return read(source, platform.variable) ?? refuseSource(source, 'which is not set')
  }
  if (source.startsWith('file:')) return read(source, platform.file)
  return refuseText('key', `a text of ${[...source].length} characters`, SOURCE)
}

/** What `from` gives for the name of a source. */
function read(source, from) {
  try {
    return from(source.slice(source.indexOf(':') + 1))
  } catch (error) {
    return refuseSource(source, `which cannot be read: ${(mayBeKey(source) && error.code) || error.message}`)
  }
}

/** Whether what stands for a name or a path may be a key, also one with wrong digits. A path has separators. */
function mayBeKey(source) {
  const name = source.slice(source.indexOf(':') + 1)
  const count = signs => name.match(signs)?.length ?? 0
  const digits = count(/[0-9a-f]/gi)
  return !/[/\\]/.test(name) && digits >= 16 && digits >= 4 * count(/[g-z]/gi)
}

/** Shows no key: the errors of Node's files name the path. */
function refuseSource(source, why) {
  const colon = source.indexOf(':') + 1
  const shown = mayBeKey(source) ? `${source.slice(0, colon)}a text of ${[...source.slice(colon)].length} characters` : source
  return refuseText('key', `${shown}, ${why}`, SOURCE)
}

/** Calls `use` with the arguments of a key. */
function withKey(key, use) {
  if (typeof key !== 'string') return use(key, false)
  const found = digits(key)
  try {
    return use(found, true)
  } catch (error) {
    if (error.message.startsWith('key is ')) refuseSource(key, 'which holds another text')
    throw error
  } finally {
    if (typeof found !== 'string') found.fill(0)
  }
}

/** The keys of public ids in the module. */
export class KeysOfPublicIds {
  version
  #handle

  constructor([{ key, version }, ...others]) {
    this.version = version
    this.#handle = withKey(key, (bytes, hex) => wasm().call('public_ids_new', bytes, hex, version))
    collected?.register(this, this.#handle)
    for (const other of others) {
      withKey(other.key, (bytes, hex) => this.#call('public_ids_add_key', bytes, hex, other.version))
    }
  }

  #call(name, ...given) {
    return wasm().call(name, this.#handle, ...given)
  }

  encrypt(id) {
    return this.#call('public_ids_encrypt', id)
  }

  decrypt(id, version) {
    return this.#call('public_ids_decrypt', id, version)
  }

  format(id, form) {
    this.#call('public_ids_format', form, id)
    return wasm().text()
  }

  parse(text, form) {
    return this.#call('public_ids_parse', form, text)
  }
}
