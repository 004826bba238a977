// The types of leafid/testing.

import { LeafidError, type Segments, type Snowflake, type Tag } from 'leafid'
import { FakeSegments, FakeSnowflake, type FakeSnowflakeOptions } from 'leafid/testing'

type Shape<T> = Pick<T, keyof T>

const options: FakeSnowflakeOptions = { clock: () => new Date(), workerId: 3, layout: '41|10|12', epochMs: 0 }
const flakes: Shape<Snowflake>[] = [new FakeSnowflake(), new FakeSnowflake(options)]
const given = new FakeSnowflake({ ids: [1n, '2', 3, new LeafidError('ERR_LEAFID_CLOSED', 'closed')], clock: Date.now })
const segments: Shape<Segments> = new FakeSegments({ first: 5n, ids: { order: new Set([7n]) } })
export const tag: Tag = segments.tag('order')
export const ids: bigint[] = flakes.map(flake => flake.next())
export const text: string = given.nextString()

// @ts-expect-error no such option
new FakeSnowflake({ worker: 3 })
// @ts-expect-error by tag
new FakeSegments({ ids: [1n] })
