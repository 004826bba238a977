// A worker of the cluster of prometheus.test.mjs.

import { createRequire } from 'node:module'
import client from 'prom-client'
import { Segments, Snowflake } from 'leafid'

const { NAME: name, STATE: stateDir, WORKER } = process.env
createRequire(import.meta.url)('leafid/prometheus').register(client.register)
new client.AggregatorRegistry()
const space = { name, stateDir, timeoutMs: 60_000 }
const flake = new Snowflake({ worker: Number(WORKER), ...space })
const ids = await Segments.open(`file:${stateDir}/counters`, { create: true, tags: { order: {} }, ...space })
for (let taken = 0; taken < 7; taken++) flake.next()
const order = ids.tag('order')
await order.next()
process.send('ready')
// Both are used up to the end.
process.on('disconnect', () => [flake, order])
