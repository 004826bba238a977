# Speed. A goal that is missed is said in the table and fails nothing.
#
#   make bench         leafid in Rust, C, Python and Node, each beside its floors; BENCH_LANGS="rust c" for some
#   make bench-peers   what else could be used: installs the peers below build/peers

BENCH_LANGS ?= rust c python node

.PHONY: bench bench-peers bench-tools

bench bench-peers: bench-tools c-lib python-wheel node-package

bench-tools:
	@for tool in bash cargo cc python3 node npm; do command -v $$tool >/dev/null || { \
	    echo "$$tool is missing: Rust from https://rustup.rs, a C compiler, Python 3.11 or newer, Node.js 20 or newer" >&2; \
	    exit 1; }; done

bench:
	@bench/run.sh ours $(BENCH_LANGS)

bench-peers:
	@bench/run.sh peers $(BENCH_LANGS)
