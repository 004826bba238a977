# The npm package: built, packed, installed where demos and benches find it, tested as packed.
#
#   make build OF=node     the packages leafid and leafid-PLATFORM in build/node/*.tgz, installed into build/node/
#   make test OF=node        the tests, against the packages installed into build/node-test/
#   make check OF=node       index.d.ts under tsc --strict, and the program compiled against it, run
#   make test OF=node-tools  leafid under test runners, bundlers, Next.js, Yarn and pnpm (docs/NODE.md); publint and attw
#   make test OF=wasm-js     leafid/wasm in browsers, Bun, Deno, workerd, and Node without the addon

CARGO ?= cargo
NODE ?= node
NPM ?= npm

node_test := build/node-test
# The bound of each test, as HANG of node/tests/support.mjs.
node_hang := --test-timeout=900000
# What tests in Chromium need, and run in.
browser_programs := chromium:chromium unshare:util-linux ip:iproute2
alone := sh $(CURDIR)/tests/alone.sh
node_typescript := 7.0.2
node_addon = $(if $(WITHOUT_WASM),--without-wasm)

.PHONY: need/node made/node made/node-test test/node check/node test/node-tools test/wasm-js made/wasm-js

need/node: need/tools
	@$(NODE) -e 'if (+process.versions.node.split(".")[0] < 20) { console.error(`node $${process.version} is too old: install Node.js 20 or newer from https://nodejs.org`); process.exit(1) }'

# WITHOUT_WASM=1: the addon alone, for the demo and what `make test` runs, which load no module. The modules take longer to
# build than the rest of it.
made/node: need/node $(if $(WITHOUT_WASM),,made/wasm) build/LICENSE-THIRD-PARTY
	@echo "== building leafid for Node"
	@$(CARGO) build --profile $(LEAFID_PROFILE) --quiet -p leafid-node
	@$(NODE) node/tools/package.mjs build/node here=$(built) build/node $(node_addon)

made/node-test: made/node
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(node_test) $(node_addon)

