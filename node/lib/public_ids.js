'use strict'

const { guarded, refuse } = require('./errors.js')
const native = require('./native.js')
const { existing, integer, text: string } = require('./options.js')

const KEY = 'a Uint8Array, or "env:NAME" or "file:PATH"'
const OTHERS = 'an object of keys by their versions'
const FORM = '"base32" or "base62"'
const VERSION = '0 to 31'

/** Says of a value that may be a key its type alone. */
function refuseType(name, value, allowed) {
  return guarded(() => native.refuse(name, value === null ? 'null' : `of type ${typeof value}`, allowed))
}

function versioned(key, version) {
  const fits = typeof key === 'string' || key instanceof Uint8Array
  return { key: fits ? key : refuseType('key', key, KEY), version: integer(version, 'version', VERSION) }
}

class PublicIds {
  #handle

  constructor(key, version, others) {
    const keys = [versioned(key, version)]
    if (others !== undefined && others !== null) {
      if (typeof others !== 'object' || Array.isArray(others)) refuseType('others', others, OTHERS)
      for (const [name, other] of Object.entries(others)) {
        // What is no number may be a key by mistake.
        if (!/^\d{1,9}$/.test(name)) refuse('version', NaN, VERSION)
        keys.push(versioned(other, Number(name)))
      }
    }
    this.#handle = guarded(() => native.publicIds(keys))
  }

  get version() {
    return native.publicIdsVersion(this.#handle)
  }

  encrypt(id) {
    const whole = existing(id, 'id')
    return guarded(() => native.encryptId(this.#handle, whole))
  }

  decrypt(publicId, version) {
    const whole = existing(publicId, 'publicId')
    const number = integer(version, 'version', VERSION)
    return guarded(() => native.decryptId(this.#handle, whole, number))
  }

  formatId(id, form) {
    const whole = existing(id, 'id')
    const name = string(form, 'form', FORM)
    return guarded(() => native.formatPublicId(this.#handle, whole, name))
  }

  parseId(text, form) {
    const given = string(text, 'text')
    const name = string(form, 'form', FORM)
    return guarded(() => native.parsePublicId(this.#handle, given, name))
  }
}

module.exports = { PublicIds }
