'use strict'

// What the options of the native package have that those of WebAssembly have not.

const native = require('./native.js')
const { isRecord, layoutFields, record } = require('./readers.js')
const { refuse } = require('./refuse.js')

const ID = 'a bigint from 0 to 9223372036854775807n, its decimal digits as a string, or a number below 2^53'

/** An existing id as the addon takes it: a BigInt of 64 bits, or text. */
function existing(id, name) {
  if (typeof id === 'string') return id
  if (typeof id === 'bigint' && BigInt.asIntN(64, id) === id) return id
  if (Number.isSafeInteger(id)) return BigInt(id)
  return refuse(name, id, ID)
}

function layout(value, name) {
  if (typeof value === 'string') return value
  if (!isRecord(value)) refuse(name, value)
  return record(value, layoutFields)
}

const isSource = worker => typeof worker === 'function' || typeof worker?.claim === 'function'

/** Whether these options have user callbacks, which a snowflake asks when it is opened. */
const asks = ({ worker, peerTimes }) => isSource(worker) || peerTimes !== undefined

/** Whether the worker id of these options is leased from servers. */
const asksServers = ({ worker }) => !isSource(worker) && native.asksServers({ worker })

module.exports = {
  asks,
  asksServers,
  existing,
  isSource,
  layout,
  ofSnowflakes: {},
  ofSegments: {},
  optionRows: native.optionRows,
  FROM: 'a URL or an array of them, "file:DIR", or options with fetch',
  SERVERS: 'a URL or several, or file:DIR; or else { fetch }',
  checkedServers: servers => servers,
}
