// What a start costs: requiring the module, above an empty process; and the first id after that, beside a durable write.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { measured } from './harness.mjs'

const ROUNDS = 21
const REQUIRE = `require('node:module').createRequire(process.env.BENCH_NODE + '/')('leafid')`
// The empty process has all of it but the module.
const EMPTY = `require('node:module').createRequire(process.env.BENCH_NODE + '/')`
const FIRST = `
const { Snowflake } = ${REQUIRE}
const begun = performance.now()
new Snowflake({ worker: 1, name: process.argv[1], stateDir: process.env.BENCH_STATE }).next()
console.log(performance.now() - begun)`

export function start() {
  requires()
  firstId()
}

function run(code, ...args) {
  const begun = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', code, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return [performance.now() - begun, stdout]
}

/** Medians, of what is above and of the empty process, in turn; the first of each finds nothing in the page cache. */
function requires() {
  run(EMPTY)
  run(REQUIRE)
  const [empty, above] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    empty.push(run(EMPTY)[0])
    above.push(run(REQUIRE)[0] - empty[round])
  }
  measured('start_require', median(above), median(empty))
}

/** In a process of its own each: with a state file that is made, and with one that is there. */
function firstId() {
  const [made, found, floors] = [[], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    const name = `bench-start-node-${process.pid}-${round}`
    floors.push(durableWrite())
    made.push(Number(run(FIRST, name)[1]))
    found.push(Number(run(FIRST, name)[1]))
  }
  measured('first_id_new', median(made), median(floors))
  measured('first_id', median(found), median(floors))
}

function durableWrite() {
  const file = openSync(join(process.env.BENCH_STATE, 'durable'), 'w')
  let took = 0
  // The second one finds the file as long as it is to be, as a state file is.
  for (let turn = 0; turn < 2; turn++) {
    const begun = performance.now()
    writeSync(file, Buffer.alloc(4096), 0, 4096, 0)
    fdatasyncSync(file)
    took = performance.now() - begun
  }
  closeSync(file)
  return took
}

function median(times) {
  return times.toSorted((a, b) => a - b)[times.length >> 1]
}
