// The vectors that every language is held to: a check that runs wherever leafid/wasm does. Returns how many were checked;
// throws for the first that differs.

const FORMS = ['base32', 'base62']
const bytes = hex => Uint8Array.from(hex.match(/../g), byte => parseInt(byte, 16))

/** The same for leafid/wasm/public-ids. */
export function checkPublicIds({ PublicIds, LeafidError }, given) {
  let checked = 0
  const same = (found, wanted) => {
    checked++
    if (String(found) !== String(wanted)) throw new Error(`${found} instead of ${wanted}`)
  }
  const refused = (message, call) => {
    try {
      same(call(), message)
    } catch (error) {
      if (!(error instanceof LeafidError)) throw error
      same(error.code, 'ERR_LEAFID_INVALID_ARGUMENT')
      same(error.message, message.replace(/\bpublic_id\b/, 'publicId'))
    }
  }
  const check = (ids, { id, version, public_id, ...texts }, encrypts) => {
    same(ids.decrypt(public_id, version), id)
    for (const form of FORMS) same(ids.parseId(texts[form], form), id)
    if (!encrypts) return
    same(ids.encrypt(BigInt(id)), public_id)
    for (const form of FORMS) same(ids.formatId(id, form), texts[form])
  }
  for (const row of given.valid) check(new PublicIds(bytes(row.key), row.version), row, true)
  const [first, second] = given.rotation.keys
  const ids = new PublicIds(bytes(first.key), first.version, { [second.version]: bytes(second.key) })
  for (const row of given.rotation.texts) check(ids, row, row.version === ids.version)
  for (const { text, form, message } of given.texts_refused) refused(message, () => ids.parseId(text, form))
  for (const { public_id, version, message } of given.decrypt_refused) {
    refused(message, () => ids.decrypt(BigInt(public_id), version))
  }
  for (const { id, message } of given.ids_refused) refused(message, () => ids.encrypt(BigInt(id)))
  for (const row of given.versions_refused) refused(row.message, () => new PublicIds(bytes(first.key), row.version))
  for (const row of given.keys_refused) refused(row.message, () => new PublicIds(new Uint8Array(row.bytes), 0))
  return checked
}

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
