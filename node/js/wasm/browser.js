// leafid/wasm in browsers: the module is the file leafid.wasm beside this one.

import { useBrowser } from './browser_platform.js'
import { begin } from './module.js'

const response = await fetch(new URL('./leafid.wasm', import.meta.url))
if (!response.ok) {
  const message =
    `leafid.wasm was not found at ${response.url}: ${response.status}; serve it there, or import leafid/wasm/inline`
  throw new Error(message)
}
useBrowser()
// Not compileStreaming, which needs a Content-Type that not every server sends.
begin(await WebAssembly.compile(await response.arrayBuffer()))

export * from './api.js'
