// leafid/wasm/snowflake in browsers: the module is the file leafid-run.wasm beside this one.

import { loadInBrowser } from './browser_platform.js'

await loadInBrowser(new URL('./leafid-run.wasm', import.meta.url))

export * from './snowflake_api.js'
