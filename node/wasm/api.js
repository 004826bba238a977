// What every entry exports.

import { LeafidError } from './errors.js'
import { compose, decode } from './ids.js'
import { setLogger } from './logger.js'
import { metrics } from './metrics.js'
import { Snowflake } from './snowflake.js'
import { version } from './version.js'

export { LeafidError, Snowflake, compose, decode, metrics, setLogger, version }
