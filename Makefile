# leafid: `make demo` shows the main job, `make test` runs the tests; `make help` lists the rest.
# What git ignores is made below build/ and target/, but for lock files beside them and what Python packs.

.DEFAULT_GOAL := help
SHELL := /bin/sh
# Tests that panic on purpose say one line each, and at once.
export RUST_BACKTRACE := 0
# In a container a range of worker ids is refused unless this is said, and most tests have ranges of their own.
ifneq ($(shell readlink /proc/self/ns/pid),pid:[4026531836])
export LEAFID_EXCLUSIVE_RANGE := 1
endif

.PHONY: help demo test test-system bench tools check test-rust test-tools docs clean
help:
	@echo "make demo          an order intake: four languages, one database, no duplicate (some minutes, half of one once built)"
	@echo "make test          formatting, lints, docs and the tests of all languages"
	@echo "make test-system  kills, clocks, disks, valgrind; installs what it needs from Debian's packages when root"
	@echo "make cross-windows  the core, the host, the C library and the command line for Windows, under wine"
	@echo "make cross-windows-bindings  Node under wine, and the wheel; TARGETS=x86_64 limits"
	@echo "make cross-macos   everything for macOS, compiled and linked by zig; TARGETS=arm64 limits"
	@echo "make power-cuts SECONDS=60  processes on ext4 and XFS whose power is cut; every id is judged (as root)"
	@echo "make hosts SECONDS=60   processes that lease worker ids on four hosts, which are network namespaces (as root); SEED=…"
	@echo "make chaos SECONDS=120  real processes killed, stopped, forked and misled; every id is judged"
	@echo "make loom          the interleavings of threads in the lock-free parts, under loom (some minutes); BOUNDS=small takes one"
	@echo "make shuttle       random interleavings of the threads of segments, under shuttle (a minute); SEED=… MODEL=… replays one"
	@echo "make model         every order of a few events and faults, with the real core (ten minutes); BOUNDS=small takes three"
	@echo "make fuzz SECONDS=10  arbitrary bytes, text and calls, SECONDS for each target; TARGETS='answers c_calls' runs some"
	@echo "make sanitize      the C tests and all that has threads under address, behaviour and thread sanitizers (nightly Rust)"
	@echo "make bench         speed, each figure beside its floor and other libraries (half an hour); PEERS=0 without those"
	@echo "make bench-check   instructions of each hot path, under valgrind, beside the committed ones; UPDATE=1 commits new ones"
	@echo "make simulate      the whole system under simulation, for SECONDS=60; SEED=… replays a run"
	@echo "make test-rust test-c test-python test-node   the tests of one language"
	@echo "make test-server   the id server on SQLite, MariaDB and PostgreSQL; installs them from Debian's packages when root"
	@echo "make test-monitor  the monitor page of the id server in Chromium"
	@echo "make test-frameworks  what express, TypeORM, Django and others do to ids: docs/JAVASCRIPT.md"
	@echo "make test-recipes  the callbacks of docs/RECIPES.md on six databases, which are killed"
	@echo "make test-monitoring  metrics under prometheus_client, prom-client and OpenTelemetry; alert rules and the dashboard"
	@echo "make test-service  examples/service: both services under load, killed and stopped"
	@echo "make wasm          the core as WebAssembly modules, in build/wasm; make test-wasm runs its tests"
	@echo "make break-rules   breaks each rule in a copy of the code, and sees its tests fail"
	@echo "make mutants      tries small changes of the sources, and sees a test fail for each; FILES='core/src/snowflake/span.rs' limits"
	@echo "make test-c-core   the C library of the core alone, for embedded use"
	@echo "make c-small       the smallest C library, for which a defect is the end of the process; make test-c-small runs its tests"
	@echo "make cross         other kinds of Linux: glibc 2.17, musl, aarch64 under qemu-user; TARGETS=musl limits"
	@echo "make install       the C library, into PREFIX=/usr/local, LIBDIR=lib below it, DESTDIR= before it"
	@echo "make dist          the packages that one Linux machine can make, in build/dist; TARGETS='x86_64-unknown-linux-gnu' limits"
	@echo "make dist-server   the id server's packages: a static program and a Debian package, in build/dist"
	@echo "make check-crates  what crates.io gets: cargo package, cargo deny, the oldest Rust"
	@echo "make lines         the tracked lines and files of each area; SINCE=REVISION beside those that it had"
	@echo "make clean         removes build/ and target/, and the rest that was made"

