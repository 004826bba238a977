'use strict'

const { guarded } = require('./guard.js')
const native = require('./native.js')
const { existing } = require('./option_rules.js')
const { refuse, refuseText } = require('./refuse.js')

/** The keys of public ids in the addon. */
class KeysOfPublicIds {
  #handle

  constructor(keys) {
    this.#handle = guarded(() => native.publicIds(keys))
  }

  get version() {
    return native.publicIdsVersion(this.#handle)
  }

  encrypt(id) {
    return guarded(() => native.encryptId(this.#handle, id))
  }

  decrypt(id, version) {
    return guarded(() => native.decryptId(this.#handle, id, version))
  }

  format(id, form) {
    return guarded(() => native.formatPublicId(this.#handle, id, form))
  }

  parse(text, form) {
    return guarded(() => native.parsePublicId(this.#handle, text, form))
  }
}

module.exports = { KeysOfPublicIds, existing, refuse, refuseText }
