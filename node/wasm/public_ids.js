// Public ids, by a WebAssembly module of their own: leafid-public-ids.wasm in docs/WASM-ABI.md.

import { Module } from './module.js'

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'
const KEY = 'a Uint8Array, or "env:NAME" or "file:PATH"'
const SOURCE = '"env:NAME", an environment variable, or "file:PATH", either with 32, 48 or 64 hexadecimal digits'
const OTHERS = 'an object of keys by their versions'
const FORM = '"base32" or "base62"'
const TEXT = 'the text of an id, as a string'
const VERSION = '0 to 31'

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

const refuse = (name, value, allowed) => wasm().refuse(name, value, allowed)
const string = (value, name, allowed) => (typeof value === 'string' ? value : refuse(name, value, allowed))
const integer = (value, name, allowed) => (Number.isSafeInteger(value) ? value : refuse(name, value, allowed))

function existing(id, name) {
  if (typeof id === 'string') return wasm().call('id_parse', id)
  if (typeof id === 'bigint' && BigInt.asIntN(64, id) === id) return id
  return Number.isSafeInteger(id) ? BigInt(id) : refuse(name, id, ID)
}

/** Says of a value that may be a key its type alone. */
function refuseType(name, value, allowed) {
  return wasm().refuseText(name, value === null ? 'null' : `of type ${typeof value}`, allowed)
}

function versioned(key, version) {
  const fits = typeof key === 'string' || key instanceof Uint8Array
  return { key: fits ? key : refuseType('key', key, KEY), version: integer(version, 'version', VERSION) }
}

/** The hexadecimal digits that a source has, as text or bytes. No error shows a source that is neither: it may be a key. */
function digits(source) {
  if (source.startsWith('env:')) {
    return read(source, platform.variable) ?? refuseSource(source, 'which is not set')
  }
  if (source.startsWith('file:')) return read(source, platform.file)
  return wasm().refuseText('key', `a text of ${[...source].length} characters`, SOURCE)
}

/** What `from` gives for the name of a source. */
function read(source, from) {
  try {
    return from(source.slice(source.indexOf(':') + 1))
  } catch (error) {
    return refuseSource(source, `which cannot be read: ${error.message}`)
  }
}

const refuseSource = (source, why) => wasm().refuseText('key', `${source}, ${why}`, SOURCE)

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

export class PublicIds {
  #handle
  #version

  constructor(key, version, others) {
    const first = versioned(key, version)
    const more = []
    if (others !== undefined && others !== null) {
      if (typeof others !== 'object' || Array.isArray(others)) refuseType('others', others, OTHERS)
      for (const [name, other] of Object.entries(others)) {
        // What is no number may be a key by mistake.
        if (!/^\d{1,9}$/.test(name)) refuse('version', NaN, VERSION)
        more.push(versioned(other, Number(name)))
      }
    }
    const module = wasm()
    this.#handle = withKey(first.key, (bytes, hex) => module.call('public_ids_new', bytes, hex, first.version))
    this.#version = first.version
    collected?.register(this, this.#handle)
    for (const { key, version } of more) {
      withKey(key, (bytes, hex) => module.call('public_ids_add_key', this.#handle, bytes, hex, version))
    }
  }

  get version() {
    return this.#version
  }

  encrypt(id) {
    return wasm().call('public_ids_encrypt', this.#handle, existing(id, 'id'))
  }

  decrypt(publicId, version) {
    const whole = existing(publicId, 'publicId')
    return wasm().call('public_ids_decrypt', this.#handle, whole, integer(version, 'version', VERSION))
  }

  formatId(id, form) {
    const whole = existing(id, 'id')
    const module = wasm()
    module.call('public_ids_format', this.#handle, string(form, 'form', FORM), whole)
    return module.text()
  }

  parseId(text, form) {
    const given = string(text, 'text', TEXT)
    return wasm().call('public_ids_parse', this.#handle, string(form, 'form', FORM), given)
  }
}
