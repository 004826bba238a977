# Speed. A goal that is missed is said in the table and fails nothing.
#
#   make bench             leafid in Rust, C, Python and Node, each beside its floors and its peers, which are installed
#                          below build/peers; OF="rust c" for some languages, PEERS=0 without the peers,
#                          SECONDS=60 for this long a look at the tail of next under a slow source
#   make bench OF=report      the tables of the last run again
#   make bench OF=wasm        leafid/wasm in Node, beside its floors
#   make bench OF=java        the jar beside its floors and CosId, by JMH; the first id of a JVM
#   make bench OF=server      leafid-server beside an axum handler that returns a constant
#   make bench OF=stores      several on one store, of which a node is killed in the middle

BENCH_LANGS := rust c python node
PEERS ?= 1

.PHONY: bench/all $(BENCH_LANGS:%=bench/%) bench/wasm bench/java bench/server bench/stores bench/report need/bench

bench/all $(BENCH_LANGS:%=bench/%): need/bench bench/Cargo.lock made/c made/python made/node
	@PEERS=$(PEERS) BENCH_SECONDS=$(SECONDS) bench/run.sh $(if $(filter all,$(@F)),$(BENCH_LANGS),$(@F))

bench/wasm: made/wasm
	@rm -rf build/bench/wasm && mkdir -p build/bench/wasm && cp -R node/js/wasm build/bench/wasm/
	@cp node/js/front/*.js build/wasm/leafid.wasm build/bench/wasm/wasm/
	@BENCH_LANG=wasm BENCH_PACKAGE=$(CURDIR)/build/bench/wasm \
	    node bench/wasm/bench.mjs >build/bench/wasm.jsonl
	@python3 bench/report.py build/bench

bench_java := build/bench/java/classes:build/bench/java/leafid.jar
bench/java: made/java
	@mkdir -p build/bench/java && cp build/java/leafid-[0-9]*.jar build/bench/java/leafid.jar
	@mvn --quiet --batch-mode --no-transfer-progress --file bench/java/pom.xml -Dleafid.build=$(CURDIR)/build/bench/java package
	@java -cp '$(bench_java):build/bench/java/lib/*' org.openjdk.jmh.Main -foe true -f 2 -wi 3 -i 5 -w 1 -r $(or $(SECONDS),1) \
	    -rf json -rff build/bench/java/results.json >build/bench/java/jmh.log || { tail -30 build/bench/java/jmh.log; exit 1; }
	@python3 bench/java/table.py build/bench/java/results.json '$(bench_java)'

bench/server: need/server
	@sh tests/debian.sh wrk:wrk
	@cargo build --quiet --release -p leafid-server --bins --examples
	@LEAFID_SERVER_BINARY=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/leafid-server SECONDS=$(SECONDS) \
	    python3 bench/server/bench.py

bench/stores: need/server
	@PATH=$$PATH:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':') sh tests/debian.sh mariadbd:mariadb-server rsync:rsync \
	    postgres:postgresql etcd:etcd-server || echo "stores that need them are left out" >&2
	@cargo build --quiet --release -p leafid-server
	@LEAFID_SERVER_BINARY=$(abspath $(or $(CARGO_TARGET_DIR),target))/release/leafid-server SECONDS=$(SECONDS) \
	    python3 bench/server/stores.py

need/bench:
	@for tool in bash cargo cc python3 node npm; do command -v $$tool >/dev/null || { \
	    echo "$$tool is missing: Rust from https://rustup.rs, a C compiler, Python 3.11 or newer, Node.js 20 or newer" >&2; \
	    exit 1; }; done

bench/report:
	@python3 bench/report.py build/bench

# Instructions of the hot paths, counted by callgrind, beside those of bench/instructions.toml: the same on any machine
# whose processor has AES instructions.
#
#   make bench OF=check             fails where a path is heavier than committed, or the C library larger than its bound
#   make bench OF=check UPDATE=1    writes the figures

check_build := build/bench

.PHONY: bench/check need/bench-check

bench/check: need/bench-check made/c
	@python3 bindings/c/sizes.py check build/c/lib/libleafid.so http
	@command -v valgrind >/dev/null 2>&1 || exit 0; \
	mkdir -p $(check_build) && \
	cargo build --release --quiet -p leafid-bench-check -p leafid-one-build && \
	cp $(or $(CARGO_TARGET_DIR),target)/release/leafid-bench-check $(check_build)/ && \
	$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o $(check_build)/check-c bench/check/paths.c \
	    -Lbuild/c/lib -lleafid -Wl,-rpath,$(CURDIR)/build/c/lib && \
	python3 bench/check/check.py $(check_build) $(if $(UPDATE),--update)

need/bench-check:
	@sh tests/debian.sh valgrind:valgrind || echo "bench-check: skipped" >&2
