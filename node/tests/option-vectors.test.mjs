// tests/vectors/options.json: which values of options and of the environment are refused, as in every language.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Segments, Snowflake } from 'leafid'
import { wasm } from './counter.mjs'
import { space, vectors } from './support.mjs'

const { options, unknown, environment } = vectors('options.json')
const camel = name => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
/** leafid/wasm on a server keeps no files. */
const base = () => (wasm ? { name: space().name, persist: false } : space())
/** What leafid/wasm refuses whatever the value is, or takes only false of: with texts of its own. */
const NATIVE = new Set(['ca_file', 'tags', 'create', 'state_dir', 'shared_fs', 'shared_group', 'keep_unused', 'persist'])

function opened({ of, option, with: besides = {} }, value) {
  const more = Object.fromEntries(Object.entries(besides).map(([name, value]) => [camel(name), value]))
  const given = { ...base(), ...more, [camel(option)]: value }
  if (of === 'snowflake') return new Snowflake({ worker: 7, lazy: true, ...given })
  if (option === 'fetch') return new Segments(given)
  const { servers = 'http://127.0.0.1:1', ...others } = given
  return new Segments(servers, others)
}

function refusal(open) {
  try {
    open().close()
  } catch (error) {
    return error
  }
  return undefined
}

function assertRefused(error, begins, what) {
  assert.ok(error, `${what} is taken`)
  assert.equal(error.code, 'ERR_LEAFID_INVALID_ARGUMENT', `${what}: ${inspect(error)}`)
  assert.ok(error.message.startsWith(begins) && error.message.includes('; allowed: '), `${what}: ${error.message}`)
}

test('every option takes and refuses what the vector says', () => {
  for (const row of options.filter(({ option }) => !(wasm && NATIVE.has(option)))) {
    for (const value of row.bad) {
      // fetch drops the headers that it sets itself.
      if (wasm && value?.Host) continue
      const what = `${row.of} ${row.option}: ${inspect(value)}`
      assertRefused(refusal(() => opened(row, value)), row.message ?? `${camel(row.option)} is `, what)
    }
    for (const value of row.good) {
      // Without a record no id may run ahead of the clock.
      if (wasm && value === 'borrow') continue
      const error = refusal(() => opened(row, value))
      assert.equal(error, undefined, `${row.of} ${row.option}: ${inspect(value)}: ${error}`)
    }
  }
})

/** What no JSON has, and the options that take some of it. */
const STRANGE = [NaN, Infinity, 2 ** 64, 7n, Symbol('s'), () => 1]
const TAKEN = { worker: 'function', peer_times: 'function', fetch: 'function', start_after: 'bigint' }

test('what only JavaScript has is refused by every other option', () => {
  for (const row of options.filter(({ option }) => !(wasm && NATIVE.has(option)))) {
    for (const value of STRANGE.filter(value => typeof value !== TAKEN[row.option])) {
      assertRefused(refusal(() => opened(row, value)), `${camel(row.option)} is `, `${row.of} ${row.option}: ${String(value)}`)
    }
  }
})

test('an unknown option is answered with the one that is meant', () => {
  for (const { of, name, called, nearest } of unknown) {
    const [what, meant] = called ? ['; here it is ', camel(called)] : nearest ? ['; the nearest is ', camel(nearest)] : ['', '']
    for (const given of [name, camel(name)]) {
      const open = () => (of === 'snowflake' ? new Snowflake({ [given]: 1 }) : new Segments('http://127.0.0.1:1', { [given]: 1 }))
      assertRefused(refusal(open), `"${given}" is an unknown option${what}${meant}; allowed: `, given)
    }
  }
})

test('every variable takes and refuses what the vector says', t => {
  for (const { variable, bad, good } of environment) {
    // Without files these mean nothing.
    if (wasm && variable !== 'LEAFID_WORKER' && variable !== 'LEAFID_NO_RECORD_WAIT_MS') continue
    const before = process.env[variable]
    t.after(() => (before === undefined ? delete process.env[variable] : (process.env[variable] = before)))
    const open = value => {
      process.env[variable] = value
      const { worker, stateDir, ...others } = { worker: 7, lazy: true, ...base() }
      if (variable !== 'LEAFID_WORKER') others.worker = worker
      if (variable !== 'LEAFID_STATE_DIR' && stateDir) others.stateDir = stateDir
      return new Snowflake(others)
    }
    for (const value of bad) {
      // leafid/wasm takes an empty variable for none.
      if (wasm && value === '') continue
      assertRefused(refusal(() => open(value)), `${variable} is `, `${variable}=${value}`)
    }
    for (const value of good) assert.equal(refusal(() => open(value)), undefined, `${variable}=${value}`)
    delete process.env[variable]
  }
})
