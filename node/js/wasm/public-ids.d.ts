export { LeafidError, type LeafidErrorCode, PublicIds } from '../index.js'
