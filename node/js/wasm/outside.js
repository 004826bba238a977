/**
 * Keeps a user callback out of the asynchronous context of the call that asks for an id: a transaction that the caller
 * has open there is not leafid's. Node, Bun, Deno and workerd have such contexts, browsers have none.
 */
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks')
export const outside = hooks?.AsyncLocalStorage?.snapshot?.() ?? (call => call())
