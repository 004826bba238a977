// The agent in Node: ../../system/subjects.py lists its commands. Where the JavaScript thread may not wait, it asks again.

import { writeSync } from 'node:fs'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

const require = createRequire(fileURLToPath(new URL('../../../build/node/', import.meta.url)))
const { LeafidError, Segments, Snowflake } = require('leafid')

const BATCH = 512
const OF_BOTH = {
  name: ['name', String],
  dir: ['stateDir', String],
  token: ['token', String],
  timeout_ms: ['timeoutMs', Number],
  request_timeout_ms: ['requestTimeoutMs', Number],
  connect_timeout_ms: ['connectTimeoutMs', Number],
}
const OF_SNOWFLAKES = {
  worker: ['worker', String],
  ca_file: ['caFile', String],
  max_backwards_ms: ['maxBackwardsMs', Number],
  random_start: ['randomStart', Number],
  on_clock_backwards: ['onClockBackwards', String],
}
const OF_SEGMENTS = {
  step: ['step', Number],
  connections: ['connections', Number],
  block_size: ['blockSize', Number],
}

const read = words => Object.fromEntries(words.map(word => word.split(/=(.*)/s, 2)))

function chosen(given, kinds) {
  const options = {}
  for (const [key, [name, kind]] of Object.entries({ ...OF_BOTH, ...kinds }))
    if (key in given) options[name] = kind(given[key])
  return options
}

// Of all openings: as a database, it continues.
const ends = new Map()

/** A source that gives each tag what comes next. */
function counting(delayMs) {
  return async (tag, step) => {
    await sleep(delayMs)
    const start = ends.get(tag) ?? 1
    ends.set(tag, start + Number(step))
    return { start: BigInt(start), end: BigInt(start + Number(step)) }
  }
}

function openSegments(given) {
  const options = { ...chosen(given, OF_SEGMENTS), adaptive: given.adaptive !== 'no' }
  if ('keep' in given) options.keepUnused = true
  if (!('servers' in given)) return new Segments({ ...options, fetch: counting(Number(given.delay_ms ?? 0)) })
  if ('create' in given) options.create = true
  if (!given.servers.startsWith('file:')) options.protocol = given.protocol ?? 'range'
  if ('tags' in given) {
    const listed = given.tags.split(',').map(tag => tag.split(':'))
    options.tags = Object.fromEntries(listed.map(([name, start, step]) => [name, { start: +start, step: +step }]))
  }
  return new Segments(given.servers.split(','), options)
}

/** A snowflake where a worker is given, otherwise segments; of both, without a wait. */
const openNow = given => ('worker' in given ? new Snowflake(chosen(given, OF_SNOWFLAKES)) : openSegments(given))
const open = async given => ('worker' in given ? Snowflake.open(chosen(given, OF_SNOWFLAKES)) : openSegments(given))

const micros = begun => Math.round((performance.now() - begun) * 1000)
const wouldBlock = error => error.code === 'ERR_LEAFID_WOULD_BLOCK'
const told = error => `${error.code.replace('ERR_LEAFID_', '').toLowerCase()}: ${error.message}`

/** An id, asked for again while the thread may not wait for it. */
async function patiently(source) {
  for (;;) {
    try {
      return await source.next()
    } catch (error) {
      if (!wouldBlock(error)) throw error
      await sleep(1)
    }
  }
}

async function many(count, one) {
  const ids = []
  while (ids.length < count) ids.push(await one())
  return ids
}

async function run(source, milliseconds, pauseMs) {
  const ids = []
  let slowest = 0
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    const begun = performance.now()
    ids.push(await patiently(source))
    slowest = Math.max(slowest, micros(begun))
    await sleep(pauseMs)
  }
  const rising = ids.every((id, i) => i === 0 || ids[i - 1] < id)
  return `${ids.length} ${slowest} ${ids[0]} ${ids.at(-1)} ${rising}`
}

async function openAndClose(count, given) {
  let [last, rising] = [0n, true]
  for (let i = 0; i < count; i++) {
    const handle = openNow(given)
    const id = 'worker' in given ? handle.next() : await handle.tag('order').next()
    handle.close()
    rising &&= id > last
    last = id
    // Finalizers run between tasks, of which those of segments are many.
    if (i % 100 === 0) await ('worker' in given ? sleep(0) : globalThis.gc())
  }
  await collected()
  return `${count} ${rising}`
}

