// leafid under Jest, which gives each test file globals of its own.

const { randomUUID } = require('node:crypto')
const { Segments, Snowflake, LeafidError, decode } = require('leafid')

// A name for each file: in one process what has the same name shares worker ids and ranges, also between threads.
const name = randomUUID()
const persist = false

test('snowflakes', () => {
  const flake = new Snowflake({ worker: { first: 0, last: 31 }, name, exclusiveRange: true })
  const ids = [flake.next(), ...flake.take(1000), ...flake.fill(new BigInt64Array(10))]
  expect(new Set(ids).size).toBe(1011)
  expect(decode(ids[0]).time).toBeInstanceOf(Date)
  flake.close()
  expect(() => flake.next()).toThrow(LeafidError)
  expect(() => flake.next()).toThrow(Error)
})

test('worker ids from a promise', async () => {
  const flake = await Snowflake.open({ worker: async () => 5, name, persist })
  expect(flake.workerId).toBe(5)
  flake.close()
})

test('segments of a callback', async () => {
  let next = 1
  const segments = new Segments({ fetch: async (tag, step) => ({ start: next, end: (next += step) }), name, persist })
  expect([...(await segments.tag('order').take(3))]).toEqual([1n, 2n, 3n])
  segments.close()
})