# Cargo's profile for the packages: as they ship, but where they are only tested and shown, that of the tests of Rust, so
# that most is compiled once; link-time optimisation takes minutes. .ci/run tests the C library as it ships.
LEAFID_PROFILE ?= release
C_PROFILE ?= release
quick := test demo chaos power-cuts hosts
$(quick): export LEAFID_PROFILE := dev
test-%: export LEAFID_PROFILE := dev
demo test: export C_PROFILE := dev
built = $(or $(CARGO_TARGET_DIR),target)/$(LEAFID_PROFILE:dev=debug)

# Crates with workspaces of their own, which no artefact contains, are built of the versions that ship; what only they
# have is of the newest ones that they allow.
side_workspaces := bench fuzz tests/loom tests/shuttle
$(side_workspaces:=/Cargo.lock): %/Cargo.lock: Cargo.lock %/Cargo.toml
	@cp $< $@

# Changes with the profile.
build/profile: FORCE
	@mkdir -p build; echo $(LEAFID_PROFILE) | cmp -s - $@ || echo $(LEAFID_PROFILE) >$@
FORCE:

-include bindings/rust/simulate.mk
-include bindings/c/c.mk
-include bindings/c_core/c_core.mk
-include tests/cross/linux.mk
-include python/python.mk
-include node/node.mk
-include bindings/wasm/wasm.mk
-include examples/demo.mk
-include tests/cross/cross.mk
-include tests/system/system.mk
-include tests/chaos/chaos.mk
-include tests/loom/loom.mk
-include tests/shuttle/shuttle.mk
-include tests/model/model.mk
-include tests/sanitize/sanitize.mk
-include bench/bench.mk
-include bench/check/check.mk
-include tests/mutations/mutations.mk
-include fuzz/fuzz.mk
-include server/server.mk
-include tests/frameworks/frameworks.mk
-include tests/recipes/recipes.mk
-include tests/monitoring/monitoring.mk
-include tests/service/service.mk
-include packaging/packaging.mk

# Most tests sleep and link-time optimisation uses one processor, so the builds run side by side, and then the tests.
# What a target prints is shown when it ends.
test: tools check
	@$(MAKE) --no-print-directory --jobs --output-sync=target test-rust test-tools libraries
	@$(MAKE) --no-print-directory --jobs --output-sync=target test-c test-c-core \
	    test-python test-node
	@$(MAKE) --no-print-directory check-node test-examples

.PHONY: libraries
libraries: c-lib python-wheel node-package

# Each tool that is missing, and how to get it.
tools:
	@missing=0; \
	need() { command -v "$$1" >/dev/null 2>&1 || { echo "leafid needs $$1: $$2" >&2; missing=1; }; }; \
	need cargo "install Rust 1.89 or newer, see rust-lang.org/tools/install"; \
	need cc "install a C compiler (Debian: apt install gcc)"; \
	need python3 "install Python 3.11 or newer (Debian: apt install python3 python3-venv)"; \
	need node "install Node.js 20 or newer, see nodejs.org"; \
	need npm "it comes with Node.js (Debian: apt install npm)"; \
	exit $$missing

# Features of a crate beside leafid-one-build: its dependencies are then those of the workspace, and not built again.
check: tools hooks check-version check-mutations
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@for features in "" public-ids format options wire format,options format,wire options,wire; do \
	    cargo clippy -p leafid-core -p leafid-one-build --quiet --no-default-features --features "$$features" -- -D warnings || exit 1; done
	@for features in "" cli http; do \
	    cargo clippy -p leafid -p leafid-one-build --quiet --no-default-features --features "$$features" -- -D warnings || exit 1; done
	@for crate in tests/loom tests/shuttle fuzz bench/rust bench/python/floor bench/node/floor; do \
	    cargo fmt --manifest-path $$crate/Cargo.toml --check || exit 1; done
	@python3 tests/bounds.py
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet --document-private-items

.PHONY: hooks
hooks:
	@[ ! -e .git ] || git config core.hooksPath .githooks

docs: check

test-rust: tools
	@RUST_TEST_THREADS=6 cargo test --quiet -p leafid-core -p leafid -p leafid-c -p leafid-core-c
	@cargo test --quiet -p leafid-driven

# What tests are run and tested with.
test-tools: tools
	@$(MAKE) --no-print-directory pytest_of="tests/fake_servers tests/test_commit_msg.py" pytest

.PHONY: lines
lines:
	@python3 tests/lines.py $(SINCE)

clean:
	rm -rf build target python/LICENSE-THIRD-PARTY $(side_workspaces:=/Cargo.lock)
