// leafid/wasm in Node, Bun and Deno: files and locks that it shares with the native package.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs, { mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Snowflake as Native, decode } from 'leafid'
import { Snowflake } from 'leafid/wasm'
import { RUNTIMES, assertDistinct, here, issue } from './support.mjs'
import { record, space, vectors } from './node/support.mjs'

const timeout = 60_000
const IN_USE = 'ERR_LEAFID_WORKER_IN_USE'
const runtimes = Object.keys(RUNTIMES)
const max = ids => ids.reduce((most, id) => (id > most ? id : most))
const min = ids => ids.reduce((least, id) => (id < least ? id : least))

for (const runtime of runtimes) {
  test(`${runtime}: the vectors of all languages`, { timeout }, () => {
    const program = `
      import * as leafid from 'leafid/wasm'
      import * as publicIds from 'leafid/wasm/public-ids'
      import { checkPublicIds, checkVectors } from './vectors.mjs'
      import { readFileSync } from 'node:fs'
      const [snowflake, ids] = process.argv.slice(2, 4).map(path => JSON.parse(readFileSync(path, 'utf8')))
      new publicIds.PublicIds('env:LEAFID_TEST_KEY', 1, { 2: 'file:' + process.argv[4] })
      console.log(checkVectors(leafid, snowflake), checkPublicIds(publicIds, ids))`
    const file = join(here, `vectors-${runtime}.mjs`)
    writeFileSync(file, program)
    const [command, ...args] = RUNTIMES[runtime]
    const names = ['snowflake.json', 'public_ids.json']
    const [paths, key] = [names.map(name => join(process.env.LEAFID_ROOT, 'tests/vectors', name)), `${file}.key`]
    writeFileSync(key, '00'.repeat(32))
    const env = { ...process.env, LEAFID_TEST_KEY: '00'.repeat(16) }
    const said = execFileSync(command, [...args, file, ...paths, key], { cwd: here, encoding: 'utf8', env })
    said.split(' ').forEach((checked, at) => assert.ok(Number(checked) > vectors(names[at]).valid.length))
  })

  test(`${runtime}: a restart goes on above, after a close and after a kill`, { timeout }, async t => {
    const options = { ...space(), worker: 7 }
    const runs = []
    for (const kill of [false, true, false, true, false]) {
      const run = issue(t, runtime, { options, ms: kill ? 60_000 : 300 })
      assert.deepEqual(await run.opened, { workerId: 7 })
      while (kill && run.ids.length < 100) await new Promise(done => setTimeout(done, 5))
      if (kill) run.kill()
      await run.ended
      if (runs.length > 0) assert.ok(min(run.ids) > max(runs.at(-1)))
      runs.push(run.ids)
    }
    assertDistinct(...runs)
  })

  test(`${runtime}: it and the native package exclude each other`, { timeout }, async t => {
    const options = { ...space(), worker: 7 }
    const native = new Native(options)
    const ids = [...native.take(100)]
    assert.equal((await issue(t, runtime, { options }).opened).code, IN_USE)
    native.close()
    const run = issue(t, runtime, { options, ms: 60_000 })
    assert.deepEqual(await run.opened, { workerId: 7 })
    assert.throws(() => new Native(options), { code: IN_USE })
    // In another directory of this host, too.
    assert.throws(() => new Native({ ...options, stateDir: space().stateDir }), { code: IN_USE })
    run.kill()
    await run.ended
    const after = new Native(options)
    assertDistinct(ids, run.ids, [...after.take(100)])
    assert.equal(record(options, 7).worker_id, 7)
    after.close()
  })

  test(`${runtime}: a clock that was set back`, { timeout }, async t => {
    const options = { ...space(), worker: 7 }
    const runs = []
    for (const shiftMs of [0, -3000, -1000, -4000]) {
      const run = issue(t, runtime, { options, shiftMs })
      await run.ended
      runs.push(run.ids)
    }
    assertDistinct(...runs)
    const refused = await issue(t, runtime, { options, shiftMs: -60_000 }).opened
    assert.equal(refused.code, 'ERR_LEAFID_CLOCK_BACKWARDS')
  })

  test(`${runtime}: a clock that leaps ahead, while it runs and from its start on`, { timeout }, async t => {
    const options = { ...space(), worker: 7 }
    const DAY_MS = 86_400_000
    const runs = []
    // One that starts during a leap learns that from the record, here the native package's.
    for (const given of [{ package: 'leafid' }, { shiftMs: DAY_MS }, { leapMs: DAY_MS, ms: 3000 }, {}]) {
      const before = Date.now()
      const run = issue(t, given.package ? 'node' : runtime, { options, ...given })
      const { said } = await run.ended
      assert.equal(said.code, undefined, JSON.stringify(said))
      for (const id of run.ids) {
        const { timestampMs } = decode(id)
        assert.ok(timestampMs >= before - 5000 && timestampMs <= Date.now() + 5000, `${timestampMs} at ${Date.now()}`)
      }
      if (runs.length > 0) assert.ok(min(run.ids) > max(runs.at(-1)))
      runs.push(run.ids)
    }
    assertDistinct(...runs)
  })

  test(`${runtime}: a record that is replaced, damaged, or of another layout`, { timeout }, async t => {
    const options = { ...space(), worker: 7 }
    const file = join(options.stateDir, options.name, 'worker-7.state')
    const run = issue(t, runtime, { options, ms: 20_000 })
    await run.opened
    writeFileSync(`${file}.copy`, readFileSync(file))
    renameSync(`${file}.copy`, file)
    assert.equal((await run.ended).said.code, 'ERR_LEAFID_WORKER_LOST')
    const older = readFileSync(file)
    const next = issue(t, runtime, { options, ms: 20_000 })
    await next.opened
    writeFileSync(file, older)
    assert.equal((await next.ended).said.code, 'ERR_LEAFID_WORKER_LOST', 'restored in place')
    assert.equal((await issue(t, runtime, { options: { ...options, layout: 'yitter' } }).opened).code, 'ERR_LEAFID_STATE_MISMATCH')
    const before = readFileSync(file)
    const one = Uint8Array.from(before).fill(120, 0, 20)
    writeFileSync(file, one)
    const half = issue(t, runtime, { options })
    await half.ended
    assertDistinct(run.ids, next.ids, half.ids)
    writeFileSync(file, one.fill(120, 4096, 4120))
    assert.equal((await issue(t, runtime, { options }).opened).code, 'ERR_LEAFID_STATE_CORRUPT')
  })
}

