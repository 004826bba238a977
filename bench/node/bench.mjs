// ns per id of Node id generators, one JSON line per measured subject. Arguments say what to measure.
const PARTS = {
  ours: ['ours', 'ours'],
  call: ['ours', 'call'],
  loop: ['ours', 'plainLoop'],
  fill: ['ours', 'fill'],
  tags: ['tags', 'tags'],
  tag_subjects: ['tags', 'subjects'],
  footprint: ['ours', 'footprint'],
  start: ['start', 'start'],
  peers: ['peers', 'peers'],
}

for (const part of process.argv.slice(2)) {
  if (!PARTS[part]) throw new Error(`nothing is called ${part}`)
  const [module, name] = PARTS[part]
  await (await import(`./${module}.mjs`))[name]()
}
