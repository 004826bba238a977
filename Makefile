# leafid: `make demo` shows the main job, `make test` runs the tests; `make help` lists the rest.
# What git ignores is made below build/ and target/, but for lock files beside them and what Python packs.

.DEFAULT_GOAL := help
SHELL := /bin/sh
# Tests that panic on purpose say one line each, and at once.
export RUST_BACKTRACE := 0
# A first build takes a third less of processor time so. Who changes and builds again and again says CARGO_INCREMENTAL=1, or
# calls cargo.
export CARGO_INCREMENTAL ?= 0
# In a container a range of worker ids is refused unless this is said, and most tests have ranges of their own.
ifneq ($(shell readlink /proc/self/ns/pid),pid:[4026531836])
export LEAFID_EXCLUSIVE_RANGE := 1
endif

# Parts of a verb: made/ is of build, need/ what must be there, run/ what others call.
verbs := build test check dist bench cross sanitize
.PHONY: help demo $(verbs) clean need/few-locks

help:
	@echo "make demo          an order intake: four languages, one database, no duplicate"
	@echo "make test          the tests; make check  formatting, lints and docs: what every change must pass"
	@echo "  OF='rust c'      some of: rust c c-small c-core c-valgrind install python python-sdist frozen node node-tools"
	@echo "                   wasm wasm-js wasm-python examples tools server monitor frameworks recipes monitoring service junit java"
	@echo "                   system chaos; check OF='abi crates': version mutations c python node abi crates workflows chart"
	@echo "make build OF=c    c c-small c-core python python-sdist node java wasm server; C_FEATURES=--no-default-features"
	@echo "make install       the C library, into PREFIX=/usr/local, LIBDIR=lib below it, DESTDIR= before it"
	@echo "make header        writes the C headers; make lines  tracked lines and files of each area, SINCE=REVISION beside"
	@echo "make dist OF=c     the packages in build/dist: python node java c server; TARGETS=x86_64-unknown-linux-gnu limits"
	@echo "make cross OF=musl for other systems: glibc musl aarch64 windows windows-bindings macos; TARGETS=arm64 limits"
	@echo "make bench OF=c    speed beside floors and other libraries, PEERS=0 without: rust c python node wasm java server stores"
	@echo "                   report; check  instructions of the hot paths, UPDATE=1 commits them; sizes  of the C library"
	@echo "make simulate      the whole system under simulation, for SECONDS=60; SEED= replays a run"
	@echo "make chaos         real processes killed, stopped, forked and misled, for SECONDS=120; every id is judged"
	@echo "make power-cuts    processes on ext4 and XFS whose power is cut, for SECONDS=60, as root"
	@echo "make hosts         processes that lease worker ids on four hosts, for SECONDS=60, as root; SEED="
	@echo "make loom          interleavings in the lock-free parts; BOUNDS=small; make shuttle  of threads of segments"
	@echo "make model         every order of a few events and faults, with the real core; BOUNDS=small"
	@echo "make fuzz          arbitrary bytes, text and calls, SECONDS=10 for each; OF='answers c_calls' runs some"
	@echo "make sanitize      tests under address, behaviour and thread sanitizers; OF=c needs no nightly Rust"
	@echo "make break-rules   breaks rules, RULES='H13 N6', and sees their tests fail; make mutants  small changes, FILES="
	@echo "make demo-browser  examples/browser at http://localhost:8000"
	@echo "make clean         removes build/ and target/, and the rest that was made"

# All of it, or what OF names. What is built says itself what it needs.
$(filter-out build,$(verbs)): need/tools
$(verbs):
	@$(MAKE) --no-print-directory $(addprefix $(@:build=made)/,$(or $(OF),all))

test: need/few-locks

need/few-locks:
	@python3 tests/left_locks.py

# A short name of what guards the hot paths.
.PHONY: bench-check
bench-check: need/tools bench/check

# Cargo's profile for the packages: as they ship, but where they are only tested and shown, that of the tests of Rust, so
# that most is compiled once; link-time optimisation takes minutes. .ci/run tests the C library as it ships.
LEAFID_PROFILE ?= release
C_PROFILE ?= release
quick := demo chaos power-cuts hosts
$(quick): export LEAFID_PROFILE := dev
test/%: export LEAFID_PROFILE := dev
demo test/all: export C_PROFILE := dev
# What breaks one Python breaks most: the first is tested here, and all of them in .ci/run.
test/all: export PYTHONS ?= first
# Of Node's package the addon is tested here, and beside the modules in .ci/run, which tests those too.
test/all: export WITHOUT_WASM ?= 1
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

