'use strict'

// A lazy snowflake whose worker id comes from a lease server or a user callback. The first call starts the claim, which
// does not run on this thread, and throws would_block, as later calls do until the claim has ended. So no call for an
// id waits for a server or runs a user callback.

const { fault } = require('./errors.js')
const { guarded } = require('./guard.js')
const { LastFailure } = require('./last_failure.js')
const native = require('./native.js')
const { Opening, UNDER_WAY } = require('./open_snowflake.js')
const { asks, asksServers } = require('./option_rules.js')
const { setImmediate } = require('./time.js')

/**
 * The handle for these options until `open` is called with the one that has its worker id.
 *
 * @param {object} given the options, checked for kind
 * @param {(handle: object) => void} open
 */
function openLater(given, open) {
  const handle = asks(given) && !asksServers(given) ? new Opening(given).handle : unclaimed(given)
  const failure = new LastFailure(given)
  let [claiming, closed] = [false, false]

  async function claim() {
    // Not inside the caller's call.
    await new Promise(setImmediate)
    // It keeps the generator open until the handle has found it.
    const opening = new Opening(given, true)
    try {
      await opening.soon()
      if (closed) return
      handle.workerId()
      handle.opened?.()
      open(handle)
    } finally {
      opening.close()
    }
  }

  function ask() {
    if (closed) return handle.workerId()
    const before = failure.take() ?? undefined
    if (!claiming) {
      claiming = true
      claim()
        .catch(error => failure.set(error))
        .finally(() => (claiming = false))
    }
    throw fault('would_block', UNDER_WAY, before)
  }

  const close = () => {
    closed = true
    handle.close()
  }
  const held = () => 'unclaimed'
  return { layout: handle.layout, held, next: ask, fill: ask, stats: ask, workerId: ask, close, closeSoon: close }
}

const unclaimed = ({ peerTimes, ...options }) => guarded(() => native.open(options))

module.exports = { openLater }
