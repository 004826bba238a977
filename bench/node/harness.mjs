// How a subject is measured, and the line that tells of it.
//
// sustained  ids back to back, waiting for the next tick included
// burst      1024 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
// batch      one call makes 1000 ids
//
// Single-id subjects are also checked: duplicates and descents among the ids, in the notes.
import { readFileSync } from 'node:fs'

export const REPS = 9, N = 1_000_000, BURST = 1024

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

export function raw(peer, what, f) {
  const loop = looper()
  timed(loop, f, N)
  emit(peer, what + ' [floor]', times(REPS, () => timed(loop, f, N * 2)[0]))
}

export function single(peer, what, f, n = N, key = x => x) {
  const loop = looper()
  timed(loop, f, n)
  const runs = times(REPS, () => timed(loop, f, n))
  const ids = new Array(n)
  for (let i = 0; i < n; i++) ids[i] = f()
  const keys = ids.map(key)
  let descents = 0
  for (let i = 1; i < n; i++) descents += keys[i] < keys[i - 1]
  const dups = n - new Set(keys).size
  const cpu = runs.map(r => r[1]).sort((a, b) => a - b)[REPS >> 1]
  emit(peer, what + ' [sustained]', runs.map(r => r[0]), `cpu_ns=${cpu.toFixed(0)} dups=${dups} descents=${descents} of ${n}`)
}

/** Returns early in a fresh millisecond. */
export function nextTick() {
  for (const t = Date.now(); Date.now() === t; );
}

export function burst(peer, what, f, k = BURST, n = N / 4) {
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
  emit(peer, what + ' [burst]', times(REPS, once))
}

export function batch(peer, what, f, per) {
  const loop = looper()
  timed(loop, f, N / per)
  emit(peer, what + ' [batch]', times(REPS, () => timed(loop, f, (N / per) * 10)[0] / per))
}

function emit(peer, what, ns, notes = '') {
  let version = process.version
  try {
    version = JSON.parse(readFileSync(`${process.cwd()}/node_modules/${peer}/package.json`)).version
  } catch {}
  ns.sort((a, b) => a - b)
  const [ns_min, ns_median] = [ns[0], ns[ns.length >> 1]].map(x => +x.toFixed(2))
  say({ peer, version, what, ns_min, ns_median, notes })
}

/** A figure that a goal is set for, beside its floor. report.py knows the goals. */
export function measured(what, figure, floor) {
  say({ measure: what, figure: +figure.toFixed(4), floor: +floor.toFixed(4) })
}

function say(line) {
  console.log(JSON.stringify({ lang: 'node', ...line }))
}
