// The subject of the system tests in Node: `agent.mjs serve`, with the protocol of the Rust one in rust/src/serve.rs.
// Where the JavaScript thread may not wait, `run` and `pace` ask again. `agent.mjs lessee key=value…` does what
// rust/src/lessee.rs tells.

import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

const require = createRequire(fileURLToPath(new URL('../../build/node/', import.meta.url)))
const { LeafidError, Snowflake } = require('leafid')

const NUMBERS = {
  timeout_ms: 'timeoutMs',
  max_backwards_ms: 'maxBackwardsMs',
  random_start: 'randomStart',
  request_timeout_ms: 'requestTimeoutMs',
  connect_timeout_ms: 'connectTimeoutMs',
}
const TEXTS = {
  worker: 'worker',
  name: 'name',
  dir: 'stateDir',
  on_clock_backwards: 'onClockBackwards',
  token: 'token',
  ca_file: 'caFile',
}

function options(words) {
  const given = { worker: '0' }
  for (const word of words) {
    const [key, value] = word.split('=')
    if (key in TEXTS) given[TEXTS[key]] = value
    if (key in NUMBERS) given[NUMBERS[key]] = Number(value)
  }
  return given
}

const micros = begun => Math.round((performance.now() - begun) * 1000)
const wouldBlock = error => error.code === 'ERR_LEAFID_WOULD_BLOCK'

/** An id, asked for again while the thread may not wait for it. */
async function patiently(flake) {
  for (;;) {
    try {
      return flake.next()
    } catch (error) {
      if (!wouldBlock(error)) throw error
      await sleep(1)
    }
  }
}

async function run(flake, milliseconds, pauseMs) {
  const ids = []
  let slowest = 0
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    const begun = performance.now()
    ids.push(await patiently(flake))
    slowest = Math.max(slowest, micros(begun))
    await sleep(pauseMs)
  }
  const rising = ids.every((id, i) => i === 0 || ids[i - 1] < id)
  return `${ids.length} ${slowest} ${ids[0]} ${ids.at(-1)} ${rising}`
}

function pace(flake, count) {
  let [first, last, rising, slowest, again] = [0n, 0n, true, 0, 0]
  const begun = performance.now()
  let before = begun
  for (let made = 0; made < count; ) {
    try {
      const id = flake.next()
      const now = performance.now()
      if (now - before > slowest) slowest = now - before
      before = now
      rising &&= id > last
      last = id
      if (made++ === 0) first = id
    } catch (error) {
      if (!wouldBlock(error)) throw error
      again++
    }
  }
  const took = performance.now() - begun
  let gap = 0
  const loop = performance.now()
  for (before = loop; before - loop < took; ) {
    const now = performance.now()
    if (now - before > gap) gap = now - before
    before = now
  }
  const [tookUs, slowestUs, gapUs] = [took, slowest, gap].map(ms => Math.round(ms * 1000))
  return `${tookUs} ${slowestUs} ${gapUs} ${first} ${last} ${again} ${rising}`
}

async function openAndClose(count, given) {
  let [last, rising] = [0n, true]
  for (let i = 0; i < count; i++) {
    const flake = new Snowflake(given)
    const id = flake.next()
    flake.close()
    rising &&= id > last
    last = id
    // Finalizers run between tasks.
    if (i % 100 === 0) await sleep(0)
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

async function obey(flakes, [command, handle, ...rest]) {
  const flake = flakes.get(handle)
  switch (command) {
    case 'open':
      flakes.set(handle, await Snowflake.open(options(rest)))
      return flakes.get(handle).workerId
    case 'next':
      return Array.from({ length: Number(rest[0] ?? 1) }, () => flake.next()).join(' ')
    case 'run':
      return run(flake, Number(rest[0]), Math.max(Number(rest[1] ?? 1000) / 1000, 1))
    case 'pace':
      return pace(flake, Number(rest[0]))
    case 'rounds':
      return openAndClose(Number(handle), options(rest))
    case 'workers':
      return workers(Number(handle), options(rest))
    case 'stats': {
      const { reservedUntilMs, leadMs, renewals, renewalFailures } = flake.stats()
      return `${reservedUntilMs} ${leadMs} ${renewals} ${renewalFailures}`
    }
    case 'close':
      flake.close()
      return ''
    case 'end':
      return end(handle, flakes)
  }
  throw new Error(`unknown command ${command}`)
}

/** Ends the process with all generators as they are; `collect` only lets go of them. */
async function end(how, flakes) {
  if (how === 'exit') process.exit(0)
  if (how === 'abort') process.abort()
  if (how === 'throw') setImmediate(() => { throw new Error('meant to be') })
  if (how === 'reject') Promise.reject(new Error('meant to be'))
  if (how === 'collect') {
    flakes.clear()
    await collected()
  }
  return ''
}

async function serve() {
  const flakes = new Map()
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'quit') break
    const begun = performance.now()
    try {
      const answer = await obey(flakes, line.split(' '))
      process.stdout.write(`ok ${micros(begun)} ${answer}\n`)
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      const code = error.code.replace('ERR_LEAFID_', '').toLowerCase()
      process.stdout.write(`err ${micros(begun)} ${code}: ${error.message}\n`)
    }
  }
}

const told = error => `${error.code.replace('ERR_LEAFID_', '').toLowerCase()}: ${error.message}`

/** A holder of a leased worker id, until its input ends. */
async function lessee(words) {
  const given = Object.fromEntries(words.map(word => word.split(/=(.*)/s, 2)))
  const pauseMs = Number(given.pause_us ?? 2000) / 1000
  const note = (what, text) => {
    const line = `${process.hrtime.bigint() / 1_000_000n} ${what} ${text}`
    appendFileSync(given.notes, `${line.replaceAll('\n', ' ')}\n`)
  }
  let over = false
  process.stdin.on('end', () => (over = true)).resume()
  let flake
  while (!flake && !over) {
    try {
      flake = await Snowflake.open(options(words))
      note('in', flake.workerId)
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      note('refused', told(error))
      await sleep(100)
    }
  }
  for (let turn = 0; !over; turn++) {
    try {
      const ids = turn % 2 ? flake.take(20) : [flake.next()]
      appendFileSync(given.ids, Buffer.from(BigInt64Array.from(ids).buffer))
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      if (!wouldBlock(error)) note('error', told(error))
      await sleep(20)
    }
    await sleep(pauseMs)
  }
  flake?.close()
  if (flake) note('done', '')
}

await (process.argv[2] === 'lessee' ? lessee(process.argv.slice(3)) : serve())
// Open input keeps the process.
process.stdin.destroy()
