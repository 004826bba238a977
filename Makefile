# leafid: `make demo` shows the main job, `make test` runs the tests; `make help` lists the rest.
# All set-up is made below build/ and target/, which git ignores.

.DEFAULT_GOAL := help
SHELL := /bin/sh

.PHONY: help demo test test-hostile bench tools check test-rust docs clean
help:
	@echo "make demo          an order intake: four languages, one database, no duplicate (about a minute once built)"
	@echo "make test          formatting, lints, docs and the tests of all languages"
	@echo "make test-hostile  kills, clocks, disks, valgrind; installs what it needs from Debian's packages when root"
	@echo "make bench         speed, each figure beside its floor; make bench-peers measures other libraries too"
	@echo "make test-rust test-c test-python test-node   the tests of one language"
	@echo "make clean         removes build/ and target/"

-include bindings/c/c.mk
-include python/python.mk
-include node/node.mk
-include examples/demo.mk
-include tests/no-std/no-std.mk
-include tests/hostile/hostile.mk
-include bench/bench.mk

test: tools check test-rust test-no-std test-c test-python test-node check-node test-examples

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

check: tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	@for crate in examples tests/no-std tests/hostile/rust bench/rust bench/python/floor bench/node/floor; do \
	    cargo fmt --manifest-path $$crate/Cargo.toml --check || exit 1; done
	cargo clippy --manifest-path examples/Cargo.toml --target-dir build/examples-target --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet --document-private-items

docs: check

test-rust:
	cargo test --quiet -p leafid-core -p leafid

clean:
	rm -rf build target
