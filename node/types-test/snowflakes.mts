// leafid/wasm/snowflake: the types of leafid/wasm, without segments.

import { LeafidError, Segments, Snowflake, decode } from 'leafid/wasm/snowflake'
import type { SnowflakeOptions } from 'leafid/wasm/snowflake'
import { Snowflake as Whole } from 'leafid/wasm'

const options: SnowflakeOptions = { worker: 7, exclusiveRange: true, lazy: true }
const flake: Whole = new Snowflake(options)
export const id: bigint = flake.next()
export const workerId: number = decode(id).workerId
export const absent: undefined = Segments
export const failure: Error = new LeafidError('ERR_LEAFID_INVALID_ARGUMENT', 'no worker id')
// @ts-expect-error an option of segments
new Snowflake({ fetch() {} })
