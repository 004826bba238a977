// Segments from a table of your own: the one of database_segments.py, which both may use at the same time.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Segments } from 'leafid'

/** About `step` numbers that were never given before; null for a tag that there is not. */
async function fetch(tag, step, after) {
  // One statement, and so one transaction. It is over when the promise is, before any of the numbers is issued.
  const take = 'UPDATE leaf_alloc SET max_id = max(max_id, ?) + ? WHERE biz_tag = ? RETURNING max_id'
  const [row] = await query(take, [Number(after), Number(step), tag])
  return row ? { start: row[0] - Number(step), end: row[0] } : null
}

/** The rows of a statement. It stands for the query of your database's package, which the example does without. */
async function query(statement, values) {
  const run = `import json, sqlite3, sys
db = sqlite3.connect("numbers.db", isolation_level=None)
print(json.dumps(db.execute(sys.argv[1], json.loads(sys.argv[2])).fetchall()))`
  const { stdout } = await promisify(execFile)('python3', ['-c', run, statement, JSON.stringify(values)])
  return JSON.parse(stdout)
}

const segments = new Segments({ fetch, name: 'orders' })
const order = segments.tag('order')
console.log(`order number ${await order.next()}, then [${(await order.take(3)).join(', ')}]`)
segments.close()
