// leafid/wasm in workerd (Cloudflare Workers).

import compiled from './leafid.wasm'
import { useWorkerd } from './workerd_platform.js'

useWorkerd(compiled)

export * from './api.js'
