// Isolates: workerd (Cloudflare Workers), with worker ids from the storage of a Durable Object, or leased from a server;
// edge runtimes, which have no storage.

import { durableObjectMarks, durableObjectStore } from './durable_object.js'
import { fault } from './errors.js'
import { begin } from './module.js'
import { noStore } from './no_store.js'
import { use } from './platform.js'
import { setTimeout, suspendCountingClock } from './time.js'

const OBJECT = 'use a Durable Object and set storage to its ctx.storage, or '

const store = instead => settings => {
  if (settings.storage !== undefined) return durableObjectStore(settings)
  if (settings.leases) return noStore()
  const message =
    `an isolate has no storage of its own, and others like it would get the same worker id: ${instead}lease the ` +
    'worker id from a server'
  throw fault('invalid_argument', message)
}

function useIsolate(compiled, name, variable, instead) {
  use({
    name,
    // The clock stands still while JavaScript runs.
    waits: false,
    bootMs: suspendCountingClock(),
    variable,
    store: store(instead),
    marks: durableObjectMarks,
    background: (run, ms) => setTimeout(run, ms),
    ending() {},
  })
  begin(compiled)
}

/** Makes the instance of the module, which the platform compiled. */
export const useWorkerd = compiled => useIsolate(compiled, 'workerd', () => undefined, OBJECT)

/** As `useWorkerd`, where Node's variables are. */
export const useEdge = compiled =>
  useIsolate(compiled, 'an edge runtime', name => globalThis.process?.env?.[name] || undefined, '')
