/**
 * Keeps a user callback out of the asynchronous context of the call that asks for an id: a transaction that the caller
 * has open there is not leafid's. Node, Bun, Deno and workerd have such contexts, browsers have none.
 */
const own = globalThis.AsyncLocalStorage && globalThis
// An edge runtime has it as a global, and functions of `process` that throw.
const hooks = own ?? globalThis.process?.getBuiltinModule?.('node:async_hooks')
export const outside = hooks?.AsyncLocalStorage?.snapshot?.() ?? (call => call())
