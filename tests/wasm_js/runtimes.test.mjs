// leafid/wasm in Node, Bun and Deno, where it keeps no files; and the native package in all three, which does.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { decode } from 'leafid'
import { Segments, Snowflake } from 'leafid/wasm'
import { RUNTIMES, assertDistinct, here, issue } from './support.mjs'
import { space, thrown, vectors } from './node/support.mjs'

const IN_USE = 'ERR_LEAFID_WORKER_IN_USE'
const runtimes = Object.keys(RUNTIMES)
const max = ids => ids.reduce((most, id) => (id > most ? id : most))
const min = ids => ids.reduce((least, id) => (id < least ? id : least))
/** One number, of an id space of its own. */
const number = () => ({ name: space().name, worker: 7, persist: false })

/** Runs a program of this folder in a runtime: what it says. */
function said(runtime, name, program, args = [], env = {}) {
  const file = join(here, `${name}-${runtime}.mjs`)
  writeFileSync(file, program)
  const [command, ...before] = RUNTIMES[runtime]
  return execFileSync(command, [...before, file, ...args], { cwd: here, encoding: 'utf8', env: { ...process.env, ...env } })
}

for (const runtime of runtimes) {
  test(`${runtime}: the vectors of all languages`, () => {
    const program = `
      import * as leafid from 'leafid/wasm'
      import * as publicIds from 'leafid/wasm/public-ids'
      import { checkPublicIds, checkVectors } from './node/vectors.mjs'
      import { readFileSync } from 'node:fs'
      const [snowflake, ids] = process.argv.slice(2, 4).map(path => JSON.parse(readFileSync(path, 'utf8')))
      new publicIds.PublicIds('env:LEAFID_TEST_KEY', 1, { 2: 'file:' + process.argv[4] })
      console.log(checkVectors(leafid, snowflake), checkPublicIds(publicIds, ids))`
    const names = ['snowflake.json', 'public_ids.json']
    const [paths, key] = [names.map(name => join(process.env.LEAFID_ROOT, 'tests/vectors', name)), join(here, `${runtime}.key`)]
    writeFileSync(key, '00'.repeat(32))
    const counts = said(runtime, 'vectors', program, [...paths, key], { LEAFID_TEST_KEY: '00'.repeat(16) }).split(' ')
    counts.forEach((checked, at) => assert.ok(Number(checked) > vectors(names[at]).valid.length))
  })

  test(`${runtime}: the native package: records outlive a kill, and processes share a range`, async t => {
    const options = { ...space(), worker: { first: 0, last: 3 }, exclusiveRange: true }
    const runs = []
    for (let round = 0; round < 2; round++) {
      const both = [1, 2].map(() => issue(t, runtime, { options, ms: 60_000, package: 'leafid' }))
      const workers = (await Promise.all(both.map(run => run.opened))).map(({ workerId }) => workerId)
      assert.equal(new Set(workers).size, 2, JSON.stringify(await both[0].opened))
      for (const run of both) {
        while (run.ids.length < 100) await new Promise(done => setTimeout(done, 5))
        run.kill()
        await run.ended
        runs.push(run.ids)
      }
    }
    assertDistinct(...runs)
  })

  test(`${runtime}: without a record one process of the host has a number, and the next goes on above`, async t => {
    const options = number()
    const runs = []
    for (const kill of [false, true, false]) {
      const run = issue(t, runtime, { options, ms: kill ? 60_000 : 300 })
      assert.deepEqual(await run.opened, { workerId: 7 })
      if (kill) {
        const { code, message } = await issue(t, runtime, { options }).opened
        assert.equal(code, IN_USE)
        assert.match(message, /worker id 7 of ".*" is held by another process or thread of this host/)
        while (run.ids.length < 100) await new Promise(done => setTimeout(done, 5))
        run.kill()
      }
      await run.ended
      if (runs.length > 0) assert.ok(min(run.ids) > max(runs.at(-1)))
      runs.push(run.ids)
    }
    assertDistinct(...runs)
  })

  test(`${runtime}: two threads, and two copies of the package, have no number twice`, () => {
    const copy = join(here, 'copy/node_modules/leafid')
    mkdirSync(copy, { recursive: true })
    cpSync(join(here, 'node_modules/leafid'), copy, { recursive: true })
    const program = `
      import { Worker, isMainThread, parentPort } from 'node:worker_threads'
      import { Snowflake } from 'leafid/wasm'
      import { Snowflake as Copy } from './copy/node_modules/leafid/wasm/node.js'
      const options = ${JSON.stringify(number())}
      const tried = Class => {
        try {
          return new Class(options)
        } catch ({ code }) {
          return { code }
        }
      }
      if (isMainThread) {
        const flake = new Snowflake(options)
        const inThread = () => new Promise(done => new Worker(new URL(import.meta.url)).on('message', done))
        const codes = [await inThread(), tried(Copy).code]
        flake.close()
        const next = new Copy(options)
        codes.push(tried(Snowflake).code)
        next.close()
        console.log([...codes, await inThread()].join(' '))
        process.exit()
      }
      parentPort.postMessage(tried(Snowflake).code ?? 'opened')`
    assert.equal(said(runtime, 'threads', program), `${IN_USE} ${IN_USE} ${IN_USE} opened\n`)
  })

  test(`${runtime}: nothing keeps the process, and its end frees the number`, () => {
    const program = `
      import { Snowflake } from 'leafid/wasm'
      new Snowflake(${JSON.stringify(number())}).next()
      console.log('opened')`
    for (let n = 0; n < 2; n++) assert.equal(said(runtime, 'end', program), 'opened\n')
  })

  test(`${runtime}: what needs files is refused, and says what to do`, () => {
    const program = `
      import { Segments, Snowflake } from 'leafid/wasm'
      const lease = { claim: () => null, renew() {}, release() {} }
      const fetch = () => null
      const given = [
        { worker: '0-3' }, { worker: '0-3', exclusiveRange: true, lazy: true },
        { worker: 7 }, { worker: () => 7 }, { worker: 7, persist: false, stateDir: 'x' }, { worker: lease, stateDir: 'x' },
        { worker: 7, persist: false, storage: {} },
      ].map(options => () => new Snowflake(options))
      given.push(() => new Segments({ fetch }), () => new Segments({ fetch, stateDir: 'x' }), () => new Segments('http://127.0.0.1:9'))
      for (const call of given) {
        try {
          call()
          console.log('opened')
        } catch ({ code, message }) {
          console.log(code + ' ' + message)
        }
      }`
    const lines = said(runtime, 'refused', program).trim().split('\n')
    assert.equal(lines.length, 10)
    const name = { node: 'Node', bun: 'Bun', deno: 'Deno' }[runtime]
    const sentence = new RegExp(`^ERR_LEAFID_INVALID_ARGUMENT .*, but leafid/wasm keeps no files in ${name}: use the native package: import leafid, without /wasm; or `)
    for (const line of lines) assert.match(line, sentence)
  })

  test(`${runtime}: a clock that leaps ahead while it runs`, async t => {
    const DAY_MS = 86_400_000
    const before = Date.now()
    const run = issue(t, runtime, { options: number(), leapMs: DAY_MS, ms: 3000 })
    const { said } = await run.ended
    assert.equal(said.code, undefined, JSON.stringify(said))
    assertDistinct(run.ids)
    for (const id of run.ids) {
      const { timestampMs } = decode(id)
      assert.ok(timestampMs >= before - 5000 && timestampMs <= Date.now() + 5000, `${timestampMs} at ${Date.now()}`)
    }
  })
}

