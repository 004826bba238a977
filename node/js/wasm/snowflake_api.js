// What leafid/wasm/snowflake exports.

import { LeafidError } from './errors.js'
import { compose, decode, firstIdAt, formatId, lastIdAt, parseId } from './ids.js'
import { setLogger } from './logger.js'
import { metrics } from './metrics.js'
import { Snowflake } from './snowflake.js'
import { version } from './version.js'

export { LeafidError, Snowflake, compose, decode, firstIdAt, formatId, lastIdAt, metrics, parseId, setLogger, version }
