// What the page has loaded is kept for when there is no network.

const CACHE = 'leafid-browser-example'

/** Calls when the page works offline. */
export async function offline(ready) {
  if (!('serviceWorker' in navigator)) return
  await navigator.serviceWorker.register('sw.js')
  await navigator.serviceWorker.ready
  const loaded = performance.getEntriesByType('resource').map(({ name }) => name)
  const ours = new Set([location.href.replace(/#.*/, ''), ...loaded].filter(url => url.startsWith(location.origin)))
  const cache = await caches.open(CACHE)
  await Promise.all([...ours].map(url => cache.add(url).catch(() => {})))
  if (await cache.match(new URL('./leafid/leafid.wasm', location.href))) ready()
}
