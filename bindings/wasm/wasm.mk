# The core as a WebAssembly module.
#
#   make wasm        build/wasm/leafid.wasm, and leafid-snowflake.wasm with layouts, ids and generators alone
#   make test-wasm   its tests, in Node, without the addon

wasm_target := wasm32-unknown-unknown
wasm_built = $(or $(CARGO_TARGET_DIR),target)/$(wasm_target)/wasm/leafid_wasm.wasm
# Flags for the rest of the project, such as a sanitizer's, are not for this target.
wasm_cargo = env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS $(CARGO)

.PHONY: wasm-tools wasm test-wasm

wasm-tools: node-tools
	@[ -d "$$(rustc --print target-libdir --target $(wasm_target))" ] || rustup target add $(wasm_target) || { \
	    echo "the target $(wasm_target) is missing: install Rust from https://rustup.rs" >&2; exit 1; }

wasm: wasm-tools
	@mkdir -p build/wasm
	@$(wasm_cargo) build --quiet --profile wasm --target $(wasm_target) -p leafid-wasm --no-default-features
	@cp $(wasm_built) build/wasm/leafid-snowflake.wasm
	@$(wasm_cargo) build --quiet --profile wasm --target $(wasm_target) -p leafid-wasm
	@cp $(wasm_built) build/wasm/leafid.wasm

test-wasm: wasm
	@$(wasm_cargo) clippy --quiet --target $(wasm_target) -p leafid-wasm -- -D warnings
	@$(wasm_cargo) clippy --quiet --target $(wasm_target) -p leafid-wasm --no-default-features -- -D warnings
	@LEAFID_ROOT=$(CURDIR) $(retries) node $(NODE) --test --test-reporter=spec bindings/wasm/tests/*.test.mjs
