# The C library, staged in build/c.
#
#   make build OF=c                   C_FEATURES=--no-default-features leaves HTTP out
#   make build OF=c-small                 the smallest one, in build/c-small: docs/ABI.md says what it gives up; C_FEATURES as above
#   make test OF=c-small            its tests, and whether it is within its bounds, with and without HTTP
#   make install                 PREFIX=/usr/local DESTDIR= LIBDIR=lib; LIBDIR is below PREFIX. Then run ldconfig
#   make test OF=c                  check OF=c, test OF=install and the tests in C and C++; OF=c-valgrind
#   make header                  writes the headers
#   make check OF=abi               what programs were built with still holds, since the last release
#   make bench OF=sizes                 what each part of the library costs, with and without HTTP, and whether it is within its
#                                bound; UPDATE=1 writes the table of docs/ABI.md

C_STAGE := build/c
c_built = $(or $(CARGO_TARGET_DIR),target)/$(C_PROFILE:dev=debug)
C_SHARED := $(if $(filter Darwin,$(shell uname -s)),dylib,so)
PREFIX ?= /usr/local
LIBDIR ?= lib

.PHONY: made/c made/c-small test/c-small install test/c test/install check/c check/abi bench/sizes header test/c-valgrind

# With link-time optimisation not `cargo build`: for a crate that is a Rust library too, it leaves that out, without a word.
made/c: need/rust
	@echo "== building leafid for C"
	@$(if $(filter dev,$(C_PROFILE)),cargo build,cargo rustc) --profile $(C_PROFILE) --quiet --package leafid-c $(C_FEATURES) --lib \
	    $(if $(filter dev,$(C_PROFILE)),,--crate-type cdylib,staticlib)
	@sh bindings/c/stage.sh $(c_built)/libleafid_c.$(C_SHARED) $(c_built)/libleafid_c.a $(C_STAGE)
	@echo $(C_PROFILE) >$(C_STAGE)/profile

# Rust's own library is built again, for size and without backtraces, and a panic ends the process. Both are features of
# the compiler that are not stable yet; the second variable allows them in a stable release.
made/c-small: c_small_host = $(shell rustc -vV | sed -n 's/^host: //p')
made/c-small: need/rust
	@[ -e "$$(rustc --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ] || \
	    { echo "make c-small needs the sources of Rust's library: rustup component add rust-src" >&2; exit 1; }
	@echo "== building the small leafid for C"
	@CARGO_PROFILE_RELEASE_PANIC=immediate-abort RUSTC_BOOTSTRAP=1 \
	    RUSTFLAGS="-Z unstable-options -Z location-detail=none -C force-unwind-tables=no" \
	    cargo rustc --release --quiet --target $(c_small_host) --target-dir build/c-small-target \
	    --config 'profile.release.package.leafid.opt-level="z"' --config 'profile.release.package.leafid-core.opt-level="s"' \
	    -Z build-std=std -Z build-std-features=optimize_for_size -Z panic-immediate-abort \
	    --package leafid-c $(C_FEATURES) --lib --crate-type cdylib,staticlib
	@sh bindings/c/stage.sh build/c-small-target/$(c_small_host)/release/libleafid_c.$(C_SHARED) \
	    build/c-small-target/$(c_small_host)/release/libleafid_c.a build/c-small
	@strip build/c-small/lib/libleafid.$(C_SHARED)

test/c-small:
	@$(MAKE) --no-print-directory C_FEATURES=--no-default-features made/c-small
	@python3 bindings/c/sizes.py check build/c-small/lib/libleafid.so "small, no http"
	@$(MAKE) --no-print-directory made/c-small
	@python3 bindings/c/sizes.py check build/c-small/lib/libleafid.so "small, http"
	@python3 tests/c/exports.py build/c-small
	@python3 tests/c/run.py build/c-small build/c-small-tests

# What `make build OF=c` built: so that root needs no Rust.
install:
	@grep -qsx $(C_PROFILE) $(C_STAGE)/profile || $(MAKE) --no-print-directory made/c
	@sh bindings/c/stage.sh $(C_STAGE)/lib/libleafid.$(C_SHARED) $(C_STAGE)/lib/libleafid.a "$(DESTDIR)$(PREFIX)" "$(LIBDIR)"

# Writes include/leafid.h and include/leafid_core.h from their crates.
header:
	LEAFID_UPDATE_HEADER=1 cargo test --quiet --package leafid-c --test header
	LEAFID_UPDATE_HEADER=1 cargo test --quiet --package leafid-core-c --test header

# The header compiles on its own, and names what the library exports. `make test OF=rust` sees that it is the generated one.
check/c: made/c
	python3 tests/c/exports.py $(C_STAGE)

# Without optimisation frames are larger than a small stack, and what would be installed does not ship.
test/c: check/c $(if $(filter dev,$(C_PROFILE)),,test/install)
	@$(if $(filter dev,$(C_PROFILE)),LEAFID_TEST_SKIP="ids on a stack of 16 KiB" )python3 tests/c/run.py $(C_STAGE) build/c-tests

# Programs of users, by pkg-config and CMake, with what `make install` lays into empty folders.
test/install: made/c
	@python3 tests/c/install.py

test/c-valgrind: made/c
	python3 tests/c/run.py $(C_STAGE) build/c-tests-valgrind --valgrind

check/abi:
	@sh tests/debian.sh abidiff:abigail-tools
	@python3 tests/c/abi.py

# In a folder of its own: the flag for symbols that name all crates of generic code would build everything again.
bench/sizes: sizes_dir := build/c-sizes
bench/sizes:
	@for features in "" --no-default-features; do \
	    RUSTFLAGS="-C symbol-mangling-version=v0" cargo rustc --release --quiet --target-dir $(sizes_dir) \
	        --package leafid-c $$features --lib --crate-type cdylib && \
	    cp $(sizes_dir)/release/libleafid_c.so $(sizes_dir)/$${features:+no-}http.so || exit 1; done
	@python3 bindings/c/sizes.py table $(sizes_dir)/http.so $(sizes_dir)/no-http.so $(if $(UPDATE),--update)
	@python3 bindings/c/sizes.py check $(sizes_dir)/http.so http
	@python3 bindings/c/sizes.py check $(sizes_dir)/no-http.so "no http"

# The C library of the core alone, staged in build/c-core. make build OF=c-core, make test OF=c-core.

C_CORE_TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)

.PHONY: made/c-core test/c-core

made/c-core: need/rust
	@echo "== building leafid_core for C"
	@cargo rustc --profile c-core --quiet --package leafid-core-c --lib --crate-type staticlib
	@sh bindings/c_core/stage.sh $(C_CORE_TARGET_DIR)/c-core/libleafid_core_c.a build/c-core

test/c-core: made/c-core
	@python3 tests/c_core/run.py build/c-core build/c-core-tests
