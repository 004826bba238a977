// Segments of leafid/wasm in Node, Bun and Deno: marks that it shares with the native package, and what a source may get
// wrong. Node's own tests of segments run against it, too: `make test-wasm-js`.

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { Segments as Native } from 'leafid'
import { Segments } from 'leafid/wasm'
import { RUNTIMES, assertDistinct, here } from './support.mjs'
import { fakeServer } from './node/fake-server.mjs'
import { space } from './node/support.mjs'

const timeout = 60_000
const REGRESSED = { code: 'ERR_LEAFID_SEGMENT_REGRESSED' }
const sleep = ms => new Promise(done => setTimeout(done, ms))
const memory = () => ({ name: space().name, persist: false })

/** Segments whose function gives these ranges, one after another. */
const giving = (Class, options, ...ranges) => {
  const fetch = () => {
    const [start, end] = ranges.length > 1 ? ranges.shift() : ranges[0]
    return { start, end }
  }
  return new Class({ step: 10, timeoutMs: 300, ...options, fetch })
}

/** The first id of a range, by segments that are closed then. */
async function first(Class, options, ...range) {
  const ids = giving(Class, options, range)
  try {
    return await ids.tag('order').next()
  } finally {
    ids.close()
  }
}

test('marks are those of the native package: each refuses what the other one was given', { timeout }, async () => {
  const options = space()
  for (const [Class, other] of [[Native, Segments], [Segments, Native]]) {
    const start = Class === Native ? 100 : 200
    assert.equal(await first(Class, options, start, start + 10), BigInt(start))
    for (const again of [start, start - 5, start + 5, 1]) await assert.rejects(first(other, options, again, again + 10), REGRESSED)
  }
  assert.equal(await first(Native, options, 210, 220), 210n)
  const mark = join(options.stateDir, options.name, readdirSync(join(options.stateDir, options.name))[0])
  assert.match(mark, /segment-[0-9a-f]{16}-order\.mark$/)
  const whole = readFileSync(mark)
  // Damage is never read as nothing.
  writeFileSync(mark, 'x'.repeat(8192))
  for (const Class of [Segments, Native]) await assert.rejects(first(Class, options, 300, 310), { code: 'ERR_LEAFID_STATE_CORRUPT' })
  // Of one slot the other one is used.
  writeFileSync(mark, Buffer.concat([Buffer.alloc(4096, 'x'), whole.subarray(4096)]))
  assert.equal(await first(Segments, options, 400, 410), 400n)
})

