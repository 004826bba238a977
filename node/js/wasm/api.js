// What every entry of leafid/wasm exports.

export { Segments } from './segments.js'
export * from './snowflake_api.js'
