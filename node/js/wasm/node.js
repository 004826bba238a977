// leafid/wasm in Node, Bun and Deno.

import { loadInNode } from './node_platform.js'

loadInNode(new URL('./leafid.wasm', import.meta.url))

export * from './api.js'
