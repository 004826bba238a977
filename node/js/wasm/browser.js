// leafid/wasm in browsers: the module is the file leafid.wasm beside this one.

import { loadInBrowser } from './browser_platform.js'

await loadInBrowser(new URL('./leafid.wasm', import.meta.url))

export * from './api.js'
