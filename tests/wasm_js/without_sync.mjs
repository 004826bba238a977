/** The storage of a Durable Object whose writes never become durable. */
export const withoutSync = storage => ({
  get: key => storage.get(key),
  put: (key, value) => storage.put(key, value),
  list: options => storage.list(options),
  transaction: steps => storage.transaction(steps),
  sync: () => Promise.reject(new Error('no disk')),
})
