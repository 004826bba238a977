// leafid/wasm in edge runtimes: Next.js, Vercel. Their bundlers compile a module that is asked for like this, and refuse to
// compile one at run time.

import compiled from './leafid.wasm?module'
import { useEdge } from './workerd_platform.js'

useEdge(compiled)

export * from './api.js'
