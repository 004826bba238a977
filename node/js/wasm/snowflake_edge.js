// leafid/wasm/snowflake in edge runtimes: Next.js, Vercel.

import compiled from './leafid-run.wasm?module'
import { useEdge } from './workerd_platform.js'

useEdge(compiled)

export * from './snowflake_api.js'
