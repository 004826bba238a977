// What differs between the places where JavaScript runs. An entry says which one this is.
//
// A platform has
//   name                 for messages: "a browser"
//   waits                whether the clock moves while JavaScript runs, and a call may wait for it
//   bootMs()             a clock that never goes back and counts suspended time, milliseconds
//   filters              whether it is one of its own, by which a leap of the wall clock is noticed
//   variable(name)       of the environment, or undefined
//   store(settings)      where records are kept, and locked; throws why it cannot
//   marks(settings)      where the marks of segments are kept: see marks.js; throws why it cannot
//   background(timer)    a timer that does not keep the process alive
//   block(ms)            waits without the event loop; only where stores answer at once
//   ending(close)        has `close` called before the process or page ends; returns how to take that back
//
// A store has
//   sync                 whether it answers at once, or by promises
//   place                for messages and for `stateDir`
//   forgets              whether records may be lost while the clock goes on
//   mayVanish            whether that may happen under a running generator, whose lock then holds nobody off: a start
//                        without a record then waits until any span that it may have is over
//   key                  two stores with one key are one
//   path(id)             what holds the record of a worker id, for messages
//   lock(id)             locks a worker id, and makes its record if it is missing; null if it is held. A lock has
//                        `file`, the record (record.js), `release()`, and `lost`: why it is lost, or null
//   peek(id)             the record's bytes without the lock, or null
//   others               who else may hold an id, for messages

let current = null

export const use = platform => void (current ??= platform)

export const platform = () => current