const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { Snowflake } = require(workerData.leafid)
  const flake = new Snowflake(workerData.options)
  flake.next()
  parentPort.postMessage(flake.take(10)[9])
  if (workerData.exits) process.exit(0)`

/** Worker threads one after another; each opens, makes ids and ends without a close, every other by process.exit. */
async function workers(count, given) {
  let [last, rising, told] = [0n, true, 0]
  for (let i = 0; i < count; i++) {
    const workerData = { leafid: require.resolve('leafid'), options: given, exits: i % 2 === 1 }
    const worker = new Worker(WORKER, { eval: true, workerData })
    worker.on('message', id => {
      rising &&= id > last
      last = id
      told++
    })
    await once(worker, 'exit')
  }
  await collected()
  return `${told} ${rising} ${last}`
}

async function collected() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await sleep(10)
  }
}

// By handle; of segments, the tags that were asked for.
const handles = new Map()
const tags = new Map()

/** The snowflake or the tag that the words begin with, and the words behind it. */
function sourceOf([handle, ...rest]) {
  if (handles.get(handle) instanceof Snowflake) return [handles.get(handle), rest]
  const [name, ...more] = rest
  if (!tags.get(handle).has(name)) tags.get(handle).set(name, handles.get(handle).tag(name))
  return [tags.get(handle).get(name), more]
}

function toldStats(stats) {
  if ('renewals' in stats)
    return `${stats.reservedUntilMs} ${stats.leadMs} ${stats.renewals} ${stats.renewalFailures}`
  return `${stats.left} ${stats.fetches} ${stats.failures} ${stats.waits} ${stats.step} ${stats.lastError ?? ''}`
}

async function obey([command, ...words]) {
  const [handle, ...options] = words
  switch (command) {
    case 'open':
      handles.set(handle, await open(read(options)))
      tags.set(handle, new Map())
      return handles.get(handle).workerId ?? ''
    case 'close':
      handles.get(handle).close()
      return ''
    case 'rounds':
      return openAndClose(Number(handle), read(options))
    case 'workers':
      return workers(Number(handle), chosen(read(options), OF_SNOWFLAKES))
    case 'end':
      return end(handle)
  }
  const [source, rest] = sourceOf(words)
  const count = Number(rest[0] ?? 1)
  switch (command) {
    case 'next':
      return (await many(count, () => source.next())).join(' ')
    case 'take':
      return (await source.take(count)).join(' ')
    case 'run':
      return run(source, count, Math.max(Number(rest[1] ?? 1000) / 1000, 1))
    case 'stats':
      return toldStats(source.stats())
  }
  throw new Error(`unknown command ${command}`)
}

/** Ends the process with all generators as they are; `collect` only lets go of them. */
async function end(how) {
  if (how === 'exit') process.exit(0)
  if (how === 'abort') process.abort()
  if (how === 'throw') setImmediate(() => { throw new Error('meant to be') })
  if (how === 'reject') Promise.reject(new Error('meant to be'))
  if (how === 'collect') {
    handles.clear()
    await collected()
  }
  return ''
}

async function serve() {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'quit') break
    const begun = performance.now()
    try {
      const answer = await obey(line.split(' '))
      process.stdout.write(`ok ${micros(begun)} ${answer}\n`)
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      process.stdout.write(`err ${micros(begun)} ${told(error)}\n`)
    }
  }
}

function put(ids) {
  const bytes = Buffer.from(BigInt64Array.from(ids).buffer)
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
}

/** Of segments. */
async function stream(given) {
  const segments = await open(given)
  const tag = segments.tag(given.tag ?? 'order')
  put([await tag.next()])
  process.stderr.write('ready\n')
  const batch = Math.min(Number(given.batch ?? BATCH), BATCH)
  for (let left = Number(given.count ?? 0) || Infinity; left > 0; ) {
    const n = Math.min(batch, left)
    put(given.method === 'take' || given.method === 'fill' ? await tag.take(n) : await many(n, () => tag.next()))
    left -= n
    if (given.pause_us) await sleep(Number(given.pause_us) / 1000)
  }
  if ((given.then ?? 'wait') === 'wait') await sleep(1e8)
  segments.close()
}

const given = read(process.argv.slice(3))
if (process.argv[2] === 'stream') {
  await stream(given).catch(error => {
    process.stderr.write(`error ${error instanceof LeafidError ? told(error) : error.stack}\n`)
    process.exit(3)
  })
} else if (process.argv[2] === 'chaos') await import('./chaos.mjs')
else await serve()
// Open input keeps the process.
process.stdin.destroy()
