// The layouts with a name, as the core has them: decode.test.mjs compares.

export const ORDERS = ['worker-sequence', 'sequence-worker']

const preset = (epochMs, tickMs, timestampBits, workerBits, sequenceBits, order = ORDERS[0]) => {
  return { timestampBits, workerBits, sequenceBits, epochMs, tickMs, order }
}

export const LEAF = preset(1288834974657, 1, 41, 10, 12)
export const PRESETS = {
  leaf: LEAF,
  'uid-generator': preset(1463673600000, 1000, 28, 22, 13),
  yitter: preset(1582136402000, 1, 51, 6, 6),
  sonyflake: preset(1409529600000, 10, 39, 16, 8, ORDERS[1]),
  'js-safe': preset(1288834974657, 1, 41, 3, 9),
}
