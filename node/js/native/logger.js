'use strict'

const { guarded } = require('./guard.js')
const native = require('./native.js')
const { refuse } = require('./refuse.js')

const LEVELS = ['error', 'warn', 'info', 'debug']

function setLogger(callback, level = 'info') {
  if (callback !== null && callback !== undefined && typeof callback !== 'function') {
    refuse('callback', callback, 'a function, or null to turn it off')
  }
  if (!LEVELS.includes(level)) refuse('level', level, LEVELS.map(name => `'${name}'`).join(', '))
  guarded(() => native.setLogger(callback ?? null, level))
}

module.exports = { setLogger }
