'use strict'

// The addon for this platform: `leafid.<platform>-<arch>[-<libc>].node` beside package.json.

const { readdirSync } = require('node:fs')
const { join } = require('node:path')

const folder = join(__dirname, '..')

/** The names the addon may have here; where two C libraries are possible the one that loads is the right one. */
function candidates() {
  const base = `leafid.${process.platform}-${process.arch}`
  return process.platform === 'linux' ? [`${base}-gnu.node`, `${base}-musl.node`] : [`${base}.node`]
}

function load() {
  const present = readdirSync(folder).filter(file => file.endsWith('.node'))
  const reasons = []
  for (const file of candidates().filter(file => present.includes(file))) {
    try {
      return require(join(folder, file))
    } catch (error) {
      reasons.push(error.message)
    }
  }
  const found = present.join(', ') || 'none'
  const error = new Error(
    `leafid has no addon that loads here (wanted ${candidates().join(' or ')}, found ${found}): ` +
      `${reasons.join('; ') || 'it was packed on another platform'}. Build it on this one with \`make node-package\`.`,
  )
  error.code = 'ERR_LEAFID_INTERNAL'
  throw error
}

module.exports = load()
