// What a call from JavaScript costs before any id is made.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { batch, raw } from './harness.mjs'

const require = createRequire(import.meta.url)

/** The same calls on napi-rs, and straight on Node-API where Node's headers were there to build them. */
export function addons() {
  const load = name => {
    const file = `${process.env.BENCH_FLOORS}/${name}.node`
    return existsSync(file) ? require(file) : undefined
  }
  return { c: load('napi_floor'), rs: load('nodefloor') }
}

export function floors() {
  const { c, rs } = addons()
  const [rsClass, closure] = [new rs.Counter(), rs.makeClosure()]
  const out = new BigUint64Array(1000)
  let i = 2 ** 52, b = 1n << 61n, at = 1000
  raw('floor', 'empty function', () => 0)
  raw('floor', 'Date.now', () => Date.now())
  raw('floor', 'performance.now', () => performance.now())
  raw('floor', 'process.hrtime.bigint', () => process.hrtime.bigint())
  raw('floor', 'BigInt(number)', () => BigInt(i++))
  raw('floor', 'BigInt(ts)<<22n | worker | BigInt(seq)', () => (BigInt(i++) << 22n) | 4096n | BigInt(i & 4095))
  raw('floor', 'BigInt read from a BigUint64Array', () => out[i++ & 511])
  raw('floor', 'number -> string (16 digits)', () => String(i++))
  raw('floor', 'BigInt -> string (19 digits)', () => String(b++))
  if (c) {
    const cClass = new c.Counter()
    raw('floor', 'C napi fn noop', () => c.noop())
    raw('floor', 'C napi fn -> number', () => c.asF64())
    raw('floor', 'C napi fn -> BigInt', () => c.asU64())
    raw('floor', 'C napi class method (napi_unwrap) -> BigInt', () => cClass.asU64())
    batch('floor', 'C napi fill(BigUint64Array(1000))', () => c.fill(out), 1000)
  }
  raw('floor', 'napi-rs fn noop', () => rs.noop())
  raw('floor', 'napi-rs fn -> number', () => rs.asF64())
  raw('floor', 'napi-rs fn -> BigInt (u64)', () => rs.asU64())
  raw('floor', 'napi-rs fn -> BigInt (napi BigInt)', () => rs.asBigint())
  raw('floor', 'napi-rs fn -> string', () => rs.asString())
  raw('floor', 'napi-rs fn(u32) -> BigInt (u64)', () => rs.withArg(1))
  raw('floor', 'napi-rs closure -> BigInt (u64)', () => closure())
  raw('floor', 'napi-rs class method -> number', () => rsClass.asF64())
  raw('floor', 'napi-rs class method -> BigInt (u64)', () => rsClass.asU64())
  batch('floor', 'napi-rs fill(BigUint64Array(1000))', () => rs.fill(out), 1000)
  raw('floor', 'JS over napi-rs fill(1000) -> BigInt each', () => {
    if (at === 1000) rs.fill(out), (at = 0)
    return out[at++]
  })
}