test('processes of all runtimes and of the native package share a range', { timeout }, async t => {
  const options = { ...space(), worker: { first: 0, last: 15 }, exclusiveRange: true }
  const runs = []
  for (const runtime of [...runtimes, ...runtimes]) runs.push(issue(t, runtime, { options, ms: 60_000 }))
  for (let n = 0; n < 2; n++) runs.push(issue(t, 'node', { options, ms: 60_000, package: 'leafid' }))
  const workers = (await Promise.all(runs.map(run => run.opened))).map(({ workerId }) => workerId)
  assert.equal(new Set(workers).size, runs.length, workers.join())
  await new Promise(done => setTimeout(done, 1000))
  for (const run of runs) run.kill()
  await Promise.all(runs.map(run => run.ended))
  assertDistinct(...runs.map(run => run.ids))
})

test('what cannot be promised is refused, and says why', { timeout }, async t => {
  const options = { ...space(), worker: 7 }
  const none = mkdtempSync(join(options.stateDir, 'none-'))
  const refused = async (given, env) => (await issue(t, 'node', { options: { ...options, ...given } }, env).opened).message
  assert.match(await refused({}, { PATH: none }), /no file locks, and the program flock is missing: install util-linux/)
  writeFileSync(join(none, 'flock'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  assert.match(await refused({}, { PATH: none }), /granted twice: the locks of this file system do not work/)
  assert.match(await refused({ worker: '0-3' }, { KUBERNETES_SERVICE_HOST: 'x' }), /worker is a range, and KUBERNETES/)
  assert.match(await refused({ worker: '0-3', persist: false }), /persist is false; allowed: true with a range/)
  writeFileSync(join(none, 'nfs.mjs'), `
    import fs from 'node:fs'
    const { readFileSync } = fs
    fs.readFileSync = (path, ...more) =>
      path === '/proc/self/mountinfo' ? '1 0 0:1 / / rw - nfs4 host:/ rw' : readFileSync(path, ...more)`)
  const onNfs = { NODE_OPTIONS: `--import ${join(none, 'nfs.mjs')}` }
  assert.match(await refused({}, onNfs), /is on nfs4, a network file system, .* set sharedFs: true/)
  const allowed = issue(t, 'node', { options: { ...options, sharedFs: true } }, onNfs)
  assert.deepEqual(await allowed.opened, { workerId: 7 })
  await allowed.ended
  assert.match(await refused({ storage: {} }), /storage is set; allowed: nothing in Node/)
  assert.match(await refused({ caFile: 'x' }), /caFile is 'x'; allowed: nothing in leafid\/wasm/)
})

test('without a record it holds the lock of the host', { timeout }, async t => {
  const options = { name: space().name, worker: 7, persist: false }
  const run = issue(t, 'node', { options, ms: 60_000 })
  assert.deepEqual(await run.opened, { workerId: 7 })
  assert.throws(() => new Native(options), { code: IN_USE })
  assert.equal((await issue(t, 'node', { options }).opened).code, IN_USE)
  run.kill()
  await run.ended
  new Native(options).close()
  // The file is removed between its opening and its lock, each time: another process may have locked a new one. With a
  // record, too, this is an error.
  const first = mkdtempSync(join(space().stateDir, 'bin-'))
  const flock = execFileSync('sh', ['-c', 'command -v flock'], { encoding: 'utf8' }).trim()
  const program = `#!/bin/sh\n/bin/rm "/run/lock/leafid-${options.name}-7.lock"\nexec ${flock} "$@"\n`
  writeFileSync(join(first, 'flock'), program, { mode: 0o755 })
  for (const given of [options, { ...options, ...space(), name: options.name, persist: true }]) {
    const { code, message } = await issue(t, 'node', { options: given }, { PATH: first }).opened
    assert.equal(code, 'ERR_LEAFID_STATE_IO', message)
    assert.match(message, /worker id 7 cannot be locked: no lock file .*other processes make and remove it all the time/)
  }
})

/** Replaces a function of `fs` for lock files of the host; `replaced` gets the original one and the path. */
const replace = (t, name, replaced) => {
  const original = fs[name]
  const isLock = file => String(file).endsWith('.lock')
  t.mock.method(fs, name, (file, ...more) => (isLock(file) ? replaced(original, file) : original(file, ...more)))
}

test('the lock of the host is not skipped when its file was removed meanwhile, or it cannot be made now', { timeout }, async t => {
  const options = { ...space(), worker: 7 }
  const elsewhere = { ...options, stateDir: space().stateDir }
  let removed = 0
  replace(t, 'existsSync', (exists, file) => removed++ === 0 || exists(file))
  const flake = new Snowflake(options)
  assert.ok(removed > 1)
  assert.throws(() => new Native(elsewhere), { code: IN_USE })
  flake.close()
  let code = 'ENOSPC'
  replace(t, 'lstatSync', () => {
    throw Object.assign(new Error(`${code}: no lock now`), { code })
  })
  const refused = { code: 'ERR_LEAFID_STATE_IO', message: /worker id 7 cannot be locked: no lock file .*ENOSPC: no lock now/ }
  assert.throws(() => new Snowflake(options), refused)
  code = 'EACCES'
  new Snowflake(options).close()
})

test('a lock file of another user stays, and its lock is released', { timeout }, t => {
  const options = { ...space(), worker: 7 }
  replace(t, 'rmSync', () => {
    throw Object.assign(new Error('EPERM'), { code: 'EPERM' })
  })
  new Snowflake(options).close()
  t.mock.restoreAll()
  new Native(options).close()
})

test('an opening that fails keeps no lock of the host', { timeout }, t => {
  const options = { ...space(), worker: 7 }
  const { openSync } = fs
  t.mock.method(fs, 'openSync', (file, ...more) => {
    if (String(file).endsWith('.state')) throw new Error('not now')
    return openSync(file, ...more)
  })
  assert.throws(() => new Snowflake(options), { code: 'ERR_LEAFID_STATE_IO' })
  t.mock.restoreAll()
  new Native({ ...options, stateDir: space().stateDir }).close()
})

test('a lazy one holds its worker id once, whatever asks for it first', { timeout }, async () => {
  const options = { ...space(), worker: 7 }
  const flake = new Snowflake({ ...options, lazy: true })
  const ready = flake.ready()
  flake.next()
  await ready
  assert.equal(flake.stats().handles, 1)
  flake.close()
  new Native(options).close()
})
