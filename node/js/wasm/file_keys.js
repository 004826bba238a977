// The keys of files in stores that have no directories. A record's has no ending.

const ENDING = '.state'

export const keyOf = (name, file) => `${name}/${file.endsWith(ENDING) ? file.slice(0, -ENDING.length) : file}`

export function nameOf(name, key) {
  const file = key.slice(name.length + 1)
  return file.startsWith('worker-') ? file + ENDING : file
}
