'use strict'

const { LeafidError, fault, isKnown, learn } = require('./errors.js')
const native = require('./native.js')

native.camelCase()
for (const { name, retry } of native.codes()) learn(name, retry)

/** Converts an exception of the addon. */
function translate(error) {
  if (error instanceof LeafidError) return error
  const name = String(error?.code)
  // Otherwise a panic, or an error of Node-API.
  return isKnown(name) ? fault(name, error.message) : fault('internal', String(error?.message ?? error), error)
}

/** Calls the addon and converts what it throws to a LeafidError. */
function guarded(call) {
  try {
    return call()
  } catch (error) {
    throw translate(error)
  }
}

module.exports = { guarded, translate }
