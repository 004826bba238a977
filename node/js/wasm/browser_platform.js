// Browsers: pages, and all kinds of workers.

import { fault } from './errors.js'
import { indexedDbMarks, indexedDbStore, missing } from './indexed_db.js'
import { noStore } from './no_store.js'
import { use } from './platform.js'
import { setTimeout, suspendCountingClock } from './time.js'

function store(settings) {
  const why = missing()
  if (why === null) return indexedDbStore(settings)
  if (settings.leases) return noStore()
  const message = `worker ids are not kept apart here, because ${why}; lease the worker id from a server`
  throw fault('invalid_argument', message)
}

export function useBrowser() {
  use({
    name: 'a browser',
    waits: true,
    bootMs: suspendCountingClock(),
    variable: () => undefined,
    store,
    marks: indexedDbMarks,
    background: (run, ms) => setTimeout(run, ms),
    // Nothing that a page begins at its end is sure to happen.
    ending() {},
  })
}
