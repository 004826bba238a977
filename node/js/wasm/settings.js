// The checked options of a snowflake.

import { clocks } from './clock.js'
import { json, resolved } from './layouts.js'
import { random64, wasm } from './module.js'
import { variables } from './option_rules.js'
import { platform } from './platform.js'

const NO_HOST_NAMES =
  'a number, or a lease; hostname:NAME needs the native package: import leafid, without /wasm'

/** Where worker ids come from, and where nothing is stored. */
const [IDS, CALLBACK, LEASES, SERVERS, LATER] = [0, 1, 2, 3, 4]
const NOWHERE = 0

/** A host has no name here. */
function refuseHostName(given) {
  const [said, worker] = given.worker === undefined ? ['LEAFID_WORKER', platform().variable('LEAFID_WORKER')] : ['worker', given.worker]
  if (String(worker).startsWith('hostname:')) wasm().refuseText(said, `'${worker}'`, NO_HOST_NAMES)
}

/**
 * The settings of checked options. Handles in it live as long as the generator, or until `freeSettings`: `options`, and
 * `run`, which is not opened. `claims`: not of a lazy one that is made, which may have no worker yet.
 */
export function settingsOf(given, claims = true) {
  const module = wasm()
  const { storage, stateDir, ...named } = given
  const { worker, peerTimes } = given
  refuseHostName(given)
  const checked = options => module.call('options_of_run', json(options), variables(false), '')
  const options = checked(named)
  const [source, isRange, persist, lazy, asksPeers] = module.numbers(5)
  const name = module.text()
  const settings = { options, run: 0, name, source: null, peerTimes, storage, stateDir }
  Object.assign(settings, { isRange: isRange === 1, persist: persist === 1, lazy: lazy === 1 })
  try {
    const { fields, text, expiresAtMs } = resolved(options)
    Object.assign(settings, { layoutFields: fields, layoutText: text, expiresAtMs })
    if (source === LATER) {
      if (claims) checked({ ...named, lazy: false })
      return settings
    }
    settings.leases = source >= LEASES
    if (source === CALLBACK || source === LEASES) settings.source = worker
    /** Whether an opening cannot end without the event loop, and whether it calls user code. */
    settings.awaits = source === SERVERS
    settings.asks = source !== IDS || asksPeers === 1
    const store = (settings.store = platform().store(settings))
    const texts = [persist === 1 ? store.place : '', '', platform().name, '', store.others]
    const kind = persist === 1 ? store.kind : NOWHERE
    settings.run = module.call('run_new', options, kind, !store.sync, 0, ...texts, random64(), ...clocks())
  } catch (error) {
    freeSettings(settings)
    throw error
  }
  return settings
}

export const freeSettings = ({ options, run }) => wasm().free(run, options)
