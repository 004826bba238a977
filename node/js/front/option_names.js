// The names of options: in camel case here, with underscores in the core.

const camel = name => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
export const snake = name => name.replace(/[A-Z]/g, letter => '_' + letter.toLowerCase())

/**
 * The names of options and arguments in the core's messages, which a message here has in camel case. A field that "the
 * answer has" keeps the name that the server uses.
 */
const NAMES = [
  'state_dir', 'epoch_ms', 'tick_ms', '(timestamp|worker|sequence)_bits', 'on_clock_backwards', 'max_backwards_ms',
  'on_exhausted', 'random_start', 'timeout_ms', 'timestamp_ms', 'worker_id', 'public_id', 'shared_fs', 'shared_group',
  'exclusive_range', 'no_record_wait_ms', 'request_timeout_ms', 'connect_timeout_ms', 'ca_file', 'block_size',
  'keep_unused', 'ordered_source', 'clock_source', 'start_after', 'peer_times(_ms)?', 'from_ms', 'until_ms',
  'lease_ms',
]
const OPTIONS = new RegExp(`(?<!"|\\bhas the )\\b(${NAMES.join('|')})\\b`, 'g')

/** A message of the core with these names in camel case, but not in the text of a user callback at its end. */
export function named(message, theirs = 'failed: ') {
  const at = message.indexOf(theirs)
  return at < 0 ? message.replace(OPTIONS, camel) : message.slice(0, at).replace(OPTIONS, camel) + message.slice(at)
}
