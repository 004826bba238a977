// workerd (Cloudflare Workers): worker ids from the storage of a Durable Object, or leased from a server.

import { durableObjectMarks, durableObjectStore } from './durable_object.js'
import { fault } from './errors.js'
import { begin } from './module.js'
import { noStore } from './no_store.js'
import { use } from './platform.js'
import { setTimeout, suspendCountingClock } from './time.js'

function store(settings) {
  if (settings.storage !== undefined) return durableObjectStore(settings)
  if (settings.leases) return noStore()
  const message =
    'an isolate has no storage of its own, and others like it would get the same worker id: use a Durable Object and ' +
    'set storage to its ctx.storage, or lease the worker id from a server'
  throw fault('invalid_argument', message)
}

/** Makes the instance of the module, which the platform compiled. */
export function useWorkerd(compiled) {
  use({
    name: 'workerd',
    // The clock stands still while JavaScript runs.
    waits: false,
    bootMs: suspendCountingClock(),
    variable: () => undefined,
    store,
    marks: durableObjectMarks,
    background: (run, ms) => setTimeout(run, ms),
    ending() {},
  })
  begin(compiled)
}
