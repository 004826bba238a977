// The network first, so that a new version is seen; without one, what was kept.

const CACHE = 'leafid-browser-example'

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()))
self.addEventListener('fetch', event => {
  const { request } = event
  const { origin, search } = new URL(request.url)
  // Only files are kept. A request for ids has a query, and may never be answered twice.
  if (request.method !== 'GET' || origin !== self.location.origin || search) return
  event.respondWith(answer(request))
})

async function answer(request) {
  try {
    const response = await fetch(request)
    if (response.ok) {
      const cache = await caches.open(CACHE)
      await cache.put(request, response.clone())
    }
    return response
  } catch (error) {
    const kept = await caches.match(request)
    if (kept) return kept
    throw error
  }
}
