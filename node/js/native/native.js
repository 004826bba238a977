'use strict'

// The addon. A package for each platform holds it, of which npm installs the one that fits: see optionalDependencies.

const here = `${process.platform}-${process.arch}`

/** Literal requires, inside of a `try`: bundlers find the packages that are installed, and leave the others out. */
function addon(platform, failures) {
  try {
    switch (platform) {
      case 'darwin-arm64':
        return require('leafid-darwin-arm64')
      case 'darwin-x64':
        return require('leafid-darwin-x64')
      case 'linux-arm64-gnu':
        return require('leafid-linux-arm64-gnu')
      case 'linux-arm64-musl':
        return require('leafid-linux-arm64-musl')
      case 'linux-x64-gnu':
        return require('leafid-linux-x64-gnu')
      case 'linux-x64-musl':
        return require('leafid-linux-x64-musl')
      case 'win32-arm64-msvc':
        return require('leafid-win32-arm64-msvc')
      case 'win32-x64-msvc':
        return require('leafid-win32-x64-msvc')
    }
  } catch (error) {
    failures.push({ name: `leafid-${platform}`, error })
  }
}

/** Where two C libraries are possible, the addon that loads is the right one, because a query of Node takes 20 ms. */
function load() {
  const failures = []
  for (const abi of ['', '-gnu', '-musl', '-msvc']) {
    const loaded = addon(here + abi, failures)
    if (loaded) return ofThisVersion(loaded, here + abi)
  }
  throw Object.assign(new Error(explain(failures)), { code: 'ERR_LEAFID_INTERNAL', cause: failures.at(-1)?.error })
}

/** Installations that were mixed have others, whose calls would differ. */
function ofThisVersion(loaded, platform) {
  const [theirs, { version }] = [loaded.version(), require('../package.json')]
  if (theirs === version) return loaded
  const message =
    `the addon in the package leafid-${platform} is of leafid ${theirs}, and the package leafid is of ${version}: both ` +
    'must be of one version. Delete node_modules, and run `npm install`.'
  throw Object.assign(new Error(message), { code: 'ERR_LEAFID_INTERNAL' })
}

/** What is wrong, and what to do. */
function explain(failures) {
  const libc = cLibrary()
  const place = libc ? `${here} with ${libc}` : here
  if (failures.length === 0) {
    const platforms = Object.keys(require('../package.json').optionalDependencies).map(name => name.slice('leafid-'.length))
    return (
      `leafid has no addon for ${place}, only for ${platforms.join(', ')}. ` +
      'Build one from the sources of leafid: CONTRIBUTING.md describes it.'
    )
  }
  const found = failures.filter(({ error }) => !/^Cannot find (module|package) /.test(error.message))
  if (found.length > 0) {
    const reasons = found.map(({ name, error }) => `${name}: ${error.message}`).join('; ')
    return `the addon of leafid does not load on ${place}: ${reasons}`
  }
  const fitting = failures.filter(({ name }) => !libc || !/-(gnu|musl)$/.test(name) || name.endsWith(libc === 'musl' ? 'musl' : 'gnu'))
  return (
    `leafid has no addon on ${place}: the package ${fitting.map(({ name }) => name).join(' or ')} is not installed. ` +
    'Delete node_modules and run `npm install` on this platform, without --omit=optional. A bundler: install leafid ' +
    'where the bundle runs, and keep leafid out of the bundle (leafid help node).'
  )
}

function cLibrary() {
  if (process.platform !== 'linux') return undefined
  const report = process.report?.getReport()
  if (!report) return undefined
  return report.header.glibcVersionRuntime ? `glibc ${report.header.glibcVersionRuntime}` : 'musl'
}

module.exports = load()
