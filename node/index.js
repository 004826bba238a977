'use strict'

const { LeafidError } = require('./lib/errors.js')
const { compose, decode, firstIdAt, formatId, lastIdAt, parseId } = require('./lib/ids.js')
const { PublicIds } = require('./lib/public_ids.js')
const { Snowflake } = require('./lib/snowflake.js')
const { setLogger } = require('./lib/logger.js')
const { metrics, version } = require('./lib/native.js')

// A third of the code, which a program without segments does not wait for: it is loaded when it is first asked for.
const Segments = undefined

// One literal, so that `import { Snowflake } from 'leafid'` finds the names.
module.exports = {
  Snowflake,
  Segments,
  PublicIds,
  LeafidError,
  decode,
  compose,
  firstIdAt,
  lastIdAt,
  formatId,
  parseId,
  metrics,
  setLogger,
  version: version(),
}

// Under another name: names of `module.exports` with a getter are not found by `import`.
const names = module.exports
const shown = { enumerable: true, configurable: true }
Object.defineProperty(names, 'Segments', {
  get() {
    const { Segments } = require('./lib/segments.js')
    Object.defineProperty(names, 'Segments', { value: Segments, writable: true, ...shown })
    return Segments
  },
  ...shown,
})
