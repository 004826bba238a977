'use strict'

// Timers and clocks as they are when this file is loaded. Test frameworks replace the globals and stop the time, and
// calls that await an id must still get it. The timers are those of node:timers, because the globals of jsdom return
// numbers.

const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = require('node:timers')
const { performance } = require('node:perf_hooks')

/** Milliseconds since some time in the past. */
const elapsed = performance.now.bind(performance)

const settled = Promise.resolve()

/** Calls it as a microtask, which a replaced queueMicrotask would not. */
const soon = run => void settled.then(run)

module.exports = { Date, clearInterval, clearTimeout, elapsed, setImmediate, setInterval, setTimeout, soon }