test/node: made/node-test
	@rm -rf $(node_test)/tests && cp -R node/tests $(node_test)/tests
	@cd $(node_test) && LEAFID_ROOT=$(CURDIR) $(NODE) --test $(node_hang) --test-concurrency=4 --test-reporter=spec tests/*.test.mjs tests/*.test.cjs
	@LEAFID_PROJECT=$(CURDIR)/$(node_test) python3 tests/scenarios/play.py node $(NODE) tests/agents/node/scenarios.mjs

check/node: made/node-test build/node-typescript/node_modules/typescript-$(node_typescript)
	@rm -rf $(node_test)/types && cp -R node/types-test $(node_test)/types
	@cd $(node_test)/types && for file in usage.ts module.mts refused.ts; do \
	    sed "s#from 'leafid'#from 'leafid/wasm'#" $$file >wasm-$${file%.*}.mts; done
	@cd $(node_test)/types && $(NODE) ../../node-typescript/node_modules/typescript/bin/tsc -p tsconfig.json && $(NODE) out/usage.js
	@echo "index.d.ts: tsc --strict clean, the compiled program ran"

build/node-typescript/node_modules/typescript-$(node_typescript):
	@mkdir -p build/node-typescript && echo '{ "private": true }' >build/node-typescript/package.json
	@cd build/node-typescript && $(NPM) install --loglevel=error --no-save --no-package-lock --no-audit --no-fund typescript@$(node_typescript)
	@touch $@

# Node looks for packages in the folders above: the tools lie above the project in which leafid is installed. Next.js looks
# for what it may load up to the folder with the lock file.
node_recipes := build/node-tools

test/node-tools: made/node $(node_recipes)/installed
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(node_recipes)/project
	@cp -R tests/node_tools/. $(node_recipes)/project/ && rm $(node_recipes)/project/package.json
	@mkdir -p $(node_recipes)/project/page $(node_recipes)/project/node
	@python3 tests/blocks.py docs/TESTING.md $(node_recipes)/project/page
	@python3 tests/blocks.py docs/NODE.md $(node_recipes)/project/next
	@cp node/tests/support.mjs node/tests/fake-server.mjs $(node_recipes)/project/node/
	@cd $(node_recipes)/project && LEAFID_ROOT=$(CURDIR) LEAFID_TARBALL=$$(ls $(CURDIR)/build/node/leafid-[0-9]*.tgz) \
	    $(NODE) --test $(node_hang) --test-concurrency=2 --test-reporter=spec *.test.mjs

$(node_recipes)/installed: tests/node_tools/package.json
	@mkdir -p $(node_recipes) && cp $< $(node_recipes)/
	@cd $(node_recipes) && $(NPM) install --loglevel=error --no-audit --no-fund
	@touch $@

# leafid/wasm in browsers, Bun, Deno, workerd, and Node without the addon.
wasm_js := build/wasm-js
# Node's own tests, with leafid/wasm as the package leafid.
wasm_js_same := $(wasm_js)/project/same
same_tests := counter support fake-server vectors vectors.test arguments.test waiting.test segments.test segment-waits.test \
    segment-callbacks.test segment-servers.test leaf-servers.test lease_source leases.test worker-sources.test \
    source-ends.test openings.test clock-options.test lease-servers.test public-ids.test fake-time.test \
    buffers.test option-vectors.test secrets.test

# The tests of worker ids, with the entries of leafid/wasm/snowflake as those of leafid/wasm.
wasm_js_snowflake := $(wasm_js)/snowflake

made/wasm-js: made/node $(wasm_js)/installed
	@sh tests/debian.sh $(browser_programs) python3:python3
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(wasm_js)/project
	@cp -R tests/wasm_js/. $(wasm_js)/project/ && rm $(wasm_js)/project/package.json
	@mkdir -p $(wasm_js)/project/node && cp node/tests/support.mjs node/tests/fake-server.mjs node/tests/vectors.mjs $(wasm_js)/project/node/

test/wasm-js: made/wasm-js
	@mkdir -p $(wasm_js_same)/node_modules/leafid && cp $(same_tests:%=node/tests/%.mjs) $(wasm_js_same)/
	@echo '{ "type": "module", "exports": "./index.js" }' >$(wasm_js_same)/node_modules/leafid/package.json
	@for entry in node public-ids; do \
	    echo "export * from '../../../node_modules/leafid/wasm/$$entry.js'"; done >$(wasm_js_same)/node_modules/leafid/index.js
	@cd $(wasm_js)/project && LEAFID_ROOT=$(CURDIR) \
	    $(alone) $(NODE) --test $(node_hang) --test-concurrency=2 --test-reporter=spec *.test.mjs
	@rm -rf $(wasm_js_snowflake) && cp -R $(wasm_js)/project $(wasm_js_snowflake)
	@cd $(wasm_js_snowflake)/node_modules/leafid/wasm && for platform in browser node workerd; do \
	    cp snowflake_$$platform.js $$platform.js || exit 1; done
	@cd $(wasm_js_snowflake) && LEAFID_ROOT=$(CURDIR) $(alone) $(NODE) --test $(node_hang) --test-concurrency=2 --test-reporter=spec \
	    browser.test.mjs leases.test.mjs workerd.test.mjs
	@cd $(wasm_js_same) && LEAFID_ROOT=$(CURDIR) LEAFID_WASM=1 \
	    $(NODE) --expose-gc --test $(node_hang) --test-concurrency=4 --test-reporter=spec *.test.mjs
	@LEAFID_ENTRY=leafid/wasm LEAFID_PROJECT=$(CURDIR)/$(wasm_js)/project \
	    python3 tests/scenarios/play.py wasm $(NODE) tests/agents/node/scenarios.mjs

$(wasm_js)/installed: tests/wasm_js/package.json
	@mkdir -p $(wasm_js) && cp $< $(wasm_js)/
	@cd $(wasm_js) && $(NPM) install --loglevel=error --no-package-lock --no-audit --no-fund
	@touch $@
