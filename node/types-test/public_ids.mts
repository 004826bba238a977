// PublicIds, of the native package and of leafid/wasm/public-ids: what the types accept and what they refuse.

import { PublicIds } from 'leafid'
import { PublicIds as none } from 'leafid/wasm'
import { LeafidError, PublicIds as Wasm } from 'leafid/wasm/public-ids'

const publicIds: PublicIds = new PublicIds(new Uint8Array(16), 2, { 1: new Uint8Array(32), 3: 'env:NAME' })
const publicId: bigint = publicIds.encrypt('7')
export const id: bigint = publicIds.decrypt(publicId, publicIds.version)
export const parsed: bigint = publicIds.parseId(publicIds.formatId(id, 'base62'), 'base62')
export const absent: undefined = none
export const same: PublicIds = new Wasm('file:PATH', 2)
export const failure: Error = new LeafidError('ERR_LEAFID_INVALID_ARGUMENT', 'no key')
// @ts-expect-error a key has a version
new PublicIds(new Uint8Array(16))
// @ts-expect-error decimal texts have no version
publicIds.formatId(7, 'decimal')
// @ts-expect-error the version of the key
publicIds.decrypt(publicId)
