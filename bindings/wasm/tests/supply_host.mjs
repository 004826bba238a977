// A host of a supply on a clock of the test's own: it hands the calls to the test, which ends them.

import { Module } from './module.mjs'

export const module = new Module()
export const USED_UP = -103
export const [HTTP, LIST, READ, UPDATE, FETCH] = [5, 8, 9, 11, 13]
const [ABANDON, WAKE, LOG] = [1, 2, 3]
const { exports } = module

/** The texts of the output, as a list. */
export const list = () => module.list()

let names = 0
export const callback = { fetch: { callback: true } }
/** Options of a supply that shares no mark with another one. */
export const alone = more => ({ name: `n${++names}`, persist: false, adaptive: false, step: 10, ...more })

export class Host {
  now = 1_000
  /** The handles of calls that need not end, the tags whose lines are woken, and the lines of the log. */
  abandoned = []
  woken = []
  log = []

  constructor(options, place = '') {
    this.supply = module.ok(exports.supply_new(...module.input(JSON.stringify(options)), 0n))
    this.opened = [module.numbers(2), module.text()]
    module.ok(exports.supply_place(this.supply, ...module.input(place)))
  }

  call(name, ...given) {
    return module.ok(exports[`supply_${name}`](this.supply, ...given, this.now))
  }

  /** Calls an export that both machines have. */
  drive(name, ...given) {
    return module.ok(exports[name](this.supply, ...given, 0, this.now))
  }

  tag(name) {
    return module.ok(exports.supply_tag(this.supply, ...module.input(name)))
  }

  /** The calls that can be carried out now: `{ handle, kind, numbers, texts }` each. */
  calls() {
    const calls = []
    for (let handle; (handle = this.drive('next_call')) !== 0; ) {
      const kind = module.ok(exports.call_request(handle, 0n, 7n))
      calls.push({ handle, kind, numbers: module.numbers(4), texts: list() })
    }
    for (let kind; (kind = this.drive('next_notice')) !== 0; ) {
      const [number] = module.numbers(1)
      if (kind === ABANDON) this.abandoned.push(number)
      if (kind === WAKE) this.woken.push(number)
      if (kind === LOG) this.log.push([number, module.text()])
    }
    return calls
  }

  /** The one call that can be carried out. */
  one() {
    const calls = this.calls()
    if (calls.length !== 1) throw new Error(`${calls.length} calls instead of one`)
    return calls[0]
  }

  done({ handle }) {
    this.drive('done', handle)
  }

  /** Ends a call to the user's function: by a segment, by null, or by an error `[number, text]`. */
  fetched(call, answer) {
    if (answer === null) module.ok(exports.call_end(call.handle, 1, 0, ...module.input('')))
    else if (typeof answer[0] === 'bigint') module.ok(exports.call_fetched(call.handle, ...answer))
    else module.ok(exports.call_end(call.handle, 2, answer[0], ...module.input(answer[1])))
    this.done(call)
  }

  /** Ends a request by this response. */
  responded(call, status, body, { age = null } = {}) {
    const shown = [null, age, `${new TextEncoder().encode(body).length}`, null]
    const lengths = module.input(...shown.map(text => text ?? ''), body)
    const given = lengths.map((length, at) => (at < 4 && shown[at] === null ? -1 : length))
    module.ok(exports.call_response(call.handle, status, 0, ...given))
    this.done(call)
  }

  /** Carries out the steps of a file with these bytes, or null: those that it has then. */
  steps(call, bytes) {
    let found = bytes
    if (found === null) {
      module.ok(exports.call_initial(call.handle))
      if (module.output().length > 0) found = module.output()
    }
    for (let first = 1; ; first = 0) {
      const [path, length] = found === null ? [...module.input('the mark', ''), -1] : module.input('the mark', found)
      const given = [call.handle, first, 1_700_000_000_000, 0n, 7n, path, found === null ? -1 : length]
      if (module.ok(exports.call_step(...given)) === 0) return found
      const [[at], piece] = [module.numbers(1), module.output()]
      found = found.slice()
      found.set(piece, at)
    }
  }

  /** As `steps`, and ends the call. `isDurable` false: it fails, and the file is as before. */
  file(call, bytes, isDurable = true) {
    const found = this.steps(call, bytes)
    if (isDurable) module.ok(exports.call_end(call.handle, 0, 0, ...module.input('')))
    else module.ok(exports.call_failed(call.handle, 3, 2, ...module.input('the mark', 'it is full', '')))
    this.done(call)
    return isDurable ? found : bytes
  }

  /** Ids of a run, or none. */
  run(tag, most = 0, need = 1) {
    const count = this.call('run', tag, most, need)
    return count === USED_UP ? [] : module.ids(count)
  }

  /** All of these ids. */
  take(tag, count) {
    const taken = module.ids(this.call('take', tag, count))
    while (taken.length < count) taken.push(...module.ids(module.ok(exports.supply_taken(this.supply))))
    return taken
  }

  stats(tag) {
    const count = module.ok(exports.supply_tag_stats(this.supply, tag, this.now))
    const [left, ids, step, fetching, fetches, failures, waits, waiting] = module.numbers(8)
    const [error, ...outcomes] = list()
    return { segments: module.ids(3 * count), left, ids, step, fetching, fetches, failures, waits, waiting, error, outcomes }
  }
}
