// Opening and closing, again and again: what the collector leaves afterwards is what it left before.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { space, start } from './support.mjs'

// V8 and Node fill tables of their own at first, and a look at the heap throws some of them away.
const [WARM, ROUNDS] = [500, 1_000]
// What the heap and what is held outside of it may grow by, in bytes: less than one small object a round. Resident memory
// is looked at over more rounds, by tests/system/rounds.py.
const [HEAP, OUTSIDE] = [96 * ROUNDS, 32 * ROUNDS]

const program = round => `
const { Segments, Snowflake } = require('leafid')
const resting = () => new Promise(done => setTimeout(done, 10))
// The least of several looks: one alone is up to a page of the heap, 256 KiB, too high, as the collector has left it.
async function cost() {
  const least = { heap: Infinity, outside: Infinity }
  for (let i = 0; i < 10; i++) {
    gc()
    await resting()
    const { heapUsed, external, arrayBuffers } = process.memoryUsage()
    least.heap = Math.min(least.heap, heapUsed)
    least.outside = Math.min(least.outside, external + arrayBuffers)
  }
  return least
}
async function rounds(count) {
  for (let i = 0; i < count; i++) {
    await (${round})()
    if (i % 100 === 0) gc()
  }
}
async function main() {
  await rounds(${WARM})
  await cost()
  await rounds(${WARM})
  const before = await cost()
  await rounds(${ROUNDS})
  const after = await cost()
  const grown = Object.fromEntries(Object.keys(after).map(key => [key, after[key] - before[key]]))
  console.log(JSON.stringify({ grown, last: globalThis.last }))
}
main()
`

/** What this many rounds have left, and what the last of them said. */
async function grown(t, round) {
  const command = [process.execPath, '--expose-gc', '-e', program(round)]
  const { code, out, err } = await start(t, '', undefined, { command }).ended
  assert.deepEqual([code, err], [0, ''])
  return JSON.parse(out)
}

for (const [title, round] of [
  [
    'a generator',
    options => `() => {
      const flake = new Snowflake({ ...${JSON.stringify(options)}, persist: false, worker: 7 })
      globalThis.last = String(flake.next() + BigInt(flake.take(10).length))
      flake.close()
    }`,
  ],
  [
    'a generator whose worker id a function gives',
    options => `async () => {
      const flake = await Snowflake.open({ ...${JSON.stringify(options)}, persist: false, worker: async () => 7 })
      globalThis.last = flake.nextString()
      flake.close()
    }`,
  ],
  [
    'segments of a function',
    ({ name }) => `async () => {
      const fetch = async (tag, step) => ({ start: (globalThis.end = (globalThis.end ?? 1) + step) - step, end: globalThis.end })
      const ids = new Segments({ name: '${name}', persist: false, adaptive: false, fetch })
      const { next, take } = ids.tag('order')
      globalThis.last = String((await take(3))[2] + (await next()))
      ids.close()
    }`,
  ],
]) {
  test(`${ROUNDS} times ${title}, opened and closed: memory does not grow`, async t => {
    const { grown: more, last } = await grown(t, round(space()))
    assert.ok(BigInt(last) > 0n)
    t.diagnostic(`grown by ${JSON.stringify(more)}`)
    assert.ok(more.heap <= HEAP && more.outside <= OUTSIDE, JSON.stringify(more))
  })
}

test('what a function throws is not kept by closed segments, also when it does so after the close', async t => {
  const command = [
    process.execPath,
    '--expose-gc',
    '-e',
    `const { Segments } = require('leafid')
    const thrown = []
    const gone = () => thrown.every(each => !each.deref())
    let go
    const fetch = async tag => {
      if (tag === 'late') await new Promise(resolve => (go = resolve))
      const error = new Error('meant')
      thrown.push(new WeakRef(error))
      throw error
    }
    void async function () {
      const ids = globalThis.ids = new Segments({ fetch, persist: false, timeoutMs: 200 })
      await ids.tag('order').next().catch(() => {})
      await ids.tag('late').next().catch(() => {})
      ids.close()
      go()
      while (thrown.length < 2) await new Promise(setImmediate)
      while (!gone()) { await new Promise(setImmediate); gc() }
      console.log('gone')
    }()`
  ]
  assert.equal((await start(t, '', undefined, { command }).ended).out, 'gone\n')
})
