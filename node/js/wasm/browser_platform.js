// Browsers: pages, and all kinds of workers.

import { fault } from './errors.js'
import { indexedDbMarks, indexedDbStore, missing } from './indexed_db.js'
import { begin } from './module.js'
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

/** Gets the module, and makes its instance. */
export async function loadInBrowser(url) {
  const response = await fetch(url)
  if (!response.ok) {
    const message = `the WebAssembly module of leafid was not found at ${response.url}: ${response.status}; serve it there`
    throw new Error(`${message}, or import leafid/wasm/inline`)
  }
  useBrowser()
  // Not compileStreaming, which needs a Content-Type that not every server sends.
  begin(await WebAssembly.compile(await response.arrayBuffer()))
}
