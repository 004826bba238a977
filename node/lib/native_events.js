'use strict'

// What leafid's threads tell this thread: that an opening has ended; and its segments, that the user's functions are to be asked, that calls that wait
// may have their ids. The functions are called from the event loop only, never inside a call for ids: what the user has
// begun there, such as a transaction, is not ours.

const { waiting } = require('./wait_queue.js')
const native = require('./native.js')
const { clearInterval, setInterval } = require('./time.js')

/** Who fetches, by number; weakly, so that segments that nobody uses any more are closed by the collector. */
const owners = new Map()

/** What other threads do for this one, by ticket. */
const underWay = new Map()

/** What is open, weakly: `{ giveBack }`. */
const open = new Set()

/** The wake function's and the addon's end of this thread's events; made with the first use. */
let events

function theEvents() {
  if (!events) {
    events = native.hear(serve)
    // What is left of the runs is the addon's to keep, or to give up; it closes by itself.
    process.on('exit', () => {
      for (const owner of open) owner.deref()?.giveBack()
    })
  }
  return events
}

function serve() {
  const { woken, fetches, ended, gone } = native.takeEvents(events)
  for (const ticket of ended) {
    underWay.get(ticket)?.()
    underWay.delete(ticket)
  }
  for (const fetch of fetches) ask(fetch)
  for (const number of gone) owners.delete(number)
  for (const number of new Set(woken)) waiting.get(number)?.pump()
}

function ask(fetch) {
  const answer = given => native.answerFetch(events, fetch.ticket, given)
  const userFetch = owners.get(fetch.owner)?.deref()?.userFetch
  if (userFetch) userFetch.ask(fetch, answer)
  else answer({ failed: 'the segments were closed' })
}

/** Waits until what other threads do has ended. */
const ended = ticket => new Promise(done => underWay.set(ticket, done))

/** Keeps the process alive until the promise is settled, which what is waited for here does not do. */
async function kept(promise) {
  const alive = setInterval(() => {}, 2 ** 30)
  try {
    return await promise
  } finally {
    clearInterval(alive)
  }
}

module.exports = { ended, kept, open, owners, theEvents }
