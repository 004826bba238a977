// The user callback that fetches segments.

import { segment } from './answers.js'
import { failure, outside } from './user_calls.js'

/** Asks the user callback for a segment of a tag: `[start, end, stride]`, or null. Rejected with a LeafidError. */
export async function askUser(fetch, tag, step, after) {
  try {
    const read = segment(await outside(() => fetch.call(undefined, tag, step, after)))
    return read && [read.start, read.end, read.stride]
  } catch (error) {
    throw failure(error, 'segment_unavailable', 'the fetch of a segment')
  }
}
