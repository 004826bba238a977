#!/usr/bin/env node
'use strict'

// The command line. It reads and writes this process's streams itself, and so must no JavaScript here.

const { cli } = require('../lib/native.js')

process.exitCode = cli(process.argv.slice(2))