include bindings/c/c.mk
include python/python.mk
include node/node.mk
include java/java.mk
include bindings/wasm/wasm.mk
include examples/demo.mk
include bench/bench.mk
include server/server.mk
include tests/tests.mk
include packaging/packaging.mk

# Builds keep the processors busy and most tests sleep, so the builds run side by side, and then the tests. What a target
# prints is shown when it ends.
.PHONY: made/all made/libraries made/rust test/all test/rust run/rust-units run/rust-programs test/tools check/all hooks need/rust need/tools lines

test/all: need/tools
	@$(MAKE) --no-print-directory --jobs --output-sync=target made/rust test/tools made/libraries made/examples
	@$(MAKE) --no-print-directory --jobs --output-sync=target test/rust test/c test/c-core \
	    test/python test/node check/node test/junit
	@$(MAKE) --no-print-directory test/examples

made/libraries: made/c made/python made/node
rust_tested := -p leafid-core -p leafid -p leafid-c -p leafid-core-c

made/all: made/libraries made/server

# Each tool that is missing, and how to get it.
need/rust: tools := cargo cc
need/tools: tools := cargo cc python3 node npm
need/rust need/tools:
	@missing=0; \
	need() { case " $(tools) " in *" $$1 "*) command -v "$$1" >/dev/null 2>&1 || { \
	    echo "leafid needs $$1: $$2" >&2; missing=1; };; esac; }; \
	need cargo "install Rust 1.89 or newer, see rust-lang.org/tools/install"; \
	need cc "install a C compiler (Debian: apt install gcc)"; \
	need python3 "install Python 3.11 or newer (Debian: apt install python3 python3-venv)"; \
	need node "install Node.js 20 or newer, see nodejs.org"; \
	need npm "it comes with Node.js (Debian: apt install npm)"; \
	exit $$missing

# Features of a crate beside leafid-one-build: its dependencies are then those of the workspace, and not built again.
check/all: need/tools hooks check/version check/mutations
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@for features in "" public-ids format options wire format,options format,wire options,wire format,options,wire; do \
	    cargo clippy -p leafid-core -p leafid-one-build --quiet --no-default-features --features "$$features" -- -D warnings || exit 1; done
	cargo clippy -p leafid -p leafid-one-build --all-targets --quiet --no-default-features -- -D warnings
	@for features in cli http; do \
	    cargo clippy -p leafid -p leafid-one-build --quiet --no-default-features --features "$$features" -- -D warnings || exit 1; done
	@for crate in tests/loom tests/shuttle fuzz bench/rust bench/python/floor bench/node/floor; do \
	    cargo fmt --manifest-path $$crate/Cargo.toml --check || exit 1; done
	@python3 tests/bounds.py
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet --document-private-items

hooks:
	@[ ! -e .git ] || git config core.hooksPath .githooks

made/rust: need/tools
	@cargo test --quiet --no-run $(rust_tested)

# Cargo runs one program after another, and those of tests/ mostly wait.
test/rust: need/tools
	@$(MAKE) --no-print-directory --jobs --output-sync=target run/rust-units run/rust-programs

run/rust-programs:
	@RUST_TEST_THREADS=12 cargo test --quiet $(rust_tested) --test '*'

run/rust-units:
	@RUST_TEST_THREADS=6 cargo test --quiet $(rust_tested) --lib --bins
	@cargo test --quiet $(rust_tested) --doc
	@cargo build --quiet -p leafid-agent -p leafid-one-build
	@# With the packages above, and no others: what is built is theirs.
	@cargo test --quiet --doc -p leafid-driven -p leafid-agent -p leafid-one-build
	@python3 tests/scenarios/play.py rust $(or $(CARGO_TARGET_DIR),target)/debug/leafid-agent scenarios

# What tests are run and tested with.
test/tools: need/tools
	@$(MAKE) --no-print-directory pytest_of="tests/fake_servers tests/test_commit_msg.py tests/test_left_locks.py" run/pytest

lines:
	@python3 tests/lines.py $(SINCE)

clean:
	rm -rf build target python/LICENSE-THIRD-PARTY $(side_workspaces:=/Cargo.lock)
