'use strict'

// Timers and clocks as they are when this is loaded. Test frameworks replace the globals, and time stands still then; who
// awaits an id has it all the same. The module's timers, for the globals of jsdom answer numbers.

const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = require('node:timers')
const { performance } = require('node:perf_hooks')

/** Milliseconds since some time in the past. */
const now = performance.now.bind(performance)

const settled = Promise.resolve()

/** Calls it as a microtask, which a replaced queueMicrotask would not. */
const soon = run => void settled.then(run)

module.exports = { Date, clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout, soon }
