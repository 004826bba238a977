// leafid for Node: as the peers are measured, and the figures that have a goal, each beside its floor in the same run.
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { addons } from './floors.mjs'
import { N, batch, burst, looper, measured, nextTick, single, timed } from './harness.mjs'

const { Snowflake } = createRequire(process.env.BENCH_NODE + '/')('leafid')

let count = 0
/**
 * A generator in the bench's own state directory under a name that nobody else has. Wide is 23 bits of sequence from the
 * first day of this year, starting at 0: a tick is never used up.
 */
function opened({ wide = false, randomStart = 100 } = {}) {
  const layout = wide ? { layout: '35|5|23', epochMs: Date.UTC(new Date().getUTCFullYear(), 0) } : {}
  const name = `bench-node-${process.pid}-${count++}`
  return new Snowflake({ worker: 1, name, stateDir: process.env.BENCH_STATE, randomStart, ...layout })
}

export function ours() {
  const g = opened()
  single('leafid', 'next -> BigInt', () => g.next())
  burst('leafid', 'next -> BigInt', () => g.next())
  const wide = opened({ wide: true, randomStart: 0 })
  single('leafid', 'next -> BigInt wide 5+23', () => wide.next())
  if (wide.nextString) single('leafid', 'nextString wide 5+23', () => wide.nextString())
  const out = new BigInt64Array(1000)
  batch('leafid', 'fill(BigInt64Array(1000)) wide 5+23', () => wide.fill(out), 1000)
  batch('leafid', 'take(1000) wide 5+23', () => wide.take(1000), 1000)
}

/** One call where nothing waits, in turn with a napi-rs closure that counts: the best of 300 windows of each. */
export function call() {
  const g = opened({ wide: true, randomStart: 0 })
  const [mine, theirs, count] = [looper(), looper(), addons().rs.makeClosure()]
  let [figure, floor] = [Infinity, Infinity]
  for (let round = 0; round < 300; round++) {
    floor = Math.min(floor, timed(theirs, () => count(), 10_000)[0])
    figure = Math.min(figure, timed(mine, () => g.next(), 10_000)[0])
  }
  measured('call', figure, floor)
}

/** A plain loop over next on the leaf layout: the share of all ids that 200 ticks hold, the best of 7 windows. */
export function plainLoop() {
  const ticks = 200, loop = looper(), g = opened({ randomStart: 0 })
  let best = 0
  for (let round = 0; round < 7; round++) {
    nextTick()
    // The start lies early in a tick, so that whole ticks are counted: a last one begun counts as one.
    const ms = (timed(loop, () => g.next(), ticks * 4096)[0] * ticks * 4096) / 1e6
    best = Math.max(best, ticks / Math.ceil(ms + 0.01))
  }
  measured('loop', best, 1)
}

/** A million ids into a buffer, in turn with copying as many numbers: ns for each, the best of 25. */
export function fill() {
  const g = opened({ wide: true, randomStart: 0 })
  const [out, other] = [new BigInt64Array(N), new BigInt64Array(N)]
  const loop = looper()
  let [figure, floor] = [Infinity, Infinity]
  for (let round = 0; round < 25; round++) {
    floor = Math.min(floor, timed(loop, () => out.set(other), 1)[0] / N)
    figure = Math.min(figure, timed(loop, () => g.fill(out), 1)[0] / N)
    for (let i = 1; i < 5000; i++) if (out[i] <= out[i - 1]) throw new Error('descending')
    if (out[N - 1] <= out[0]) throw new Error('descending')
  }
  measured('fill', figure, floor)
}

/** Node has threads of its own: only what is added counts. */
export function footprint() {
  const tasks = '/proc/self/task'
  if (!existsSync(tasks)) return
  const before = readdirSync(tasks).length
  const g = opened()
  measured('threads before the first id', readdirSync(tasks).length - before, 0)
  g.next()
  measured('threads while in use', readdirSync(tasks).length - before, 0)
}
