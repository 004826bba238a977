'use strict'

const { guarded, refuse } = require('./errors.js')
const native = require('./native.js')

/** As `refuse`, with the name and the value as the message shows them. */
const refuseText = (name, text, allowed) => guarded(() => native.refuse(name, text, allowed))

module.exports = { refuse, refuseText }
