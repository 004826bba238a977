// Orders whose ids are made in this process. ../README.md tells how to run it.
//
// Worker ids come from LEAFID_WORKER: a range of this host, `hostname:orders` in a StatefulSet, or lease servers.
import express from 'express'
import { LeafidError, Snowflake, decode, metrics } from 'leafid'

// It is claimed here: a wrong LEAFID_WORKER ends the start, and not the first request.
const flake = await Snowflake.open()
const app = express()
// A connection of a client that goes on asking would never be idle, and keep `server.close` from its end.
app.use((request, response, next) => {
  if (!server.listening) response.set('Connection', 'close')
  next()
})
app.use(express.json())

app.post('/orders', (request, response) => {
  const { item } = request.body ?? {}
  if (typeof item !== 'string') return response.status(400).json({ error: 'item is missing; send {"item": "…"}' })
  // Text, because JavaScript's numbers end at 2^53.
  response.status(201).json({ id: flake.nextString(), item })
})

app.get('/orders/:id', (request, response) => {
  const { id } = request.params
  let parts
  try {
    parts = decode(id)
  } catch (error) {
    if (!(error instanceof LeafidError)) throw error
    return response.status(404).json({ error: 'no such order' })
  }
  response.json({ id, created: parts.time.toISOString(), worker_id: parts.workerId })
})

app.get('/health', (request, response) => {
  flake.next() // Fails as an order would.
  response.json({ worker_id: flake.workerId })
})

app.get('/', (request, response) => response.sendFile('metrics.html', { root: `${import.meta.dirname}/..` }))

app.get('/metrics', (request, response) => {
  response.type('application/openmetrics-text; version=1.0.0; charset=utf-8').send(metrics())
})

app.use((error, request, response, next) => {
  if (!(error instanceof LeafidError)) return next(error)
  if (error.retry) return response.status(503).set('Retry-After', '1').json({ error: error.code })
  console.error(`no id: ${error}`)
  response.status(500).json({ error: error.code })
})

const server = app.listen(Number(process.env.PORT ?? 8000), process.env.HOST ?? '127.0.0.1')
// A clean end: what runs is answered, and the next start has no gap.
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    server.close(() => flake.close())
    server.closeIdleConnections()
  })
}
