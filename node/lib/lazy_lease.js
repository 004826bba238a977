'use strict'

// A lazy snowflake whose worker id a lease server gives: the first call begins the claim, off this thread, and is told to
// come again, as are others until it has ended. So no call for an id waits for a server.

const { LeafidError, guarded } = require('./errors.js')
const native = require('./native.js')
const { Opening } = require('./open_snowflake.js')

const isUrl = text => /^\s*https?:\/\//i.test(text)

/** Whether the worker id of these options is leased from servers. */
function asksServers({ worker = process.env.LEAFID_WORKER }) {
  return Array.isArray(worker) || (typeof worker === 'string' && isUrl(worker))
}

const UNDER_WAY = 'the worker id is being claimed from a lease server; ask again'

/**
 * The handle for these options until `open` is called with the one that has its worker id.
 *
 * @param {object} given the options, checked for kind
 * @param {(handle: object) => void} open
 */
function openLater(given, open) {
  const { peerTimes, ...options } = given
  const handle = guarded(() => native.open(options))
  let [claiming, closed, failed] = [false, false, null]

  async function claim() {
    // It holds the generator open until the handle has found it.
    const opening = new Opening(given, true)
    try {
      await opening.soon()
      if (closed) return
      handle.workerId()
      open(handle)
    } finally {
      opening.close()
    }
  }

  function ask() {
    if (closed) return handle.workerId()
    if (failed) {
      const error = failed
      failed = null
      throw error
    }
    if (!claiming) {
      claiming = true
      claim()
        .catch(error => (failed = error))
        .finally(() => (claiming = false))
    }
    throw new LeafidError('ERR_LEAFID_WOULD_BLOCK', UNDER_WAY)
  }

  const closeSoon = () => {
    closed = true
    handle.close()
  }
  return { layout: handle.layout, next: ask, fill: ask, stats: ask, workerId: ask, closeSoon }
}

module.exports = { asksServers, openLater }
