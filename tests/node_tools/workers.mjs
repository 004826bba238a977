// Four worker_threads with the same options share one generator.

import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { Snowflake } from 'leafid'

const flake = new Snowflake({ worker: { first: 0, last: 31 }, name: `workers-${process.pid}`, exclusiveRange: true })

if (isMainThread) {
  const [ids, workerIds] = [new Set(flake.take(1000)), new Set([flake.workerId])]
  const taken = Array.from({ length: 4 }, () => new Promise((done, failed) => {
    new Worker(new URL(import.meta.url)).once('message', done).once('error', failed)
  }))
  for (const { workerId, some } of await Promise.all(taken)) {
    workerIds.add(workerId)
    for (const id of some) ids.add(id)
  }
  console.log(JSON.stringify({ ids: ids.size, workerIds: workerIds.size }))
} else {
  parentPort.postMessage({ workerId: flake.workerId, some: flake.take(1000) })
}
flake.close()
