// An existing Leaf, two nodes of it: ids are the servers' own, and none comes twice. What a server gets wrong,
// tests/system/leaf_answers.py has.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Segments } from 'leafid'
import { alone as impatient, until } from './counter.mjs'
import { leaf } from './fake-server.mjs'
import { PATIENT, assertDistinct } from './support.mjs'

const alone = () => ({ ...impatient(), timeoutMs: PATIENT, requestTimeoutMs: PATIENT })

const main = createRequire(import.meta.url).resolve('leafid')

/** Ids of a tag in each way that there is, about `n` each. */
function ways(tag, n) {
  const { next, nextSync, tryNext, nextString, nextNumber, take, takeSync, fill } = tag
  const waiting = call => () =>
    until('ids at hand', () => {
      try {
        return call()
      } catch (error) {
        if (error.code !== 'ERR_LEAFID_WOULD_BLOCK') throw error
      }
    })
  const one = {
    next,
    nextString: () => nextString().then(BigInt),
    nextNumber: () => nextNumber().then(BigInt),
    nextSync: waiting(nextSync),
    tryNext: waiting(tryNext),
  }
  const many = {
    take: () => take(20),
    takeSync: waiting(() => takeSync(5)),
    fill: waiting(() => fill(new BigUint64Array(5))),
  }
  const repeated = async (call, times) => {
    const ids = []
    for (let i = 0; i < times; i++) ids.push(await call())
    return ids.flatMap(id => (typeof id === 'bigint' ? [id] : [...id]))
  }
  return Promise.all([
    ...Object.values(one).map(call => repeated(call, n)),
    ...Object.values(many).map(call => repeated(call, n / 10)),
    Promise.all(Array.from({ length: n }, next)),
  ]).then(all => all.flat())
}

test('ids of two nodes, in every way and of every client: none twice, all the servers\' own', async t => {
  const { urls, given } = await leaf(t)
  // A node that may be slow because another one can be asked counts as a failure.
  const options = () => ({ ...alone(), connectTimeoutMs: PATIENT })
  const [one, other] = [new Segments(urls, options()), await Segments.open([...urls].reverse(), options())]
  const program = `
    const { parentPort, workerData: { urls, options } } = require('node:worker_threads')
    import(${JSON.stringify(main)})
      .then(({ Segments }) => new Segments(urls, options).tag('order').take(400))
      .then(taken => parentPort.postMessage(taken))`
  const thread = new Worker(program, { eval: true, workerData: { urls, options: options() } })
  const threads = new Promise((done, failed) => thread.on('message', done).on('error', failed))
  const plain = async url => {
    const ids = []
    for (let i = 0; i < 150; i++) ids.push(BigInt(await (await fetch(`${url}/api/segment/get/order`)).text()))
    return ids
  }
  const all = await Promise.all([ways(one.tag('order'), 200), ways(other.tag('order'), 200), threads, ...urls.map(plain)])
  const ids = all.flatMap(some => [...some])
  assert.ok(ids.length > 3500, `${ids.length} ids`)
  assertDistinct(ids)
  const theirs = await given('order')
  assert.ok(ids.every(id => theirs.has(id)))
  assert.deepEqual([one.stats().tags[0].failures, other.stats().tags[0].failures], [0, 0])
  one.close()
  other.close()
})