test('leafid/wasm/snowflake has the names of leafid/wasm but Segments, and there is one module for both', () => {
  const names = `
    const [whole, part] = [await import('leafid/wasm'), await import('leafid/wasm/snowflake')]
    const other = Object.keys(whole).filter(name => whole[name] !== part[name])
    console.log(other.join(), Object.keys(part).length - Object.keys(whole).length)`
  assert.equal(said('node', 'names', names), 'Segments -1\n')
  const partFirst = `
    const { Snowflake } = await import('leafid/wasm/snowflake')
    const { message } = await import('leafid/wasm').catch(error => error)
    console.log(message)
    new Snowflake({ worker: 7, persist: false, name: process.argv[2] }).next()`
  const message = 'leafid/wasm/snowflake was loaded before leafid/wasm: import leafid/wasm alone\n'
  assert.equal(said('node', 'part-first', partFirst, [space().name]), message)
})

test('other options that need files, or a name of the host, are refused', () => {
  const message = call => thrown(call).message
  const flake = more => () => new Snowflake({ ...number(), ...more })
  assert.match(message(flake({ worker: 'hostname:orders' })), /worker is 'hostname:orders'; allowed: a number, or a lease; .* import leafid, without \/wasm/)
  for (const option of ['sharedFs', 'sharedGroup']) {
    assert.match(message(flake({ [option]: true })), /is true; allowed: nothing in leafid\/wasm: it keeps no files/)
    assert.match(message(() => new Segments({ fetch() {}, persist: false, [option]: true })), /it keeps no files/)
  }
  assert.match(message(flake({ caFile: 'x' })), /caFile is 'x'; allowed: nothing in leafid\/wasm/)
})

test('where nothing can be locked, a number is refused, and a lease is not', async t => {
  const net = await import('node:net')
  // As in a sandbox, and on macOS.
  t.mock.method(net.default.Server.prototype, 'listen', function () {
    return this
  })
  const refused = { code: 'ERR_LEAFID_INVALID_ARGUMENT', message: /another process may have worker id 7: it cannot be locked here, .*import leafid/ }
  assert.throws(() => new Snowflake(number()), refused)
  const lease = { workerId: 7, fromMs: Date.now(), untilMs: Date.now() + 60_000 }
  const flake = new Snowflake({ name: space().name, worker: { claim: () => lease, renew: () => null, release() {} } })
  assert.equal(decode(flake.next()).workerId, 7)
  flake.close()
})

test('a lease whose worker id is held here is refused, and goes back', () => {
  const options = number()
  const flake = new Snowflake(options)
  const released = []
  const claim = () => ({ workerId: 7, fromMs: Date.now(), untilMs: Date.now() + 60_000 })
  const worker = { claim, renew: () => null, release: lease => void released.push(lease.workerId) }
  assert.throws(() => new Snowflake({ ...options, worker }), { code: IN_USE })
  assert.deepEqual(released, [7])
  flake.close()
})

test('a lazy one holds its worker id once, whatever asks for it first', async () => {
  const options = number()
  const flake = new Snowflake({ ...options, lazy: true })
  const ready = flake.ready()
  flake.next()
  await ready
  assert.equal(flake.stats().handles, 1)
  flake.close()
  new Snowflake(options).close()
})
