// A program that uses everything the package exports; compiled strictly and run, as CommonJS.

import {
  type AbortSignalLike,
  Segments,
  Snowflake,
  LeafidError,
  compose,
  decode,
  metrics,
  setLogger,
  version,
  type ClaimRequest,
  type FetchSegmentsOptions,
  type FileTag,
  type Layout,
  type LayoutFields,
  type LeafidErrorCode,
  type Lease,
  type LogLevel,
  type LogRecord,
  type Parts,
  type Renewal,
  type ResolvedLayout,
  type SegmentFetch,
  type SegmentLeft,
  type SegmentRange,
  type SegmentsStats,
  type ServerSegmentsOptions,
  type ServerStats,
  type SnowflakeOptions,
  type SnowflakeStats,
  type Tag,
  type TagStats,
  type WaitOptions,
  type WorkerClaim,
  type WorkerLeases,
  type WorkerRange,
} from 'leafid'

declare function require(name: 'node:fs'): { mkdtempSync(prefix: string): string; rmSync(path: string, options: object): void }
declare function require(name: 'node:os'): { tmpdir(): string }
declare const process: { pid: number }
declare class AbortController {
  readonly signal: AbortSignalLike
}

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
  persist: true,
  sharedFs: false,
  sharedGroup: false,
  exclusiveRange: true,
  noRecordWaitMs: 0,
  lazy: null,
  clockSource: 'system',
  startAfter: 1n,
  peerTimes: () => Promise.resolve([Date.now()]),
}

class Pool implements WorkerLeases {
  released = 0
  async claim(request: ClaimRequest): Promise<Lease | null> {
    return { workerId: request.previous ?? 3, fromMs: request.nowMs, untilMs: request.untilMs, token: request.instance }
  }
  renew(lease: Lease, untilMs: number): Renewal | null {
    return lease.token === undefined ? null : { ...lease, untilMs }
  }
  async release(): Promise<void> {
    this.released++
  }
}

async function segments(): Promise<void> {
  let next = 1
  const fetch: SegmentFetch = (_tag, step, after) => {
    const range: SegmentRange = { start: next, end: BigInt(next + step), stride: null }
    check(after <= BigInt(next), 'after')
    next += step
    return range
  }
  const options: FetchSegmentsOptions = { fetch, step: 100, adaptive: true, prefetch: 10, persist: false, prewarm: ['order'] }
  await using ids = new Segments(options)
  const order: Tag = ids.tag('order')
  const controller = new AbortController()
  const wait: WaitOptions = { timeoutMs: 1000, signal: controller.signal }
  const id: bigint = await order.next(wait)
  const { nextSync, tryNext, takeSync } = order
  const at: bigint | undefined = tryNext()
  const text: string = await order.nextString()
  const number: number = await order.nextNumber(null)
  const looped: bigint[] = []
  for await (const one of order) {
    looped.push(one)
    break
  }
  const taken: BigInt64Array = await order.take(3, { signal: null })
  const more: BigInt64Array = takeSync(2)
  const array: BigUint64Array = order.fill(new BigUint64Array(2))
  check([id, at, BigInt(text), BigInt(number), ...looped, ...taken, ...more, ...array, nextSync()].every((each, i) => each === BigInt(i + 1)), 'in order')
  const stats: TagStats = order.stats()
  const current: SegmentLeft | null = stats.current
  const all: SegmentsStats = ids.stats()
  const servers: ServerStats[] = all.servers
  check(current?.start === 14n && servers.length === 0 && ids.name === 'default' && order.name === 'order', 'stats')

  const fetches: SegmentFetch[] = [() => null, async () => undefined, async () => ({ start: 1n, end: 5n })]
  for (const each of fetches) (await Segments.open({ fetch: each, persist: false })).close()
  const tags: Record<string, FileTag> = { order: { start: 1n, step: 10 }, other: {} }
  const leaf: ServerSegmentsOptions = { protocol: 'leaf', blockSize: 100, persist: false }
  new Segments('http://127.0.0.1:9', leaf).close()
  new Segments('http://127.0.0.1:9', { protocol: 'leaf-snowflake', blockSize: null, persist: false }).close()
  const given: ServerSegmentsOptions = { create: true, tags, stateDir, keepUnused: false, orderedSource: null }
  class Mine extends Segments {}
  const file: Mine = await Mine.open(`file:${stateDir}/counters`, given)
  check((await file.tag('order').next()) === 1n, 'file')
  file.close()
  const { open } = Segments
  const http = await open(['http://127.0.0.1:9/', 'http://127.0.0.1:10/'], { protocol: 'range', token: 't', headers: { a: 'b' }, requestTimeoutMs: 100, connectTimeoutMs: 100, connections: 2, caFile: null, persist: false })
  const { code }: { code?: string } = await http.tag('order').next({ timeoutMs: 50 }).then(() => ({}), (error: LeafidError) => error)
  check(code === 'ERR_LEAFID_SEGMENT_UNAVAILABLE', 'no server')
  http[Symbol.dispose]()
}

