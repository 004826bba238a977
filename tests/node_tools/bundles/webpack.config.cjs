// As docs/NODE.md has it. `webpack`: the addon is copied beside the bundle. `webpack --env external`: leafid stays out of it.

const path = require('node:path')

module.exports = (env = {}) => ({
  mode: 'production',
  optimization: { minimize: false },
  entry: './server.mjs',
  output: { path: path.resolve(env.out), filename: 'server.cjs' },
  ...require(env.external ? '../next/webpack.outside.cjs' : '../next/webpack.beside.cjs'),
})
