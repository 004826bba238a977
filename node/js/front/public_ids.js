// Public ids, by the addon or by a WebAssembly module of their own.

import { fault } from './errors.js'
import { KeysOfPublicIds, existing, refuse, refuseText } from './public_ids_core.js'

const KEY = 'a Uint8Array, or "env:NAME" or "file:PATH"'
const OTHERS = 'an object of keys by their versions'
const FORM = '"base32" or "base62"'
const TEXT = 'the text of an id, as a string'
const VERSION = '0 to 31'

const string = (value, name, allowed) => (typeof value === 'string' ? value : refuse(name, value, allowed))
const integer = (value, name, allowed) => (Number.isSafeInteger(value) ? value : refuse(name, value, allowed))

/** Says of a value that may be a key its type alone. The core would hide that as well. */
function refuseType(name, value, allowed) {
  throw fault('invalid_argument', `${name} is ${typeOf(value)}; allowed: ${allowed}`)
}

function typeOf(value) {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return value instanceof Map ? 'a Map' : `of type ${typeof value}`
}

function versioned(key, version) {
  const fits = typeof key === 'string' || key instanceof Uint8Array
  return { key: fits ? key : refuseType('key', key, KEY), version: integer(version, 'version', VERSION) }
}

/** A name that is no number may be a key by mistake. */
const refuseVersion = name =>
  name.length < 16 ? refuse('version', name, VERSION) : refuseText('version', `a text of ${name.length} characters`, VERSION)

export class PublicIds {
  #keys

  constructor(key, version, others) {
    const keys = [versioned(key, version)]
    if (others !== undefined && others !== null) {
      if (typeof others !== 'object' || Symbol.iterator in others) refuseType('others', others, OTHERS)
      for (const [name, other] of Object.entries(others)) {
        keys.push(versioned(other, /^\d{1,9}$/.test(name) ? Number(name) : refuseVersion(name)))
      }
    }
    this.#keys = new KeysOfPublicIds(keys)
  }

  get version() {
    return this.#keys.version
  }

  encrypt(id) {
    return this.#keys.encrypt(existing(id, 'id'))
  }

  decrypt(publicId, version) {
    const whole = existing(publicId, 'publicId')
    return this.#keys.decrypt(whole, integer(version, 'version', VERSION))
  }

  formatId(id, form) {
    const whole = existing(id, 'id')
    return this.#keys.format(whole, string(form, 'form', FORM))
  }

  parseId(text, form) {
    const given = string(text, 'text', TEXT)
    return this.#keys.parse(given, string(form, 'form', FORM))
  }
}
