// How a subject is measured, medians and minima of REPS repeats, and the line that tells of it.
//
// sustained  ids back to back, waiting for the next tick included
// burst      1024 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
//
// Every subject that makes ids is also checked: ids once more, duplicates and descents counted.
import { readFileSync } from 'node:fs'

export const REPS = 9, N = 1_000_000, BURST = 1024
/** Of a comparison: this many windows of this many calls, half a millisecond each. */
export const WINDOWS = 201, CALLS = 10_000

// A loop of its own for every subject, so that each is compiled for that subject alone.
// Every id is stored, or the compiler would leave most of a BigInt unmade.
export const looper = () => new Function('f', 'n', 'out', 'for (let i = 0; i < n; i++) out[i & 255] = f()')

const sink = new Array(256).fill(undefined)

/** Wall and CPU ns per call. */
export function timed(loop, f, n) {
  const c = process.cpuUsage(), t = process.hrtime.bigint()
  loop(f, n, sink)
  const ns = Number(process.hrtime.bigint() - t), cpu = process.cpuUsage(c)
  return [ns / n, ((cpu.user + cpu.system) * 1000) / n]
}

const times = (k, f) => Array.from({ length: k }, f)

export function single(peer, what, f, n = N, key = x => x) {
  const loop = looper()
  timed(loop, f, n)
  const runs = times(REPS, () => timed(loop, f, n))
  const cpu = runs.map(r => r[1]).sort((a, b) => a - b)[REPS >> 1]
  emit(peer, what, 'sustained', runs.map(r => r[0]), { cpu_ns: +cpu.toFixed(1), ...lookedAt(f, n, key) })
}

/** What n ids are like, in the order that they are made in, `k` in each fresh millisecond if it is given: fields of a line. */
function lookedAt(f, n, key = x => x, k = 0) {
  const ids = new Array(n)
  for (let i = 0; i < n; i++) {
    if (k > 0 && i % k === 0) nextTick()
    ids[i] = f()
  }
  return likeness(ids.map(key))
}

function likeness(keys) {
  let descents = 0
  for (let i = 1; i < keys.length; i++) descents += keys[i] < keys[i - 1]
  return { dups: keys.length - new Set(keys).size, descents, checked: keys.length }
}

/** Returns early in a fresh millisecond. */
export function nextTick() {
  for (const t = Date.now(); Date.now() === t; );
}

export function burst(peer, what, f, k = BURST, n = N / 4, key = x => x) {
  const loop = looper(), rounds = Math.floor(n / k)
  const once = () => {
    let ns = 0
    for (let i = 0; i < rounds; i++) {
      nextTick()
      ns += timed(loop, f, k)[0] * k
    }
    return ns / (rounds * k)
  }
  once()
  emit(peer, what, 'burst', times(REPS, once), lookedAt(f, n, key, k))
}

function emit(peer, what, kind, ns, seen = {}) {
  let version = process.version
  const folder = peer === 'leafid' ? process.env.BENCH_NODE : process.cwd()
  try {
    version = JSON.parse(readFileSync(`${folder}/node_modules/${peer}/package.json`)).version
  } catch {}
  ns.sort((a, b) => a - b)
  const [ns_min, ns_median] = [ns[0], ns[ns.length >> 1]].map(x => +x.toFixed(2))
  say({ peer, version, what, kind, threads: 1, ns_min, ns_median, ...seen, notes: '' })
}

/** A figure that a goal is set for, beside its floor. report.py knows the goals. */
export function measured(what, figure, floor) {
  say({ measure: what, figure: +figure.toFixed(4), floor: +floor.toFixed(4) })
}

/**
 * The same from this many windows of each, in turn, after one of each that warms up: medians, minima, and the median
 * of the pairs' ratios. `floor` and the figures, by measure, answer ns for an id, or a promise of them.
 */
export async function compared(windows, floor, figures) {
  const floors = [], all = Object.keys(figures).map(() => [])
  for (let window = 0; window <= windows; window++) {
    const row = [await floor()]
    for (const figure of Object.values(figures)) row.push(await figure())
    if (window === 0) continue
    floors.push(row.shift())
    row.forEach((ns, i) => all[i].push(ns))
  }
  const sorted = values => [...values].sort((a, b) => a - b)
  const middle = values => +sorted(values)[windows >> 1].toFixed(4)
  Object.keys(figures).forEach((measure, i) => {
    say({
      measure,
      figure: middle(all[i]),
      floor: middle(floors),
      ratio: middle(all[i].map((ns, at) => ns / floors[at])),
      figure_min: +Math.min(...all[i]).toFixed(4),
      floor_min: +Math.min(...floors).toFixed(4),
      repeats: windows,
    })
  })
}

/** A window of this many calls, in a loop of its own. */
export function windowOf(f, calls = CALLS) {
  const loop = looper()
  return () => timed(loop, f, calls)[0]
}

function say(line) {
  console.log(JSON.stringify({ lang: process.env.BENCH_LANG ?? 'node', ...line }))
}
