// leafid in the real prom-client, also in a cluster.

import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import client from 'prom-client'
import * as leafid from 'leafid'
import * as wasm from 'leafid/wasm'

const { Snowflake, metrics } = leafid
const { register } = createRequire(import.meta.url)('leafid/prometheus')
let number = 0
const space = () => ({ name: `p${process.pid}-${number++}`, stateDir: mkdtempSync(join(tmpdir(), 'leafid-')), timeoutMs: 60_000 })

/** The samples of an id space: labels sorted, numbers as numbers. */
function samples(text, name) {
  const found = new Map()
  for (const line of text.split('\n').filter(line => line.includes(`name="${name}"`))) {
    const [, metric, labels, value] = /^(\w+)\{(.*)\} (\S+)$/s.exec(line)
    found.set(`${metric} ${labels.match(/\w+="(?:[^"\\]|\\.)*"/gs).sort().map(bound)}`, Number(value))
  }
  return found
}

/** 1.0 and 1 are one bound of a bucket. */
const bound = label => label.replace(/^le="([\d.]+)"$/, (_, number) => `le="${Number(number)}"`)

/** Of two readings, between which a span may have been renewed. */
function same(found, expected) {
  const moves = key => /^leafid_snowflake_(reserved_until_seconds|renewals_total) /.test(key)
  assert.deepEqual([...found.keys()], [...expected.keys()])
  for (const [key, value] of found) assert.ok(moves(key) || value === expected.get(key), key)
}

function fetcher() {
  let [next, calls] = [1, 0]
  return async (_, step) => {
    if (calls++ === 0) throw new Error('away')
    await new Promise(done => setTimeout(done, 20))
    next += step
    return { start: next - step, end: next }
  }
}

for (const { Segments, Snowflake, metrics } of [leafid, wasm]) {
  const isWasm = metrics === wasm.metrics
  test(`a registry shows what metrics() ${isWasm ? 'of leafid/wasm ' : ''}shows`, async () => {
    const registry = new client.Registry()
    register(registry, isWasm ? metrics : undefined)
    const options = isWasm ? { name: space().name, persist: false, timeoutMs: 60_000 } : space()
    const flake = new Snowflake({ worker: 7, ...options })
    const ids = new Segments({ fetch: fetcher(), ...options })
    flake.take(100)
    const order = ids.tag('order')
    for (let taken = 0; taken < 20; taken++) await order.next()
    const [shown, text] = [await registry.metrics(), metrics()]
    const [found, expected] = [samples(shown, options.name), samples(text, options.name)]
    same(found, expected)
    const value = start => [...found].find(([key]) => key.startsWith(start))?.[1]
    assert.ok(value('leafid_snowflake_ids_total ') >= 100)
    assert.ok(value('leafid_segment_ids_total ') >= 20)
    if (!isWasm) {
      assert.equal(value('leafid_segment_wait_seconds_count '), value('leafid_segment_waits_total '))
      assert.match(shown, /# TYPE leafid_segment_fetch_seconds histogram\n/)
    }
    assert.match(shown, /leafid_segment_fetch_outcomes_total\{[^\n]*outcome="segment_unavailable"\} 1\n/)
    assert.match(shown, /# TYPE leafid_snowflake_ids_total counter\n/)
    assert.throws(() => register(registry), /already been registered/)
    flake.close()
    await ids.close()
    assert.equal(samples(await registry.metrics(), options.name).size, 0)
  })
}

test('an odd directory is read and written again', async () => {
  const registry = new client.Registry()
  register(registry)
  const options = space()
  options.stateDir = join(options.stateDir, 'a "b" \\ c\nd, e="f"} é\u2028')
  const flake = new Snowflake({ worker: 7, ...options })
  same(samples(await registry.metrics(), options.name), samples(metrics(), options.name))
  flake.close()
})

if (cluster.isPrimary) {
  test('the workers of a cluster are summed', { timeout: 60_000 }, async t => {
    const { name, stateDir } = space()
    cluster.setupPrimary({ exec: new URL('cluster_worker.mjs', import.meta.url).pathname })
    const aggregator = new client.AggregatorRegistry()
    const workers = [3, 4].map(worker => cluster.fork({ NAME: name, STATE: stateDir, WORKER: worker }))
    t.after(() => workers.forEach(worker => worker.kill()))
    await Promise.all(workers.map(worker => new Promise(ready => worker.once('message', ready))))
    const shown = await aggregator.clusterMetrics()
    const found = samples(shown, name)
    const sum = start => [...found].filter(([key]) => key.startsWith(start)).reduce((sum, [, value]) => sum + value, 0)
    assert.equal(sum('leafid_snowflake_handles '), 2)
    assert.ok(sum('leafid_snowflake_ids_total ') >= 14)
    // One series of a tag that both use, in one directory.
    const left = [...found].filter(([key]) => key.startsWith('leafid_segment_left '))
    assert.equal(left.length, 1)
    assert.ok(left[0][1] > 1_000, shown)
    assert.match(shown, /leafid_build_info\{version="[^"]+"\} 1\n/)
  })
}
