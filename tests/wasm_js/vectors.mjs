// The vectors that every language is held to: a check that runs wherever leafid/wasm does. Returns how many were checked;
// throws for the first that differs.

export function checkVectors({ compose, decode, firstIdAt, lastIdAt, LeafidError }, given) {
  let checked = 0
  const same = (found, wanted, what) => {
    checked++
    if (String(found) !== String(wanted)) throw new Error(`${what}: ${found} instead of ${wanted}`)
  }
  const refusedWith = (error, call, what) => {
    checked++
    try {
      call()
    } catch (found) {
      if (!(found instanceof LeafidError)) throw found
      if (found.code !== `ERR_LEAFID_${error.toUpperCase()}`) throw new Error(`${what}: ${found.code} instead of ${error}`)
      return
    }
    throw new Error(`${what}: not refused with ${error}`)
  }
  const fields = ({ epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order }) => ({
    epochMs: Number(epoch_ms),
    tickMs: tick_ms,
    timestampBits: timestamp_bits,
    workerBits: worker_bits,
    sequenceBits: sequence_bits,
    order,
  })
  const named = name => (name.includes('|') ? [fields(given.layouts[name])] : [name, fields(given.layouts[name])])
  const parts = ({ timestampMs, workerId, sequence }) => [timestampMs, workerId, sequence]

  for (const { layout, timestamp_ms, worker_id, sequence, id } of given.valid) {
    for (const each of named(layout)) {
      same(compose(Number(timestamp_ms), worker_id, sequence, each), id, `compose ${id}`)
      same(parts(decode(BigInt(id), each)), [timestamp_ms, worker_id, sequence], `decode ${id}`)
      same(parts(decode(id, each)), [timestamp_ms, worker_id, sequence], `decode '${id}'`)
    }
  }
  for (const { layout, timestamp_ms, worker_id, sequence, error } of given.refused) {
    for (const each of named(layout)) refusedWith(error, () => compose(Number(timestamp_ms), worker_id, sequence, each), 'compose')
  }
  for (const { layout, timestamp_ms, worker_id, sequence, id, floored_ms } of given.compose_floors) {
    same(compose(Number(timestamp_ms), worker_id, sequence, layout), id, 'floors')
    same(decode(id, layout).timestampMs, floored_ms, 'floored')
  }
  for (const { layout, timestamp_ms, first, last } of given.id_ranges) {
    for (const each of named(layout)) {
      same(firstIdAt(Number(timestamp_ms), each), first, 'first')
      same(lastIdAt(new Date(Number(timestamp_ms)), each), last, 'last')
    }
  }
  for (const { layout, timestamp_ms, error } of given.id_ranges_refused) {
    for (const each of named(layout)) refusedWith(error, () => firstIdAt(Number(timestamp_ms), each), 'first')
  }
  for (const { text, timestamp_ms, worker_id, sequence } of given.decode_accepted_text) {
    same(parts(decode(text)), [timestamp_ms, worker_id, sequence], text)
  }
  for (const { id, error } of [...given.decode_refused, ...given.decode_refused_counted_text]) refusedWith(error, () => decode(id), id)
  for (const { layout, id, error } of given.decode_refused_in_layout) refusedWith(error, () => decode(BigInt(id), layout), id)
  for (const text of given.layout_text.accepted) same(decode(0n, text).sequence, 0, text)
  for (const text of given.layout_text.refused) refusedWith('invalid_argument', () => decode(0n, text), text)
  return checked
}
