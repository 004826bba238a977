// The subject of the system tests of segments in Node, with the protocol of the Rust one in rust/src/segments.

import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const require = createRequire(fileURLToPath(new URL('../../build/node/', import.meta.url)))
const { LeafidError, Segments } = require('leafid')

const BATCH = 512
const NUMBERS = {
  step: 'step',
  timeout_ms: 'timeoutMs',
  request_timeout_ms: 'requestTimeoutMs',
  connect_timeout_ms: 'connectTimeoutMs',
  connections: 'connections',
  block_size: 'blockSize',
}

const read = words => Object.fromEntries(words.map(word => word.split(/=(.*)/s, 2)))

// Of all openings: as a database, it goes on.
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

function open(given) {
  const options = { name: given.name, stateDir: given.dir, adaptive: given.adaptive !== 'no' }
  if ('keep' in given) options.keepUnused = true
  for (const [key, name] of Object.entries(NUMBERS)) if (key in given) options[name] = Number(given[key])
  if ('unordered' in given) options.orderedSource = false
  if (!('servers' in given)) return new Segments({ ...options, fetch: counting(Number(given.delay_ms ?? 0)) })
  if ('create' in given) options.create = true
  if (!given.servers.startsWith('file:')) options.protocol = given.protocol ?? 'range'
  if ('token' in given) options.token = given.token
  if ('tags' in given) {
    options.tags = {}
    for (const tag of given.tags.split(',')) {
      const [name, start, step] = tag.split(':')
      options.tags[name] = { start: Number(start), step: Number(step) }
    }
  }
  return new Segments(given.servers.split(','), options)
}

const micros = begun => Math.round((performance.now() - begun) * 1000)

async function run(tag, milliseconds, pauseMs) {
  const ids = []
  let slowest = 0
  for (const end = performance.now() + milliseconds; performance.now() < end; ) {
    const begun = performance.now()
    ids.push(await tag.next())
    slowest = Math.max(slowest, micros(begun))
    await sleep(pauseMs)
  }
  return `${ids.length} ${slowest} ${ids[0]} ${ids.at(-1)} ${ids.every((id, i) => i === 0 || ids[i - 1] < id)}`
}

async function rounds(count, given) {
  for (let i = 0; i < count; i++) {
    const segments = open(given)
    await segments.tag('order').next()
    segments.close()
    if (i % 100 === 0) globalThis.gc()
  }
  for (let i = 0; i < 3; i++) {
    globalThis.gc()
    await sleep(10)
  }
  return `${count} true`
}

async function many(count, one) {
  const ids = []
  while (ids.length < count) ids.push(await one())
  return ids
}

class Opened {
  segments = new Map()
  tags = new Map()

  tag(handle, name) {
    const key = `${handle} ${name}`
    if (!this.tags.has(key)) this.tags.set(key, this.segments.get(handle).tag(name))
    return this.tags.get(key)
  }

  async obey([command, handle, name, ...rest]) {
    const count = Number(rest[0] ?? 1)
    switch (command) {
      case 'open':
        this.segments.set(handle, open(read([name, ...rest])))
        return ''
      case 'close':
        for (const key of this.tags.keys()) if (key.startsWith(`${handle} `)) this.tags.delete(key)
        this.segments.get(handle).close()
        this.segments.delete(handle)
        return ''
      case 'rounds':
        return rounds(Number(handle), read([name, ...rest]))
      case 'next':
        return (await many(count, () => this.tag(handle, name).next())).join(' ')
      case 'take':
        return (await this.tag(handle, name).take(count)).join(' ')
      case 'run':
        return run(this.tag(handle, name), count, Math.max(Number(rest[1] ?? 1000) / 1000, 1))
      // So many calls that wait at once: ids, and how many of them differ.
      case 'gather': {
        const tag = this.tag(handle, name)
        const ids = await Promise.all(Array.from({ length: count }, () => tag.next()))
        return `${ids.length} ${new Set(ids).size}`
      }
      case 'stats': {
        const { left, fetches, failures, waits, step, lastError } = this.tag(handle, name).stats()
        return `${left} ${fetches} ${failures} ${waits} ${step} ${lastError ?? ''}`
      }
    }
    throw new Error(`unknown command ${command}`)
  }
}

async function serve() {
  const opened = new Opened()
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'quit') break
    const begun = performance.now()
    try {
      const answer = await opened.obey(line.split(' '))
      process.stdout.write(`ok ${micros(begun)} ${answer}\n`)
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      process.stdout.write(`err ${micros(begun)} ${told(error)}\n`)
    }
  }
}

const told = error => `${error.code.replace('ERR_LEAFID_', '').toLowerCase()}: ${error.message}`

function put(ids) {
  const bytes = Buffer.from(BigInt64Array.from(ids).buffer)
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
}

async function stream(given) {
  const begun = performance.now()
  const segments = open(given)
  const opened = micros(begun)
  const tag = segments.tag(given.tag ?? 'order')
  put([await tag.next()])
  process.stderr.write(`ready ${process.pid} 0 ${opened} ${micros(begun)} 0\n`)
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

if (process.argv[2] === 'stream') {
  await stream(read(process.argv.slice(3))).catch(error => {
    process.stderr.write(`error ${error instanceof LeafidError ? told(error) : error.stack}\n`)
    process.exit(3)
  })
} else {
  await serve()
}
// Open input keeps the process.
process.stdin.destroy()
