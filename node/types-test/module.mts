// The same names from an ES module.

import { Snowflake, decode, type Parts } from 'leafid'
import * as leafid from 'leafid'

export const parts: Parts = decode('0')
export const make = (): Snowflake => new leafid.Snowflake({ worker: 7 })
