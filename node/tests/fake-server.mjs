// The fake server for servers: Leaf, tinyid, range and leases, which misbehaves on command.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { root, start } from './support.mjs'

/** A server: its `url`, its `port`, and `tell` for what it is to do. `args`: options of the program. */
export async function fakeServer(t, ...args) {
  const command = ['python3', join(root, 'tests/fake_servers/fake_server.py'), '--seconds', '900', ...args]
  const { line, child } = start(t, null, null, { command })
  const port = async name => {
    const [said, number] = (await line()).split(' ')
    assert.equal(said, name)
    return Number(number)
  }
  const [listening, control] = [await port('listening'), await port('control')]
  t.after(() => child.stdin.end())
  const tell = async command => {
    const answer = await fetch(`http://127.0.0.1:${control}/control`, { method: 'POST', body: JSON.stringify(command) })
    const said = await answer.json()
    assert.equal(said.error, undefined, JSON.stringify(said))
    return said
  }
  return { url: `http://127.0.0.1:${listening}`, port: listening, tell }
}

/** Two nodes of one Leaf, whose ids are far apart: their `urls`, and `given`, all ids that they gave. */
export async function leaf(t) {
  const nodes = [await fakeServer(t, '--leaf-worker-id', '1')]
  nodes.push(await fakeServer(t, '--leaf-worker-id', '2', '--first', '1000000001'))
  async function given(tag, mode = 'segment') {
    const all = new Set()
    let count = 0
    for (const { tell } of nodes) {
      for (const [start, end, stride] of (await tell({ do: 'given', tag, mode })).given) {
        for (let id = BigInt(start); id < BigInt(end); id += BigInt(stride)) {
          all.add(id)
          count++
        }
      }
    }
    assert.equal(all.size, count, 'the nodes gave an id twice')
    return all
  }
  return { urls: nodes.map(({ url }) => url), given }
}
