// As call.py. It ends by itself: nothing keeps the process alive.
import { end, made } from './made.mjs'

// Of renewals; one without a token has the last one.
const tokens = []

async function call(recipe, name, ...words) {
  const [first, second, third] = words
  switch (name) {
    case 'take': {
      const taken = await recipe(first, second, BigInt(third))
      return taken && [String(taken.start), String(taken.end)]
    }
    case 'claim': {
      const lease = await recipe.claim({ instance: first, nowMs: second, untilMs: third })
      return lease && [lease.workerId, lease.fromMs, lease.untilMs, lease.token]
    }
    case 'renew':
    case 'release': {
      const renewed = await recipe[name]({ workerId: first, fromMs: 0, untilMs: 1, token: second ?? tokens.at(-1) }, third)
      if (!renewed) return null
      tokens.push(renewed.token)
      return [renewed.untilMs, new Set(tokens).size]
    }
    case 'tags':
      return recipe.createTables({ tags: first })
    case 'workers':
      return recipe.createTables({ workers: first ? { first, last: second } : second + 1 })
    case 'as given':
      return recipe.createTables({ workers: first })
    case 'check':
      return recipe.check()
  }
}

const results = []
try {
  const recipe = await made(process.argv[2])
  for (const words of JSON.parse(process.argv[3])) results.push((await call(recipe, ...words)) ?? null)
} catch (error) {
  if (error.code !== 'ERR_LEAFID_INVALID_ARGUMENT') throw error
  results.push(`refused: ${error.message}`)
}
console.log(JSON.stringify(results))
end()
