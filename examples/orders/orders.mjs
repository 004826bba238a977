// Order intake in Node: one process, its orders divided among worker_threads, which share one generator. Each order has
// an id, and a number among those of its shop, from segments of NUMBERS, which is file:DIR or the URLs of a Leaf with
// commas between. Writes its orders to standard output.
//
//     node orders.mjs COUNT SEED THREADS NUMBERS SHOP...

import { once } from 'node:events'
import { Worker, isMainThread, workerData } from 'node:worker_threads'
import { Segments, Snowflake } from 'leafid'

// As many orders as go out in one write.
const BATCH = 50
const PRICES = [249, 499, 899, 1290, 1999, 4950, 12900, 39900]

if (isMainThread) {
  const [count, seed, threads] = process.argv.slice(2, 5).map(Number)
  const [numbers, ...shops] = process.argv.slice(5)
  for (let thread = 0; thread < threads; thread++) {
    const share = Math.floor((count + thread) / threads)
    // What a worker thread throws ends the process with code 1.
    const work = { count: share, seed: 10 * seed + thread + 1, thread, numbers, shops }
    new Worker(new URL(import.meta.url), { workerData: work })
  }
} else {
  const { numbers, shops, thread } = workerData
  const flake = new Snowflake({ worker: { first: 0, last: 31 }, name: 'orders', timeoutMs: 60_000 })
  // A step that does not grow with the use keeps the gaps small that a killed process leaves.
  const servers = numbers.startsWith('file:') ? numbers : numbers.split(',')
  const segments = new Segments(servers, { name: 'orders', adaptive: false, timeoutMs: 60_000 })
  const oneByOne = (source, n) => Promise.all(Array.from({ length: n }, () => source.next()))
  const inBatches = (source, n) => source.take(n)
  await makeOrders(workerData, flake, shops.map(segments.tag), thread % 2 ? inBatches : oneByOne)
  segments.close()
  flake.close()
}

async function makeOrders({ count, seed }, flake, shops, ids) {
  const below = random(seed)
  for (let done = 0; done < count; done += BATCH) {
    const n = Math.min(BATCH, count - done)
    const shop = shops[below(shops.length)]
    const [orderIds, numbers] = await Promise.all([ids(flake, n), ids(shop, n)])
    let lines = ''
    for (let i = 0; i < n; i++) {
      const customer = String(1 + below(200) * below(200)).padStart(5, '0')
      const amountCents = PRICES[below(8)] * (1 + below(4))
      const order = [orderIds[i], shop.name, numbers[i], `C-${customer}`, amountCents, Date.now()]
      lines += `${process.pid}\t${order.join('\t')}\n`
    }
    if (!process.stdout.write(lines)) await once(process.stdout, 'drain')
  }
}

/** Marsaglia's xorshift of 32 bits: the same seed gives the same orders. The seed is not 0. */
function random(seed) {
  return end => {
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    return (seed >>> 0) % end
  }
}
