// What differs between the places where JavaScript runs. An entry says which one this is.
//
// A platform has
//   name                 for messages: "a browser"
//   waits                whether the clock moves while JavaScript runs, and a call may wait for it
//   bootMs()             a clock that never goes back and counts suspended time, milliseconds
//   variable(name)       of the environment, or undefined
//   store(settings)      where records are kept, and locked; throws why it cannot
//   marks(settings)      where the marks of segments are kept, a store without locks; throws why it cannot
//   background(timer)    a timer that does not keep the process alive
//   block(ms)            waits without the event loop; only where stores answer at once
//   warning(text)        shows what nobody waits for; only where a process can
//   ending(close)        has `close` called before the process or page ends; returns how to take that back
//
// A store has
//   kind                 what it is, for `run_new`
//   sync                 whether it answers at once, or by promises
//   place                for messages and for `stateDir`
//   key                  two stores with one key are one
//   others               who else may hold an id, for messages
//   lock(name, id)       locks a worker id: `release()`, and `lost`, why it is lost, or null; null if it is held
// and, if it keeps anything,
//   path(file)           for messages
//   read(file)           the bytes of a file, or null
//   update(file, change) replaces them, durably and with no other update between, by what `change` returns for them; null
//                        leaves them. It is rejected with what `change` throws, and changes nothing then
//   list(prefix)         `[file, bytes]` of all whose names begin so

let current = null

export const use = platform => void (current ??= platform)

export const platform = () => current
