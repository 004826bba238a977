# The C library. Targets: c-lib, test-c, check-c, header, test-c-valgrind. Staged in build/c, which can be copied to any
# prefix: `cp -a build/c/include build/c/lib /usr/local/`.

C_TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
C_STAGE := build/c

.PHONY: c-lib test-c check-c header test-c-valgrind

# Not `cargo build`: for a crate that is a Rust library too, cargo leaves link-time optimisation out, without a word.
c-lib:
	@echo "== building leafid for C"
	@cargo rustc --release --quiet --package leafid-c --lib --crate-type cdylib,staticlib
	@sh bindings/c/stage.sh $(C_TARGET_DIR) $(C_STAGE)

# Writes include/leafid.h from the crate.
header:
	LEAFID_UPDATE_HEADER=1 cargo test --quiet --package leafid-c --test header

# The header is the generated one, compiles on its own, and names what the library exports.
check-c: c-lib
	cargo test --quiet --package leafid-c
	python3 tests/c/exports.py $(C_STAGE)

test-c: check-c
	@$(retries) c python3 tests/c/run.py $(C_STAGE) build/c-tests

test-c-valgrind: c-lib
	python3 tests/c/run.py $(C_STAGE) build/c-tests-valgrind --valgrind
