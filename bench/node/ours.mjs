// leafid for Node: as the peers are measured, and the figures that have a goal, each beside its floor in the same run.
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { N, WINDOWS, compared, looper, measured, nextTick, single, timed, windowOf } from './harness.mjs'

const require = createRequire(process.env.BENCH_NODE + '/')
const { Snowflake } = require('leafid')

let count = 0
/**
 * A generator in the bench's own state directory under a name of its own. Wide is 23 bits of sequence from the
 * first day of this year, starting at 0: a tick is never used up.
 */
function opened({ wide = false, randomStart = 100 } = {}) {
  const layout = wide ? { layout: '35|5|23', epochMs: Date.UTC(new Date().getUTCFullYear(), 0) } : {}
  const name = `bench-node-${process.pid}-${count++}`
  return new Snowflake({ worker: 1, name, stateDir: process.env.BENCH_STATE, randomStart, ...layout })
}

export function ours() {
  const wide = opened({ wide: true, randomStart: 0 })
  single('leafid', 'next -> BigInt wide 5+23', () => wide.next())
}

/** One call where nothing waits, in turn with a read of the clock, and with a napi-rs closure that counts. */
export async function call() {
  const g = opened({ wide: true, randomStart: 0 })
  await compared(WINDOWS, windowOf(() => Date.now()), { call: windowOf(() => g.next()) })
  const count = require(`${process.env.BENCH_FLOORS}/nodefloor.node`).makeClosure()
  await compared(WINDOWS, windowOf(() => count()), { call_closure: windowOf(() => g.next()) })
}

/** A plain loop over next on the leaf layout: the share of all ids that 400 ticks hold, the median of 7 windows. */
export function plainLoop() {
  const ticks = 400, loop = looper(), g = opened({ randomStart: 0 })
  const shares = []
  for (let round = 0; round < 7; round++) {
    nextTick()
    // The start lies early in a tick, so that whole ticks are counted: a last one begun counts as one.
    const ms = (timed(loop, () => g.next(), ticks * 4096)[0] * ticks * 4096) / 1e6
    shares.push(ticks / Math.ceil(ms + 0.01))
  }
  measured('loop', shares.sort((a, b) => a - b)[3], 1)
}

/** A million ids into an array that was touched, in turn with copying as many numbers. */
export async function fill() {
  const g = opened({ wide: true, randomStart: 0 })
  const [out, copy] = arrays()
  const once = windowOf(() => g.fill(out), 1)
  await compared(25, copy, {
    fill: () => {
      const ns = once() / N
      for (let i = 1; i < 5000; i++) if (out[i] <= out[i - 1]) throw new Error('descending')
      if (out[N - 1] <= out[0]) throw new Error('descending')
      return ns
    },
  })
}

/** A touched array of a million numbers, and what copies as many into another: ns for each. */
export function arrays() {
  const [out, other, source] = [1n, 1n, 2n].map(number => new BigInt64Array(N).fill(number))
  const once = windowOf(() => other.set(source), 1)
  return [out, () => once() / N]
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
