// Segments of leafid/wasm in Node, with marks in memory: what a source may get wrong. Node's own tests of segments run
// against it, too: `make test OF=wasm-js`.

import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Segments } from 'leafid/wasm'
import { assertDistinct } from './support.mjs'
import { taken } from './taken.mjs'
import { PATIENT, space } from './node/support.mjs'

const REGRESSED = 'ERR_LEAFID_SEGMENT_REGRESSED'
const sleep = ms => new Promise(done => setTimeout(done, ms))
const memory = () => ({ name: space().name, persist: false, timeoutMs: PATIENT })
const ofServer = () => ({ ...memory(), requestTimeoutMs: PATIENT })

/** Segments whose function gives these ranges, one after another. */
const giving = (options, ...ranges) => {
  const fetch = () => {
    const [start, end] = ranges.length > 1 ? ranges.shift() : ranges[0]
    return { start, end }
  }
  return new Segments({ step: 10, ...options, fetch })
}

test('this process knows what it was given, after a close too; another name does not', async () => {
  const options = memory()
  const ids = giving(options, [1, 11], [1, 11], [5, 15], [11, 21])
  const order = ids.tag('order')
  const all = [await order.next(), ...(await order.take(15))]
  assertDistinct(all)
  assert.deepEqual(all.at(-1), 16n)
  ids.close()
  for (const [again, given] of [[[15, 25], options], [[1, 11], options]]) {
    const next = giving(given, again)
    assert.equal((await taken(next.tag('order'), 1)).code, REGRESSED)
    next.close()
  }
  const other = giving(memory(), [1, 11])
  assert.equal(await other.tag('order').next(), 1n)
  other.close()
})

test('the user callback is outside of the caller\'s asynchronous context', async () => {
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

test('segments of any length', async () => {
  const end = 2n ** 63n - 1n
  // Numbers of ids that a number cannot hold: none is lost to rounding, and none comes twice.
  for (const [start, stride] of [[1n, 1n], [2n ** 62n + 1n, 1n], [0n, 3n], [end - 5n, 2n]]) {
    const ids = new Segments({ ...memory(), prefetch: 100, fetch: () => ({ start, end, stride }) })
    const order = ids.tag('order')
    const count = Number((end - start + stride - 1n) / stride > 9000n ? 9000n : (end - start + stride - 1n) / stride)
    const all = [...(await order.take(count))]
    assert.deepEqual(all, Array.from({ length: count }, (_, at) => start + stride * BigInt(at)))
    ids.close()
  }
})

/** A server that answers by a function: `answer(request, response)`. */
async function server(t, answer) {
  const made = createServer(answer)
  await new Promise(done => made.listen(0, '127.0.0.1', done))
  t.after(() => {
    made.closeAllConnections()
    made.close()
  })
  return `http://127.0.0.1:${made.address().port}`
}

test('half a number is no id: an answer of a Leaf says where it ends', async t => {
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
    const ids = new Segments(url, ofServer())
    const found = await taken(ids.tag(tag), 1)
    ids.close()
    return found
  }
  assert.deepEqual(await asked('whole'), { ids: ['123'] })
  for (const [tag, message] of [
    ['open', /does not say where it ends/],
    ['cut', /cannot be reached|ends before its end/],
    ['cached', /comes from a cache/],
    ['moved', /redirects to "\/elsewhere"/],
    ['long', /is longer than 65536 bytes/],
  ]) {
    const error = await asked(tag)
    assert.match(error.code, /SOURCE_INVALID|UNAVAILABLE/, tag)
    assert.match(error.message, message, tag)
  }
})

test('what cannot be promised is refused, and says why', () => {
  const fetch = () => null
  const refused = (given, message) => assert.throws(() => new Segments(...given), { code: 'ERR_LEAFID_INVALID_ARGUMENT', message })
  refused([{ fetch, keepUnused: true }], /keepUnused is true; allowed: nothing in leafid\/wasm: it cannot tell whether a store was copied/)
  refused(['file:/tmp/x'], /file:DIR needs the native package/)
  refused(['http://a', { caFile: 'x' }], /caFile is 'x'; allowed: nothing in leafid\/wasm/)
  refused(['http://a', { token: 'a\nb' }], /^token is a text with a control character/)
  refused(['http://me:secret@a'], /^servers is a URL with a user or password/)
})

test('ids in memory are issued although taking more of them fails', async () => {
  const { LocalIds } = await import('./node_modules/leafid/wasm/local_ids.js')
  const fails = () => {
    throw new Error('not now')
  }
  const local = new LocalIds({ run: () => BigInt64Array.of(1n, 2n, 3n), fillFromMemory: fails, fill: fails })
  assert.equal(local.take(1), 1n)
  const array = new BigInt64Array(3)
  assert.throws(() => local.fill(array), /not now/)
  assert.deepEqual([...array], [0n, 0n, 0n])
  assert.equal(local.takeInto(array, 0, 3), 2)
  assert.deepEqual([...array], [2n, 3n, 0n])
  assert.throws(() => local.takeInto(array, 2, 1), /not now/)
})

test('a value that throws when it is looked at is an answer like any other that is wrong', async () => {
  const value = {
    get then() {
      throw new Error('mine')
    },
  }
  const ids = new Segments({ ...memory(), fetch: () => value })
  assert.match((await taken(ids.tag('order'), 1)).message, /mine/)
  ids.close()
})

test('what a function throws is not kept by closed segments, also when it does so after the close', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc')
  const thrown = []
  let go
  const ids = new Segments({ ...memory(), fetch: async tag => {
    if (tag === 'late') await new Promise(resolve => (go = resolve))
    const error = new Error('meant')
    thrown.push(new WeakRef(error))
    throw error
  } })
  await taken(ids.tag('order'), 1)
  ids.tag('late').tryNext()
  while (!go) await sleep(1)
  ids.close()
  const before = thrown.length
  go()
  const isGone = () => thrown.length > before && thrown.every(each => !each.deref())
  while (!isGone()) {
    await new Promise(setImmediate)
    gc()
  }
  assert.throws(() => ids.tag('order'), { code: 'ERR_LEAFID_CLOSED' })
})

test('a runtime without weak references has segments and snowflakes, as an older workerd', async () => {
  const program = `
    delete globalThis.FinalizationRegistry
    delete globalThis.WeakRef
    const { Segments, Snowflake, metrics } = await import('leafid/wasm')
    const ids = new Segments({ fetch: async (tag, step) => ({ start: 1, end: 1 + step }), persist: false })
    const flake = new Snowflake({ worker: 7, persist: false })
    console.log(await ids.tag('order').next(), flake.workerId, /order/.test(metrics()))
    flake.close()
    ids.close()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: import.meta.dirname })
  assert.equal(stdout, '1n 7 true\n')
})
