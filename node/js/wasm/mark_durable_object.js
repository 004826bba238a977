// Marks in the storage of a Durable Object.

import { durableObjectFiles } from './durable_object.js'
import { fault } from './errors.js'

export function durableObjectMarks({ name, stateDir, storage }) {
  if (storage === undefined && stateDir === undefined) {
    const message =
      'an isolate has no storage of its own for marks: set storage to ctx.storage of a Durable Object; or set ' +
      'persist: false, and then only this isolate notices a source that repeats itself'
    throw fault('invalid_argument', message)
  }
  return durableObjectFiles(name, storage, stateDir, 'marks')
}
