export { decode, LeafidError, type Layout, type LayoutFields, type LeafidErrorCode, type Parts } from '../index.js'
