'use strict'

module.exports = require('./native.js').limits()
