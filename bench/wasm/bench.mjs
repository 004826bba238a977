// ns per id of leafid/wasm in Node, each beside its floor in the same run. One JSON line for each figure.
import { N, WINDOWS, compared, windowOf } from '../node/harness.mjs'

const { BENCH_PACKAGE } = process.env
const { Segments, Snowflake } = await import(`${BENCH_PACKAGE}/wasm/node.js`)

/** (module (func (export "f") (result i64) i64.const 5)) */
const EMPTY = Uint8Array.of(
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 126, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 66, 5, 11,
)
const empty = new WebAssembly.Instance(new WebAssembly.Module(EMPTY)).exports.f

let count = 0
/** As in ../node/ours.mjs: wide is 23 bits of sequence, so that a tick is never used up. */
function snowflake() {
  const layout = { layout: '35|5|23', epochMs: Date.UTC(new Date().getUTCFullYear(), 0), randomStart: 0 }
  return new Snowflake({ worker: 1, name: `bench-wasm-${process.pid}-${count++}`, persist: false, ...layout })
}

/** A tag with all ids that a run needs at hand. */
async function tag() {
  let next = 1n
  const ids = new Segments({
    persist: false,
    name: `bench-${count++}`,
    step: 1_000_000,
    fetch: () => ({ start: next, end: (next += 10n ** 12n) }),
  })
  const tag = ids.tag('order')
  await tag.next()
  return tag
}

const numbers = new BigInt64Array(4096).fill(2n ** 62n)
let at = 0

const wide = snowflake()
await compared(WINDOWS, windowOf(() => (Date.now(), empty())), { call: windowOf(() => wide.next()) })

const order = await tag()
await compared(WINDOWS, windowOf(() => numbers[at++ & 4095]), {
  tag_sync: windowOf(() => order.nextSync()),
  tag_try: windowOf(() => order.tryNext()),
})

/** Ids into an array that was touched, in turn with copying as many numbers. */
async function fills(count, measures) {
  const [out, other, source] = [1n, 1n, 2n].map(number => new BigInt64Array(count).fill(number))
  const rounds = Math.floor(N / count)
  const each = call => {
    const once = windowOf(call, rounds)
    return () => once() / count
  }
  const calls = [() => wide.fill(out), () => order.fill(out), () => order.takeSync(count)]
  const figures = Object.fromEntries(measures.map((measure, at) => [measure, each(calls[at])]))
  await compared(25, each(() => other.set(source)), figures)
}
await fills(N, ['fill', 'tag_fill', 'tag_take'])
await fills(65_536, ['fill_cached', 'tag_fill_cached'])
// Timers of open generators are no reason to stay.
process.exit()
