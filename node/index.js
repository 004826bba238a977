'use strict'

const { LeafidError } = require('./lib/errors.js')
const { compose, decode } = require('./lib/ids.js')
const { Snowflake } = require('./lib/snowflake.js')
const { version } = require('./lib/native.js')

// One literal, so that `import { Snowflake } from 'leafid'` finds the names.
module.exports = { Snowflake, LeafidError, decode, compose, version: version() }
