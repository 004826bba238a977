// leafid/wasm/snowflake in workerd (Cloudflare Workers).

import compiled from './leafid-run.wasm'
import { useWorkerd } from './workerd_platform.js'

useWorkerd(compiled)

export * from './snowflake_api.js'