for (const runtime of Object.keys(RUNTIMES)) {
  test(`${runtime}: the mark of a killed process is durable, and its source may not repeat itself`, { timeout }, async () => {
    const options = { ...space(), step: 10, timeoutMs: 300 }
    const program = `
      import { Segments } from 'leafid/wasm'
      const { options, start } = JSON.parse(process.argv[2])
      const order = new Segments({ ...options, fetch: () => ({ start, end: start + 10 }) }).tag('order')
      try {
        const ids = [await order.next(), order.nextSync()]
        console.log(ids.join(' '))
        process.kill(process.pid, 'SIGKILL')
      } catch ({ code }) {
        console.log(code)
      }`
    const file = join(here, `mark-${runtime}.mjs`)
    writeFileSync(file, program)
    const run = start =>
      new Promise((done, failed) => {
        const [command, ...args] = RUNTIMES[runtime]
        const child = spawn(command, [...args, file, JSON.stringify({ options, start })], { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
        let out = ''
        child.stdout.on('data', text => (out += text))
        child.on('error', failed).on('close', () => done(out.trim()))
      })
    assert.equal(await run(1), '1 2')
    assert.equal(await run(1), REGRESSED.code)
    assert.equal(await run(11), '11 12')
    await assert.rejects(first(Native, options, 15, 25), REGRESSED)
  })
}

test('no id is issued before its mark is stored', { timeout }, async () => {
  const options = space()
  // The mark's place is taken by a directory: it cannot be written.
  assert.equal(await first(Segments, options, 1, 11), 1n)
  const directory = join(options.stateDir, options.name)
  const [mark] = readdirSync(directory)
  const whole = readFileSync(join(directory, mark))
  rmSync(join(directory, mark))
  mkdirSync(join(directory, mark))
  await assert.rejects(first(Segments, options, 11, 21), { code: 'ERR_LEAFID_STATE_IO' })
  rmSync(join(directory, mark), { recursive: true })
  writeFileSync(join(directory, mark), whole)
  assert.equal(await first(Segments, options, 11, 21), 11n)
})

test('a mark is changed while no other process changes it', { timeout }, async t => {
  const options = { ...space(), timeoutMs: 10_000 }
  assert.equal(await first(Segments, options, 1, 11), 1n)
  const directory = join(options.stateDir, options.name)
  const [mark] = readdirSync(directory)
  const done = join(options.stateDir, 'done')
  const program = `echo; sleep 0.5; touch "${done}"`
  const other = spawn('flock', [join(directory, mark), 'sh', '-c', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => other.kill())
  await new Promise(held => other.stdout.once('data', held))
  assert.equal(await first(Segments, options, 11, 21), 11n)
  assert.ok(existsSync(done), 'the other one has the lock')
})

test('a store that was cleared meanwhile: this process still knows what it was given', { timeout }, async () => {
  const options = space()
  const ids = giving(Segments, options, [1, 11], [1, 11], [5, 15], [11, 21])
  const order = ids.tag('order')
  assert.equal(await order.next(), 1n)
  rmSync(join(options.stateDir, options.name), { recursive: true })
  mkdirSync(join(options.stateDir, options.name))
  const taken = [...(await order.take(15, { timeoutMs: 10_000 }))]
  assertDistinct([1n, ...taken])
  assert.deepEqual(taken.at(-1), 16n)
  ids.close()
})

test('an answer that comes after the close is never issued', { timeout }, async () => {
  const options = space()
  let answer
  const late = new Segments({ ...options, step: 10, fetch: () => new Promise(give => (answer = give)) })
  const waits = assert.rejects(late.tag('order').next(), { code: 'ERR_LEAFID_CLOSED' })
  while (!answer) await sleep(1)
  late.close()
  await waits
  // Others are opened before it comes: nothing of them is touched.
  const others = Array.from({ length: 20 }, (_, at) => giving(Segments, memory(), [1000 * at, 1000 * at + 500]))
  const firsts = await Promise.all(others.map(ids => ids.tag('order').next()))
  answer({ start: 1, end: 11 })
  await sleep(50)
  assert.deepEqual(firsts, others.map((_, at) => BigInt(1000 * at)))
  assert.deepEqual(await Promise.all(others.map(ids => ids.tag('order').next())), firsts.map(id => id + 1n))
  others.forEach(ids => ids.close())
  // Nobody had an id of it, and no mark refuses it.
  assert.equal(await first(Segments, options, 1, 11), 1n)
})

test('the user callback is outside of the caller\'s asynchronous context', { timeout }, async () => {
  const transaction = new AsyncLocalStorage()
  const seen = []
  const ids = new Segments({ ...memory(), step: 2, adaptive: false, fetch: () => {
    seen.push(transaction.getStore())
    return { start: 10 * seen.length, end: 10 * seen.length + 2 }
  } })
  await transaction.run('open', () => ids.tag('order').take(7))
  assert.ok(seen.length >= 4)
  assert.ok(seen.every(store => store === undefined), seen.join())
  ids.close()
})

test('segments of any length', { timeout }, async () => {
  const end = 2n ** 63n - 1n
  // Numbers of ids that a number cannot hold: none is lost to rounding, and none comes twice.
  for (const [start, stride] of [[1n, 1n], [2n ** 62n + 1n, 1n], [0n, 3n], [end - 5n, 2n]]) {
    const ids = new Segments({ ...memory(), prefetch: 100, timeoutMs: 300, fetch: () => ({ start, end, stride }) })
    const order = ids.tag('order')
    const count = Number((end - start + stride - 1n) / stride > 9000n ? 9000n : (end - start + stride - 1n) / stride)
    const taken = [...(await order.take(count))]
    assert.deepEqual(taken, Array.from({ length: count }, (_, at) => start + stride * BigInt(at)))
    ids.close()
  }
})

/** A server that answers as told: `answer(request, response)`. */
async function server(t, answer) {
  const made = createServer(answer)
  await new Promise(done => made.listen(0, '127.0.0.1', done))
  t.after(() => {
    made.closeAllConnections()
    made.close()
  })
  return `http://127.0.0.1:${made.address().port}`
}

test('half a number is no id: an answer of a Leaf says where it ends', { timeout }, async t => {
  const answers = {
    whole: response => response.setHeader('Content-Length', 3).end('123'),
    // The connection ends with the answer, or too early.
    open: response => response.socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n12'),
    cut: response => response.socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n12'),
    cached: response => response.setHeader('Age', '7').setHeader('Content-Length', 3).end('124'),
    moved: response => response.writeHead(302, { Location: '/elsewhere', 'Content-Length': 0 }).end(),
    long: response => response.end('1'.repeat(100_000)),
  }
  const url = await server(t, (request, response) => answers[/get\/([a-z]+)\?/.exec(request.url)[1]](response))
  const asked = async tag => {
    const ids = new Segments(url, { ...memory(), timeoutMs: 300 })
    try {
      return await ids.tag(tag).next()
    } finally {
      ids.close()
    }
  }
  assert.equal(await asked('whole'), 123n)
  for (const [tag, message] of [
    ['open', /does not say where it ends/],
    ['cut', /cannot be reached|ends before its end/],
    ['cached', /comes from a cache/],
    ['moved', /redirects to "\/elsewhere"/],
    ['long', /is longer than 65536 bytes/],
  ]) {
    await assert.rejects(asked(tag), error => /SOURCE_INVALID|UNAVAILABLE/.test(error.code) && message.test(error.message), tag)
  }
})

test('one answer to two requests, as of a proxy that joins them, is refused', { timeout }, async t => {
  const nonces = []
  const url = await server(t, (request, response) => {
    nonces.push(new URL(request.url, 'http://x').searchParams.get('nonce'))
    const body = JSON.stringify({ tag: 'order', start: '1', end: '11', stride: 1, nonce: nonces[0] })
    response.setHeader('Content-Length', body.length).end(body)
  })
  const [one, other] = [0, 1].map(() => new Segments(url, { ...memory(), protocol: 'range', timeoutMs: 300 }))
  assert.equal(await one.tag('order').next(), 1n)
  await assert.rejects(other.tag('order').next(), { code: 'ERR_LEAFID_SOURCE_INVALID', message: /to another request/ })
  assert.equal(new Set(nonces).size, nonces.length)
  one.close()
  other.close()
})

test('a range server over a restart: after is the mark', { timeout }, async t => {
  const { url, tell } = await fakeServer(t)
  const options = { ...space(), protocol: 'range', step: 10, adaptive: false }
  const runs = []
  for (let run = 0; run < 4; run++) {
    const ids = new (run % 2 ? Native : Segments)(url, options)
    runs.push([...(await ids.tag('order').take(25))])
    ids.close()
    // Its counter was restored from a backup.
    await tell({ do: 'tag', tag: 'order', next: 1 })
  }
  assertDistinct(...runs)
})

test('all runtimes and the native package, killed and begun again, on a source that loses its memory', { timeout }, async t => {
  const { url, tell } = await fakeServer(t)
  const options = { ...space(), protocol: 'range', step: 5, adaptive: false, timeoutMs: 5000 }
  const [ids, errors] = [[], new Set()]
  /** One life of a process, with each whole line that it printed. */
  const life = (runtime, name, killMs) =>
    new Promise((done, failed) => {
      const given = { servers: url, options, ms: 20_000, package: name }
      const [command, ...args] = RUNTIMES[runtime]
      const child = spawn(command, [...args, join(here, 'issue_segments.mjs'), JSON.stringify(given)], { cwd: here })
      let out = ''
      child.stdout.on('data', text => (out += text))
      child.on('error', failed).on('close', () => {
        for (const line of out.split('\n').slice(0, -1)) {
          if (line.startsWith('error ')) errors.add(line)
          else ids.push(...line.split(' ').map(BigInt))
        }
        done()
      })
      setTimeout(() => child.kill('SIGKILL'), killMs)
    })
  const end = Date.now() + 10_000
  const lives = async (runtime, name) => {
    while (Date.now() < end) await life(runtime, name, 1500 + Math.random() * 1500)
  }
  const restore = async () => {
    // To a backup: what it gave since is forgotten.
    for (; Date.now() < end; await sleep(200)) await tell({ do: 'tag', tag: 'order', next: 1 })
  }
  await Promise.all([...Object.keys(RUNTIMES).map(runtime => lives(runtime)), lives('node', 'leafid'), restore()])
  assert.ok(ids.length > 300, `${ids.length} ids`)
  assertDistinct(ids)
  assert.deepEqual([...errors].filter(error => !/REGRESSED|UNAVAILABLE/.test(error)), [])
})

test('prewarm of the last day finds the tags of the native package', { timeout }, async () => {
  const options = space()
  assert.equal(await first(Native, options, 1, 11), 1n)
  const ids = giving(Segments, { ...options, prewarm: 'last-day' }, [20, 30])
  for (const end = Date.now() + 5000; ids.stats().tags.length === 0 || ids.tag('order').stats().left === 0; ) {
    assert.ok(Date.now() < end, 'it was not fetched')
    await sleep(5)
  }
  assert.equal(ids.tag('order').nextSync(), 20n)
  ids.close()
})

test('what cannot be promised is refused, and says why', () => {
  const fetch = () => null
  const refused = (given, message) => assert.throws(() => new Segments(...given), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message })
  refused([{ fetch, keepUnused: true }], /keepUnused is true; allowed: nothing in leafid\/wasm: it cannot tell whether a store was copied/)
  refused([{ fetch, storage: {} }], /storage is set; allowed: nothing in Node/)
  refused(['file:/tmp/x'], /file:DIR needs the native package/)
  refused(['http://a', { caFile: 'x' }], /caFile is 'x'; allowed: nothing in leafid\/wasm/)
  refused(['http://a', { token: 'a\nb' }], /^token is or `headers` with/)
  refused(['http://me:secret@a'], /^servers is a URL with an @/)
})

test('ids in memory are issued although taking more of them fails', async () => {
  const { LocalIds } = await import('./node_modules/leafid/wasm/local_ids.js')
  const fails = () => {
    throw new Error('not now')
  }
  const local = new LocalIds({ run: () => BigInt64Array.of(1n, 2n, 3n), fillFromMemory: fails })
  assert.equal(local.take(1), 1n)
  const array = new BigInt64Array(3)
  assert.equal(local.takeInto(array, 0, 3), 2)
  assert.deepEqual([...array], [2n, 3n, 0n])
  assert.throws(() => local.takeInto(array, 2, 1), /not now/)
})
