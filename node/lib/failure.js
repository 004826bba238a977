'use strict'

const { LeafidError } = require('./errors.js')

/** What a user callback threw, or its promise was rejected with, for the addon. A LeafidError keeps its code. */
function failure(error) {
  if (error instanceof LeafidError) {
    return { failed: error.message, code: error.code.slice('ERR_LEAFID_'.length).toLowerCase() }
  }
  let failed = 'it threw a value without a text'
  try {
    failed = String(error instanceof Error && error.message ? error.message : error)
  } catch {
    // An object without a prototype, or one whose toString throws.
  }
  return { failed }
}

module.exports = { failure }
