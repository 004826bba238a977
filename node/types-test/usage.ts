// A program that uses everything the package exports; compiled strictly and run, as CommonJS.

import {
  Snowflake,
  LeafidError,
  compose,
  decode,
  version,
  type Layout,
  type LayoutFields,
  type LeafidErrorCode,
  type Parts,
  type ResolvedLayout,
  type SnowflakeOptions,
  type SnowflakeStats,
  type WorkerRange,
} from 'leafid'

declare function require(name: 'node:fs'): { mkdtempSync(prefix: string): string; rmSync(path: string, options: object): void }
declare function require(name: 'node:os'): { tmpdir(): string }
declare const process: { pid: number }

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what)
}

const stateDir = require('node:fs').mkdtempSync(`${require('node:os').tmpdir()}/leafid-types-`)
const worker: WorkerRange = { first: 0, last: 31 }
const bits: LayoutFields = { timestampBits: 35, workerBits: 5, sequenceBits: 23 }
const options: SnowflakeOptions = {
  worker,
  name: `types-${process.pid}`,
  stateDir,
  layout: bits,
  epochMs: Date.UTC(2026, 0, 1),
  onClockBackwards: 'continue',
  maxBackwardsMs: 5000,
  onExhausted: null,
  randomStart: 0,
  timeoutMs: 2000,
}

async function main(): Promise<void> {
  using flake = new Snowflake(options)
  const other: Snowflake = await Snowflake.open(options)
  const { open } = Snowflake
  const third: Snowflake = await open(options)

  const id: bigint = flake.next()
  const text: string = flake.nextString()
  const ids: BigInt64Array = flake.take(10)
  const unsigned: BigUint64Array = flake.fill(new BigUint64Array(3))
  const signed: BigInt64Array = flake.fill(new BigInt64Array(3))
  // Methods are bound: taking them off is no mistake, and `this: void` says so.
  const { next, take, close } = other
  const more: bigint[] = [next(), ...take(2)]
  check(id < BigInt(text) && [...ids, ...unsigned, ...signed, ...more].every(each => each > id), 'ids ascend')

  const layout: Readonly<ResolvedLayout> = flake.layout
  const parts: Parts = decode(id, layout)
  const time: Date = parts.time
  check(time.getTime() === parts.timestampMs && parts.workerId === flake.workerId, 'decode')
  check(compose(parts.timestampMs, parts.workerId, parts.sequence, layout) === id, 'compose')

  const stats: SnowflakeStats = flake.stats()
  const lastError: string | null = stats.lastError
  check(stats.handles === 3 && lastError === null, 'stats')

  class Mine extends Snowflake {}
  const mine: Mine = await Mine.open(options)
  mine.close()
  close()
  third.close()
  third[Symbol.dispose]()

  const presets: Layout[] = ['leaf', 'uid-generator', 'yitter', 'sonyflake', 'js-safe', '41|10|12', {}]
  for (const preset of presets) decode('0', preset)
  decode(0)
  decode(0n, null)

  try {
    next()
    check(false, 'closed')
  } catch (error) {
    check(error instanceof LeafidError, 'a LeafidError')
    const code: LeafidErrorCode = error.code
    const retry: boolean = error.retry
    check(code === 'ERR_LEAFID_CLOSED' && !retry, error.message)
  }
  check(/^\d+\.\d+\.\d+/.test(version), 'version')
}

main().finally(() => require('node:fs').rmSync(stateDir, { recursive: true, force: true }))
