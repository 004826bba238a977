// The core's bounds of what is checked before a call of the module.

export const defaultTimeoutMs = 2000
export const mostIds = 1 << 24
export const mostMs = 3_600_000
export const mostPrewarmed = 1000
