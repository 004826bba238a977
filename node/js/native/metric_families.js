'use strict'

// The text of metrics(), read into families of samples.

/** Not before it is asked for: with leafid/wasm there may be no addon. */
const native = () => require('./native.js').metrics()

// A text may have what ends a line for JavaScript alone, such as U+2028.
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/gs
const unescaped = text => text.replace(/\\(.)/gs, (_, each) => (each === 'n' ? '\n' : each))

const FIELDS = { HELP: 'help', TYPE: 'kind', UNIT: 'unit' }

/**
 * What `metrics` tells, by default of this process, by name, also metrics without a sample. `kind` is counter, gauge or
 * histogram; the name has its unit, but no `_total`.
 */
function families(metrics = native) {
  const known = new Map()
  let last
  for (const line of metrics().split('\n')) {
    if (line === '' || line === '# EOF') continue
    const about = /^# (HELP|TYPE|UNIT) ([a-z_]+) (.*)$/.exec(line)
    if (about) {
      const [, what, name, value] = about
      if (!known.has(name)) known.set(name, { name, kind: 'gauge', help: '', unit: '', samples: [] })
      last = known.get(name)
      last[FIELDS[what]] = value
      continue
    }
    const [, name, inside = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/s.exec(line)
    const labels = {}
    for (const [, label, text] of inside.matchAll(LABEL)) labels[label] = unescaped(text)
    last.samples.push({ name, labels, value: Number(value) })
  }
  return known
}

/** Reads the families once for all questions that are asked at once, as by a scrape. */
function reader(metrics) {
  let found = null
  return name => {
    if (!found) {
      found = families(metrics)
      // What is asked later is read again.
      queueMicrotask(() => {
        found = null
      })
    }
    return found.get(name)
  }
}

module.exports = { families, reader }
