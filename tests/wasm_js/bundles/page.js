import { Snowflake, decode } from 'leafid/wasm'

const flake = await Snowflake.open({ worker: 7, exclusiveRange: true })
const ids = [...flake.take(10)].map(String)
globalThis.shown = { ids, workerId: decode(ids[0]).workerId }
