// leafid/wasm/snowflake in Node, Bun and Deno.

import { loadInNode } from './node_platform.js'

loadInNode(new URL('./leafid-run.wasm', import.meta.url))

export * from './snowflake_api.js'
