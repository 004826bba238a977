// Segments in Node: a tag's ids from memory, each figure in turn with its floor.
import { createRequire } from 'node:module'
import { CALLS, N, WINDOWS, compared, single, windowOf } from './harness.mjs'
import { arrays } from './ours.mjs'

const { Segments } = createRequire(process.env.BENCH_NODE + '/')('leafid')

const LENGTH = 2 ** 40
let opened = 0

/** Segments whose tag `order` is never used up. */
function segments() {
  let next = 1
  const fetch = () => ({ start: next, end: (next += LENGTH) })
  return new Segments({ fetch, persist: false, name: `bench-${process.pid}-${opened++}` })
}

export async function tags() {
  const order = segments().tag('order')
  await order.next()
  await calls(order)
  await awaits(order)
  await bulk(order)
}

export async function subjects() {
  const order = segments().tag('order')
  await order.next()
  single('leafid', 'tag.nextSync -> BigInt', order.nextSync)
}

/** One call, in turn with a read of an array of ids. */
async function calls({ nextSync, tryNext }) {
  const read = new BigInt64Array(256).fill(1n << 40n)
  let at = 0
  const floor = windowOf(() => read[at++ & 255])
  await compared(WINDOWS, floor, { tag_sync: windowOf(nextSync), tag_try: windowOf(tryNext) })
}

/** Awaited ids, in turn with awaited promises of an id that are resolved. */
async function awaits({ next }) {
  const each = f => new Function('f', 'n', 'out', 'return async () => { for (let i = 0; i < n; i++) out[i & 255] = await f() }')(f, CALLS, new Array(256))
  const id = 1n << 40n
  const [ours, theirs] = [each(() => next()), each(() => Promise.resolve(id))]
  const window = async run => {
    const begun = process.hrtime.bigint()
    await run()
    return Number(process.hrtime.bigint() - begun) / CALLS
  }
  await compared(WINDOWS, () => window(theirs), { tag_await: () => window(ours) })
}

/** A million ids into an array that was touched, in turn with copying as many; and into arrays of the calls' own. */
async function bulk({ fill, takeSync }) {
  const [out, copy] = arrays()
  const once = windowOf(() => fill(out), 1)
  // As much as the allocator gives again without a page fault.
  const taken = windowOf(() => takeSync(10_000), N / 10_000)
  await compared(25, copy, {
    tag_fill: () => {
      const ns = once() / N
      if (out[N - 1] - out[0] !== BigInt(N - 1)) throw new Error('not in order')
      return ns
    },
    tag_take: () => taken() / 10_000,
  })
}
