// Processes and worker_threads that share a source, and how they end.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Segments, metrics } from 'leafid'
import { alone, between } from './counter.mjs'
import { assertDistinct, directory, space, start } from './support.mjs'

const require = createRequire(import.meta.url)

/** Options of segments from a directory of the test's own: `{ source, options }`. */
function shared(more) {
  const options = { ...space(), create: true, adaptive: false, tags: { order: { step: 100 } }, ...more }
  return { source: `file:${join(options.stateDir, 'counters')}`, options }
}

/**
 * Whether what the last close kept can be used again. Where the machine takes too long for each write of the file, the
 * kernel's time of the write is not the one in it: then it cannot.
 */
function isUsable({ stateDir, name }) {
  const folder = join(stateDir, name)
  const file = join(folder, readdirSync(folder).find(file => file.endsWith('.mark')))
  const text = readFileSync(file, 'utf8')
  const [newest] = [0, 4096].map(at => JSON.parse(text.slice(at, at + 4096))).sort((a, b) => b.number - a.number)
  const late = Number(statSync(file, { bigint: true }).mtimeMs) - newest.kept.written_ms
  return late >= -10 && late <= 3
}

const HEAD = "const { Segments } = require('leafid'); const { source } = options; delete options.source; const ids = new Segments(source, options); const order = ids.tag('order');"

test('what is kept is used once, whichever way the process ends; a killed one keeps nothing', async t => {
  const { source, options } = shared({ keepUnused: true })
  const program = end => `${HEAD} order.take(5).then(async ids => { ids = [...ids, await order.next(), order.nextSync()]; console.log(ids.map(String).join()); ${end} })`
  const ends = { '': 0, 'process.exit(3)': 3, 'ids_.close()': 0, 'throw new Error("meant")': 1, 'setImmediate(() => process.exit())': 0 }
  const [all, usable] = [[], []]
  for (const [end, code] of Object.entries(ends)) {
    const ended = await start(t, program(end.replace('ids_', 'global.ids_')).replace('const ids =', 'const ids = global.ids_ ='), { ...options, source }).ended
    assert.equal(ended.code, code, ended.err)
    all.push(...ended.out.trim().split(',').map(BigInt))
    usable.push(isUsable(options))
  }
  const killed = await start(t, program('process.kill(process.pid, "SIGKILL")'), { ...options, source }).ended
  const last = killed.out.trim().split(',').map(BigInt)
  assertDistinct([...all, ...last])
  // The ids that were held for the thread, too, were kept: none of the first hundred is missing.
  if (usable.every(Boolean)) assert.equal([...all, ...last].filter(id => id > 100n).length, 0)
  const ids = new Segments(source, options)
  assert.ok((await ids.tag('order').next()) > 100n, 'what a killed process had is gone')
  ids.close()
})

/** A worker with `Segments` and what it was given. */
const worker = (program, workerData) =>
  new Worker(`const { Segments } = require(${JSON.stringify(require.resolve('leafid'))}); const { parentPort, workerData } = require('node:worker_threads'); ${program}`, { eval: true, workerData })

test('worker_threads have native sources each, and ids that differ', async () => {
  const { source, options } = shared()
  const program = `
    const ids = new Segments(workerData.source, workerData.options)
    const order = ids.tag('order')
    void async function () {
      const all = []
      for (let i = 0; i < 2000; i++) all.push(await order.next(), ...(await order.take(3)))
      parentPort.postMessage(all)
    }()`
  const workers = Array.from({ length: 3 }, () => worker(program, { source, options }))
  const sets = await Promise.all(workers.map(async worker => (await once(worker, 'message'))[0]))
  await Promise.all(workers.map(worker => (worker.threadId < 0 ? null : once(worker, 'exit'))))
  assert.equal(sets.flat().length, 24_000)
  assertDistinct(sets.flat())
})

test('a fetch function belongs to its thread; a worker that is terminated does no harm', async () => {
  const program = `
    let next = workerData.start
    const never = () => new Promise(() => {})
    const fetch = async (tag, step) => (tag === 'stuck' ? never() : { start: next, end: (next += step) })
    const ids = new Segments({ persist: false, name: workerData.name, step: 10, fetch })
    ids.tag('stuck').next().catch(() => {})
    void async function () {
      for (let i = 0; ; i++) {
        const id = await ids.tag('order').next()
        if (i === 500) parentPort.postMessage(id)
      }
    }()`
  const own = new Segments({ ...alone(), fetch: () => ({ start: 1, end: 1_000_000 }) })
  assert.equal(await own.tag('order').next(), 1n)
  for (let round = 0; round < 6; round++) {
    const workers = Array.from({ length: 3 }, (_, i) => worker(program, { name: `w${round}-${i}`, start: 1 + i * 1_000_000 }))
    const firsts = await Promise.all(workers.map(async worker => (await once(worker, 'message'))[0]))
    assert.deepEqual(firsts, [501n, 1_000_501n, 2_000_501n])
    await Promise.all(workers.map(worker => worker.terminate()))
    assert.equal(await own.tag('order').next(), BigInt(round + 2))
  }
  own.close()
})

