# The core as WebAssembly modules.
#
#   make build OF=wasm        build/wasm/leafid.wasm, leafid-run.wasm without segments, leafid-snowflake.wasm with layouts, ids
#                    and generators alone and without messages, and leafid-public-ids.wasm
#   make test OF=wasm   their tests, in Node, without the addon
#   make test OF=wasm-python   the host in Python, on wasmtime

wasm_target := wasm32-unknown-unknown
# The modules, and their features.
wasm_modules := leafid:default leafid-run:messages,wire leafid-snowflake:granted leafid-public-ids:messages,public-ids
# Flags for the rest of the project, such as a sanitizer's, are not for this target.
wasm_cargo = env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS $(CARGO)
wasm_crate := --quiet --target $(wasm_target) -p leafid-wasm --no-default-features
# wasm-opt takes a seventh off what the compiler made.
wasm_binaryen := 132.0.0
wasm_opt := build/wasm-tools/node_modules/.bin/wasm-opt -Oz --enable-bulk-memory --enable-nontrapping-float-to-int \
    --enable-sign-ext --enable-mutable-globals

.PHONY: need/wasm made/wasm test/wasm test/wasm-python

need/wasm: need/node build/wasm-tools/binaryen-$(wasm_binaryen)
	@[ -d "$$(rustc --print target-libdir --target $(wasm_target))" ] || rustup target add $(wasm_target) || { \
	    echo "the target $(wasm_target) is missing: install Rust from https://rustup.rs" >&2; exit 1; }

build/wasm-tools/binaryen-%:
	@mkdir -p build/wasm-tools
	@cd build/wasm-tools && $(NPM) install --prefix . --loglevel=error --no-save --no-package-lock --no-audit --no-fund binaryen@$*
	@touch $@

# Each has a folder of its own: they have one file name, and each would undo the other.
made/wasm: need/wasm
	@for module in $(wasm_modules); do name=$${module%:*}; folder=build/wasm/target/$$name; \
	    $(wasm_cargo) build $(wasm_crate) --profile wasm --features $${module#*:} --target-dir $$folder || exit 1; \
	    from=$$folder/$(wasm_target)/wasm/leafid_wasm.wasm; to=build/wasm/$$name.wasm; \
	    [ "$$to" -nt "$$from" ] || $(wasm_opt) "$$from" -o "$$to" || exit 1; done

test/wasm: made/wasm
	@for module in $(wasm_modules); do \
	    $(wasm_cargo) clippy $(wasm_crate) --features $${module#*:} -- -D warnings || exit 1; done
	@LEAFID_ROOT=$(CURDIR) $(NODE) --test $(node_hang) --test-reporter=spec bindings/wasm/tests/*.test.mjs

wasm_python := build/venv-wasm

test/wasm-python: made/wasm $(wasm_python)/done
	@cd bindings/wasm/hosts/python && $(CURDIR)/$(wasm_python)/bin/python -B -m pytest -q -p no:cacheprovider -o timeout=900 ../../tests/python

$(wasm_python)/done:
	@set -- $$(python/interpreters.sh $(PYTHON) | head -n 1); test -n "$$2" && "$$2" -m venv $(wasm_python)
	@$(wasm_python)/bin/pip install --quiet --disable-pip-version-check wasmtime==50.0.1 pytest pytest-timeout
	@touch $@
