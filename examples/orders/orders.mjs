// Order intake in Node: one process, its orders divided among worker_threads, which share one generator.
// Writes its orders to standard output.
//
//     node orders.mjs COUNT SEED THREADS

import { once } from 'node:events'
import { Worker, isMainThread, workerData } from 'node:worker_threads'
import { Snowflake } from 'leafid'

// As many orders as go out in one write.
const BATCH = 50
const PRICES = [249, 499, 899, 1290, 1999, 4950, 12900, 39900]

if (isMainThread) {
  const [count, seed, threads] = process.argv.slice(2).map(Number)
  for (let thread = 0; thread < threads; thread++) {
    const share = Math.floor((count + thread) / threads)
    // What a worker thread throws ends the process with code 1.
    new Worker(new URL(import.meta.url), { workerData: { count: share, seed: 10 * seed + thread + 1, thread } })
  }
} else {
  const flake = new Snowflake({ worker: { first: 0, last: 31 }, name: 'orders' })
  const oneByOne = n => Array.from({ length: n }, flake.next)
  await makeOrders(workerData, workerData.thread % 2 ? flake.take : oneByOne)
  flake.close()
}

async function makeOrders({ count, seed }, ids) {
  const below = random(seed)
  for (let done = 0; done < count; done += BATCH) {
    let lines = ''
    for (const id of ids(Math.min(BATCH, count - done))) {
      const customer = String(1 + below(200) * below(200)).padStart(5, '0')
      const amountCents = PRICES[below(8)] * (1 + below(4))
      lines += `${process.pid}\t${id}\tC-${customer}\t${amountCents}\t${Date.now()}\n`
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
