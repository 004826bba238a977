// ns per id of Node id generators, one JSON line per measured subject. Arguments say what to measure.
for (const part of process.argv.slice(2)) {
  if (part === 'floors') (await import('./floors.mjs')).floors()
  else if (part === 'peers') await (await import('./peers.mjs')).peers()
  else {
    const { ours, call, plainLoop, fill, footprint } = await import('./ours.mjs')
    const measure = { ours, call, loop: plainLoop, fill, footprint }[part]
    if (!measure) throw new Error(`nothing is called ${part}`)
    measure()
  }
}
