# The C library. Targets: c-lib, install, test-c, test-install, check-c, header, test-c-valgrind. Staged in build/c.
#
#   make install PREFIX=/usr/local DESTDIR= LIBDIR=lib   LIBDIR is below PREFIX; then run ldconfig

C_TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
C_STAGE := build/c
PREFIX ?= /usr/local
LIBDIR ?= lib

.PHONY: c-lib install test-c test-install check-c header test-c-valgrind

# Not `cargo build`: for a crate that is a Rust library too, cargo leaves link-time optimisation out, without a word.
c-lib:
	@echo "== building leafid for C"
	@cargo rustc --release --quiet --package leafid-c --lib --crate-type cdylib,staticlib
	@sh bindings/c/stage.sh $(C_TARGET_DIR)/release/libleafid_c.so $(C_TARGET_DIR)/release/libleafid_c.a $(C_STAGE)

# What `make c-lib` built: so that root needs no Rust.
install:
	@[ -e $(C_STAGE)/lib/libleafid.a ] || $(MAKE) --no-print-directory c-lib
	@sh bindings/c/stage.sh $(C_STAGE)/lib/libleafid.so $(C_STAGE)/lib/libleafid.a "$(DESTDIR)$(PREFIX)" "$(LIBDIR)"

# Writes include/leafid.h and include/leafid_core.h from their crates.
header:
	LEAFID_UPDATE_HEADER=1 cargo test --quiet --package leafid-c --test header
	LEAFID_UPDATE_HEADER=1 cargo test --quiet --package leafid-core-c --test header

# The header compiles on its own, and names what the library exports. `make test-rust` sees that it is the generated one.
check-c: c-lib
	python3 tests/c/exports.py $(C_STAGE)

test-c: check-c test-install
	@$(retries) c python3 tests/c/run.py $(C_STAGE) build/c-tests

# Programs of users, by pkg-config and CMake, with what `make install` lays into empty folders.
test-install: c-lib
	@python3 tests/c/install.py

test-c-valgrind: c-lib
	python3 tests/c/run.py $(C_STAGE) build/c-tests-valgrind --valgrind
