// `webpack`: the addon is copied beside the bundle. `webpack --env external`: leafid stays out of it.

const path = require('node:path')

module.exports = (env = {}) => ({
  mode: 'production',
  optimization: { minimize: false },
  target: 'node20',
  entry: './server.mjs',
  output: { path: path.resolve(env.out), filename: 'server.cjs' },
  ...(env.external
    ? { externals: { leafid: 'commonjs leafid' } }
    : {
        module: { rules: [{ test: /\.node$/, loader: 'node-loader' }] },
        // The packages of the other platforms are not installed.
        ignoreWarnings: [/Can't resolve 'leafid-/],
      }),
})
