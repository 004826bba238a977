// The tail: how long an awaited next takes while the source is slow and fails, beside an empty await at the same pace.
//
// 50,000 ids a second, in bursts between which the event loop has a millisecond. A call's time begins when it is due, one
// every 20 microseconds, whether those before have ended or not: what these were over is carried to the next ones, until
// short calls have made up for it, as in a queue. How late the pacing itself is counts for nobody.
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { measured } from './harness.mjs'

const { Segments } = createRequire(process.env.BENCH_NODE + '/')('leafid')

const RATE = 50_000
const INTERVAL_MS = 1000 / RATE
const SOURCE_TAKES_MS = 200
const IN_A_ROW = 256
// A tag is warm when it has ids for this many seconds at hand.
const WARM_SECONDS = 4
const WARM_UP_AT_MOST_MS = 60_000
const PERCENTILES = { p50: 0.5, p99: 0.99, p99_9: 0.999, p99_99: 0.9999, max: 1 }

const clock = () => performance.now()

class Queue {
  #over = 0
  count = 0
  #times

  constructor(most) {
    this.#times = new Float64Array(most)
  }

  made(clocks, n) {
    for (let at = 0; at < n; at++) {
      const spent = this.#over + clocks[at + 1] - clocks[at]
      this.#times[this.count++ % this.#times.length] = spent
      this.#over = Math.max(0, spent - INTERVAL_MS)
    }
  }

  /** Forgets all times, and not what is still to be made up for. */
  begin() {
    this.count = 0
  }

  percentiles() {
    const times = this.#times.subarray(0, Math.min(this.count, this.#times.length)).sort()
    return Object.fromEntries(
      Object.entries(PERCENTILES).map(([name, share]) => [name, times[Math.max(0, Math.ceil(share * times.length) - 1)]]),
    )
  }
}

/** Answers after 200 ms, one time in five with an error: spread evenly, and alike in every run. */
function failing() {
  let [next, asked] = [1, 0]
  const fetch = async (tag, step) => {
    await pause(SOURCE_TAKES_MS)
    if ((++asked * 0.6180339887498949) % 1 < 0.2) throw new Error('the source fails')
    return { start: next, end: (next += step) }
  }
  return new Segments({ fetch, persist: false, name: `bench-tail-${process.pid}` }).tag('tail')
}

export async function tail() {
  const seconds = Number(process.env.BENCH_SECONDS || 10)
  const tag = failing()
  const most = (seconds + 1) * RATE
  const [ids, empty] = [new Queue(most), new Queue(most)]
  const clocks = new Float64Array(IN_A_ROW + 1)
  let [errors, errorsBefore, made, waited, end, bursts] = [0, 0, 0, 0, Infinity, 0]

  const timedIds = async n => {
    clocks[0] = clock()
    for (let at = 1; at <= n; at++) {
      try {
        await tag.next()
      } catch {
        errors++
      }
      clocks[at] = clock()
    }
    ids.made(clocks, n)
  }
  const timedNothing = async n => {
    clocks[0] = clock()
    for (let at = 1; at <= n; at++) {
      await undefined
      clocks[at] = clock()
    }
    empty.made(clocks, n)
  }

  const turns = [timedIds, timedNothing]
  const begun = clock()
  for (let now = begun; now < end; now = clock()) {
    await pause(1)
    if (end === Infinity && ++bursts % 50 === 0) {
      const [stats, passed] = [tag.stats(), clock() - begun]
      if (stats.left >= WARM_SECONDS * RATE || passed > WARM_UP_AT_MOST_MS) {
        measured('tail_warm_up', passed / 1000, 0)
        waited = stats.waits
        errorsBefore = errors
        end = clock() + seconds * 1000
        ids.begin()
        empty.begin()
      }
    }
    const due = Math.floor((clock() - begun) / INTERVAL_MS)
    // In turn which of them finds the thread just woken.
    turns.reverse()
    while (made < due) {
      const n = Math.min(IN_A_ROW, due - made)
      for (const turn of turns) await turn(n)
      made += n
    }
  }
  const [figures, floors, stats] = [ids.percentiles(), empty.percentiles(), tag.stats()]
  for (const name in PERCENTILES) measured(`tail_${name}`, figures[name] * 1000, floors[name] * 1000)
  // What is due is made: if not, the machine is too slow for the pace.
  measured('tail_rate', ids.count / seconds, RATE)
  measured('tail_errors_warm_up', errorsBefore, 0)
  measured('tail_errors', errors - errorsBefore, 0)
  measured('tail_waits', stats.waits - waited, 0)
  measured('tail_failed_fetches', stats.failures, stats.fetches)
}
