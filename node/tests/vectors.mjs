// The vectors that every language is held to: checks that run wherever leafid or leafid/wasm does. They return how many were
// checked; throw for the first that differs.

const FORMS = ['base32', 'base62']
const bytes = hex => Uint8Array.from(hex.match(/../g), byte => parseInt(byte, 16))

/** `same` and `refused` count in `checked`. */
function checks(LeafidError) {
  const all = {
    checked: 0,
    same(found, wanted, what) {
      all.checked++
      if (!Object.is(found, wanted)) throw new Error(`${what}: ${typeof found} ${found} instead of ${wanted}`)
    },
    refused(call, code, message, what) {
      let error
      try {
        call()
      } catch (found) {
        error = found
      }
      if (!(error instanceof LeafidError)) throw error ?? new Error(`${what}: not refused with ${code}`)
      all.same(error.code, `ERR_LEAFID_${code.toUpperCase()}`, what)
      if (message !== null) all.same(error.message, message, what)
    },
  }
  return all
}

/** The ways to say a number: as text, too, and as a number where it is a safe one. */
const ways = text => [BigInt(text), text, ...(Number.isSafeInteger(Number(text)) ? [Number(text)] : [])]

/** The rows of a table, of which there are some. */
function rowsOf(given, name) {
  if (!(given[name].length > 0)) throw new Error(`no ${name}`)
  return given[name]
}

/** Of leafid/wasm/public-ids, too. */
export function checkPublicIds({ PublicIds, LeafidError }, given) {
  const all = checks(LeafidError)
  const { same } = all
  const rows = name => rowsOf(given, name)
  const refused = (message, call) => all.refused(call, 'invalid_argument', message.replace(/\bpublic_id\b/, 'publicId'), message)
  const check = (ids, { id, version, public_id, ...texts }) => {
    for (const publicId of [BigInt(public_id), public_id]) same(ids.decrypt(publicId, version), BigInt(id), 'decrypt')
    for (const form of FORMS) {
      same(ids.parseId(texts[form], form), BigInt(id), 'parseId')
      same(ids.formatId(id, form) === texts[form], version === ids.version, 'formatId')
    }
    for (const each of version === ids.version ? ways(id) : []) same(ids.encrypt(each), BigInt(public_id), 'encrypt')
  }
  for (const row of rows('valid')) {
    const ids = new PublicIds(bytes(row.key), row.version)
    same(ids.version, row.version, 'version')
    check(ids, row)
  }
  const [first, second] = given.rotation.keys
  const ids = new PublicIds(bytes(first.key), first.version, { [second.version]: bytes(second.key) })
  for (const row of rowsOf(given.rotation, 'texts')) check(ids, row)
  for (const { text, form, message } of rows('texts_refused')) refused(message, () => ids.parseId(text, form))
  for (const { public_id, version, message } of rows('decrypt_refused')) {
    refused(message, () => ids.decrypt(BigInt(public_id), version))
  }
  for (const { id, message } of rows('ids_refused')) {
    refused(message, () => ids.encrypt(BigInt(id)))
    refused(message, () => ids.formatId(BigInt(id), 'base62'))
  }
  for (const row of rows('versions_refused')) refused(row.message, () => new PublicIds(bytes(first.key), row.version))
  for (const row of rows('keys_refused')) refused(row.message, () => new PublicIds(new Uint8Array(row.bytes), 0))
  return all.checked
}

export function checkVectors({ compose, decode, firstIdAt, lastIdAt, LeafidError }, given) {
  const all = checks(LeafidError)
  const { same } = all
  const rows = name => rowsOf(given, name)
  const refused = (code, call, what) => all.refused(call, code, null, what)
  const fields = ({ epoch_ms, tick_ms, timestamp_bits, worker_bits, sequence_bits, order }) => ({
    epochMs: Number(epoch_ms),
    tickMs: tick_ms,
    timestampBits: timestamp_bits,
    workerBits: worker_bits,
    sequenceBits: sequence_bits,
    order,
  })
  // The ways to say a layout: its fields and, of a preset, its name, or nothing for leaf. Bits alone mean Leaf's epoch.
  const said = name => {
    const names = name.includes('|') ? [] : name === 'leaf' ? [name, undefined, null] : [name]
    return [...names, fields(given.layouts[name])]
  }
  const isParts = ({ time, ...parts }, { timestamp_ms, worker_id, sequence }, what) => {
    const timestampMs = Number(timestamp_ms)
    same(time.getTime(), new Date(timestampMs).getTime(), what)
    const wanted = { sequence, timestampMs, workerId: worker_id }
    same(JSON.stringify(Object.entries(parts).sort()), JSON.stringify(Object.entries(wanted)), what)
  }

  for (const { layout, id, ...parts } of rows('valid')) {
    for (const each of said(layout)) {
      same(compose(Number(parts.timestamp_ms), parts.worker_id, parts.sequence, each), BigInt(id), `compose ${id}`)
      for (const way of ways(id)) isParts(decode(way, each), parts, `decode ${typeof way} ${id}`)
    }
  }
  for (const { layout, timestamp_ms, worker_id, sequence, error } of rows('refused')) {
    for (const each of said(layout)) refused(error, () => compose(Number(timestamp_ms), worker_id, sequence, each), 'compose')
  }
  for (const { layout, timestamp_ms, worker_id, sequence, id, floored_ms } of rows('compose_floors')) {
    same(compose(Number(timestamp_ms), worker_id, sequence, layout), BigInt(id), 'floors')
    same(decode(id, layout).timestampMs, Number(floored_ms), 'floored')
  }
  for (const { layout, timestamp_ms, first, last } of rows('id_ranges')) {
    for (const each of said(layout)) {
      for (const time of [Number(timestamp_ms), new Date(Number(timestamp_ms))]) {
        same(firstIdAt(time, each), BigInt(first), 'first')
        same(lastIdAt(time, each), BigInt(last), 'last')
      }
    }
  }
  for (const { layout, timestamp_ms, error } of rows('id_ranges_refused')) {
    for (const each of said(layout)) {
      for (const call of [firstIdAt, lastIdAt]) refused(error, () => call(Number(timestamp_ms), each), call.name)
    }
  }
  for (const { text, ...parts } of rows('decode_accepted_text')) isParts(decode(text), parts, text)
  for (const { id, error } of [...rows('decode_refused'), ...rows('decode_refused_counted_text')]) {
    refused(error, () => decode(id), id)
    if (/^-?[1-9][0-9]*$/.test(id)) refused(error, () => decode(BigInt(id)), id)
  }
  for (const { layout, id, error } of rows('decode_refused_in_layout')) {
    for (const way of [id, BigInt(id)]) refused(error, () => decode(way, layout), id)
  }
  for (const text of rowsOf(given.layout_text, 'accepted')) same(decode(0n, text).sequence, 0, text)
  for (const text of rowsOf(given.layout_text, 'refused')) refused('invalid_argument', () => decode(0n, text), text)
  return all.checked
}
