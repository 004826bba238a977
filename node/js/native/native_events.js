'use strict'

// The events of leafid's threads for this thread: an opening has ended, a user callback must fetch a segment, waiting
// calls may have their ids. A user callback runs from the event loop only, never inside a call for ids: a transaction
// that the caller has open is not leafid's.

const native = require('./native.js')
const { waiting } = require('./tag_waits.js')
const { clearInterval, setInterval } = require('./time.js')
const { failure } = require('./user_calls.js')

/** An unknown tag. */
const NOTHING = Object.freeze({})

/** The segments with a user callback, by number; weakly, so that the garbage collector closes unused ones. */
const owners = new Map()

/** The actions of other threads for this one, by ticket. */
const underWay = new Map()

/** The open segments, weakly: `{ giveBack }`. */
const open = new Set()

/** The wake function's and the addon's end of this thread's events; made with the first use. */
let events

function theEvents() {
  if (!events) {
    events = native.listenEvents(serve)
    // The addon keeps or drops the unused ids of the runs, and closes by itself.
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

async function ask({ ticket, owner, tag, step, after }) {
  const userFetch = owners.get(owner)?.deref()?.userFetch
  let answer = { failed: 'the segments were closed' }
  if (userFetch) {
    try {
      answer = userFetch.read(tag, await userFetch.ask(tag, step, after)) ?? NOTHING
    } catch (error) {
      answer = failure(error)
      userFetch.failed(tag, error)
    }
  }
  native.answerFetch(events, ticket, answer)
}

/** Waits until the action of this ticket has ended. */
const ended = ticket => new Promise(done => underWay.set(ticket, done))

/** Keeps the process alive until the promise is settled: an action of another thread does not. */
async function kept(promise) {
  const alive = setInterval(() => {}, 2 ** 30)
  try {
    return await promise
  } finally {
    clearInterval(alive)
  }
}

module.exports = { ended, kept, open, owners, theEvents }
