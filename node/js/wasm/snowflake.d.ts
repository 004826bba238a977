export * from './index.js'

/** In `leafid/wasm`. */
export declare const Segments: undefined
