# Speed. A goal that is missed is said in the table and fails nothing.
#
#   make bench             leafid in Rust, C, Python and Node, each beside its floors and its peers, which are installed
#                          below build/peers; BENCH_LANGS="rust c" for some languages, PEERS=0 without the peers,
#                          SECONDS=60 for this long a look at the tail of next under a slow source
#   make bench-report      the tables and the plots of the last run again
#   make bench-wasm        leafid/wasm in Node, beside its floors
#   make bench-server      leafid-server beside an axum handler that returns a constant
#   make bench-public-ids   public ids in Rust, under Criterion, beside AES

BENCH_LANGS ?= rust c python node
PEERS ?= 1

.PHONY: bench bench-wasm bench-server bench-report bench-public-ids bench-tools

bench: bench-tools bench/Cargo.lock c-lib python-wheel node-package
	@PEERS=$(PEERS) BENCH_SECONDS=$(SECONDS) bench/run.sh $(BENCH_LANGS)

bench-wasm: wasm
	@rm -rf build/bench/wasm && mkdir -p build/bench/wasm && cp -R node/js/wasm build/bench/wasm/
	@cp node/js/front/*.js build/wasm/leafid.wasm build/bench/wasm/wasm/
	@BENCH_LANG=wasm BENCH_PACKAGE=$(CURDIR)/build/bench/wasm \
	    node bench/wasm/bench.mjs >build/bench/wasm.jsonl
	@python3 bench/report.py build/bench

bench-server: server-tools
	@sh tests/debian.sh wrk:wrk
	@cargo build --quiet --release -p leafid-server --bins --examples
	@LEAFID_SERVER_BINARY=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/leafid-server SECONDS=$(SECONDS) \
	    python3 bench/server/bench.py

bench-tools:
	@for tool in bash cargo cc python3 node npm; do command -v $$tool >/dev/null || { \
	    echo "$$tool is missing: Rust from https://rustup.rs, a C compiler, Python 3.11 or newer, Node.js 20 or newer" >&2; \
	    exit 1; }; done

bench-report:
	@python3 bench/report.py build/bench
	@python3 bench/plots.py build/bench build/bench/plots

bench-public-ids: bench/Cargo.lock
	CARGO_TARGET_DIR=$(CURDIR)/build/bench/rust-target cargo bench --manifest-path bench/rust/Cargo.toml --bench public_ids