test('a worker that ends keeps what it had, for the next', async () => {
  const { source, options } = shared({ keepUnused: true })
  const program = `
    const ids = new Segments(workerData.source, workerData.options)
    void async function () {
      const all = []
      for (let i = 0; i < 30; i++) all.push(await ids.tag('order').next())
      parentPort.postMessage(all)
    }()`
  const [all, usable] = [[], []]
  for (let round = 0; round < 3; round++) {
    const one = worker(program, { source, options })
    const exit = once(one, 'exit')
    all.push(...(await once(one, 'message'))[0])
    await exit
    usable.push(isUsable(options))
  }
  assertDistinct(all)
  assert.ok(all.every(id => id <= 200n) || !usable.every(Boolean), 'hardly more than was used has been fetched')
})

test('unreferenced segments are closed by the collector', async t => {
  const program = `
    const { Segments } = require('leafid')
    void async function () {
      let next = 1
      for (let i = 0; i < 300; i++) {
        await new Segments({ persist: false, fetch: (tag, step) => ({ start: next, end: (next += step) }) }).tag('order').take(10)
      }
      const { metrics } = require('leafid')
      const open = () => metrics().split('\\n').filter(line => line.startsWith('leafid_segment_left{')).length
      const before = open()
      while (open() > 5) {
        gc()
        await new Promise(done => setTimeout(done, 10))
      }
      console.log(before >= open())
    }()`
  const { ended } = start(t, '', null, { command: [process.execPath, '--expose-gc', '-e', program] })
  const { out, err, code } = await ended
  assert.equal(code, 0, err)
  assert.match(out, /^true/)
})

// V8 itself leaves its heap out of forked children, so none of them can be asked here: this is the net below that.
test('a forked child would issue nothing of what this thread has at hand', { skip: process.platform !== 'linux' }, async () => {
  const { GENERATION } = require(join(dirname(require.resolve('leafid')), 'lib/generation.js'))
  const ids = new Segments({ ...alone(), prefetch: 100, fetch: () => ({ start: 1, end: 1001 }) })
  const { next, nextSync, tryNext, stats } = ids.tag('order')
  for (let i = 1n; i <= 200n; i++) assert.equal(await next(), i)
  const held = 1000 - 200 - left(ids)
  assert.ok(held > 5, `${held} are held`)
  // What a child finds in that page.
  GENERATION[0] = 0
  assert.equal(nextSync(), 201n + BigInt(held))
  assert.ok(GENERATION[0] > 0)
  assert.deepEqual([tryNext(), await next(), stats().left], [202n + BigInt(held), 203n + BigInt(held), 1000 - 203 - held])
  ids.close()
  // The host's page, and this thread's.
  const wiped = readFileSync('/proc/self/smaps', 'utf8').split(/(?=^[0-9a-f]+-[0-9a-f]+ )/m).filter(map => /^VmFlags:.* wf\b/m.test(map))
  const kilobytes = wiped.reduce((sum, map) => sum + Number(map.match(/^Size: +(\d+) kB/m)[1]), 0)
  assert.ok(kilobytes >= 8, `${kilobytes} kB are wiped in children`)
})

/** Ids that the addon has at hand, those that this thread holds not counted. */
function left(ids) {
  const line = metrics().split('\n').find(line => line.startsWith('leafid_segment_left{') && line.includes(ids.name))
  return Number(line.split(' ')[1])
}
test('what is kept has no gaps: ids that a thread held are put back', async () => {
  const { source, options } = shared({ keepUnused: true })
  const [all, usable] = [[], []]
  while (all.length < 100) {
    const ids = new Segments(source, options)
    const { next, nextSync } = ids.tag('order')
    all.push(await next(), nextSync())
    ids.close()
    usable.push(all.length === 100 || isUsable(options))
  }
  assertDistinct(all)
  if (usable.every(Boolean)) assert.deepEqual(all.sort((a, b) => (a < b ? -1 : 1)), between(1, 100))
})