async function main(): Promise<void> {
  await segments()
  using flake = await Snowflake.open(options)
  const other: Snowflake = await Snowflake.open(options)
  const { open } = Snowflake
  const third: Snowflake = await open(options)

  const id: bigint = flake.next()
  const text: string = flake.nextString()
  const texts: string[] = flake.takeStrings(2)
  const ids: BigInt64Array = flake.take(10)
  const unsigned: BigUint64Array = flake.fill(new BigUint64Array(3))
  const signed: BigInt64Array = flake.fill(new BigInt64Array(3))
  // Methods are bound: taking them off is no mistake, and `this: void` says so.
  const { next, take, close } = other
  const more: bigint[] = [next(), ...take(2)]
  for (const one of flake) {
    const bigint: bigint = one
    more.push(bigint)
    if (more.length === 5) break
  }
  check(id < BigInt(text) && [...texts.map(BigInt), ...ids, ...unsigned, ...signed, ...more].every(each => each > id), 'ids ascend')

  const layout: Readonly<ResolvedLayout> = flake.layout
  const parts: Parts = decode(id, layout)
  const time: Date = parts.time
  check(time.getTime() === parts.timestampMs && parts.workerId === flake.workerId, 'decode')
  check(compose(parts.timestampMs, parts.workerId, parts.sequence, layout) === id, 'compose')

  const stats: SnowflakeStats = flake.stats()
  const lastError: string | null = stats.lastError
  check(stats.handles === 3 && lastError === null, 'stats')

  const claims: WorkerClaim[] = [() => 4, async () => 4, (_name, previous) => previous ?? 4]
  for (const claim of claims) {
    const asked = await Snowflake.open({ stateDir, name: `types-${process.pid}-c`, worker: claim, peerTimes: () => [1, 2] })
    check(asked.workerId === 4, 'a callback')
    asked.close()
  }
  const pool = new Pool()
  {
    using leased = await Snowflake.open({ stateDir, name: `types-${process.pid}-l`, worker: pool })
    const { leaseUntilMs, claims, clockLagMs }: SnowflakeStats = leased.stats()
    check(leased.next() > 0n && (leaseUntilMs ?? 0) > Date.now() && claims === 1 && clockLagMs === 0, 'a lease')
  }
  check(pool.released === 1, 'released at the end of the block')

  const servers: readonly string[] = ['http://127.0.0.1:9', 'http://127.0.0.1:10']
  const leases: SnowflakeOptions = { worker: servers, token: 't', headers: { a: 'b' }, caFile: null, requestTimeoutMs: 200, connectTimeoutMs: 100 }
  const refused: LeafidError = await Snowflake.open({ ...leases, persist: false }).then(() => check(false, 'no server') as never, (error: LeafidError) => error)
  check(refused.code === 'ERR_LEAFID_WORKER_LOST', refused.message)

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
  const told: string = metrics()
  check(told.endsWith('# EOF\n'), 'metrics')
  const levels: LogLevel[] = []
  setLogger((record: LogRecord) => levels.push(record.level), 'warn')
  setLogger(null)
}

main().finally(() => require('node:fs').rmSync(stateDir, { recursive: true, force: true }))
