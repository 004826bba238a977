// The scenarios of tests/scenarios, played against the machines of leafid.wasm on virtual time: what crosses the border.

import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { Stage } from './scenario_stage.mjs'

const folder = join(process.env.LEAFID_ROOT, 'tests/scenarios')
const read = path => readFileSync(join(folder, path), 'utf8')
const reasons = new Map(Object.entries(JSON.parse(read('wasm.json')).left_out).flatMap(([why, names]) => names.map(name => [name, why])))

for (const path of ['api', 'machine'].flatMap(kind => readdirSync(join(folder, kind)).sort().map(file => join(kind, file)))) {
  // What a number of JavaScript's cannot hold.
  const text = read(path).replace(/(?<=[[ ,:])\d{16,}(?=[\],}])/g, '"$&"')
  const { of, options: common, scenarios, calls: all } = JSON.parse(text)
  for (const { name, options, calls = all, steps } of scenarios) {
    const skip = reasons.get(name) ?? false
    reasons.delete(name)
    test(`${basename(path, '.json')}: ${name}`, { skip }, () => new Stage(of, { ...common, ...options }, calls).play(...steps).end())
  }
}

test('what is left out is there', () => assert.deepEqual([...reasons.keys()], []))
