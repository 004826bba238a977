# The examples. Targets:
#
#   make demo            the order intake: four languages, one database, processes and servers killed; Java is the
#                        fifth, where `make build OF=java` was run
#                        ORDERS=50000 of each process, KILL=rust is killed, KEEP=1 continues the last run's database
#   make demo-browser    examples/browser, served at http://localhost:8000
#   make test OF=examples   the quick starts of the README, the leases in C and segments from sources of one's own,
#                        each run and its output checked

CARGO ?= cargo
NODE ?= node

demo_parts := made/c made/python made/node made/server build/examples/orders-rust build/examples/orders-c \
    build/node/orders.mjs build/examples/java

.PHONY: demo demo-browser made/demo made/examples build/examples/java test/examples need/examples

# Side by side: what is installed waits for the network, and linking uses one processor.
demo: export WITHOUT_WASM := 1
demo: need/tools made/demo
	@$(MAKE) --no-print-directory --jobs --output-sync=target $(demo_parts)
	@NODE=$(NODE) build/venv/bin/python examples/orders/run.py $(if $(ORDERS),--orders $(ORDERS)) $(if $(KILL),--kill $(KILL)) \
	    $(if $(KEEP),--keep)

test/examples: made/examples
	@NODE=$(NODE) sh examples/quickstart.sh

made/examples: made/python made/node $(foreach name,quickstart segments database_segments,build/examples/$(name)-rust) \
    build/examples/quickstart-c build/examples/segments-c \
    build/examples/leases-c build/examples/database_segments-c build/node/quickstart.mjs build/node/segments.mjs \
    build/node/database_segments.mjs

# Its libraries in one call, so that they are linked side by side.
made/demo: need/tools
	@echo "== building leafid, and the demo's program in Rust"
	@$(CARGO) build --profile $(LEAFID_PROFILE) --quiet $(if $(filter dev,$(C_PROFILE)),-p leafid-c) -p leafid-node -p leafid-examples \
	    --bin orders --lib

need/examples:
	@command -v $(CARGO) >/dev/null || { echo "cargo is missing: install Rust from https://rustup.rs" >&2; exit 1; }
	@command -v $(CC) >/dev/null || { echo "$(CC) is missing: install a C compiler (Debian: apt install gcc libc6-dev)" >&2; exit 1; }

build/examples/%-rust: FORCE | need/examples
	@mkdir -p $(@D)
	@$(CARGO) build --profile $(LEAFID_PROFILE) --quiet -p leafid-examples --bin $*
	@cmp -s $(built)/$* $@ || cp $(built)/$* $@

# The library is looked for where it was linked: build/c may be staged again without linking again.
define examples_link
	@mkdir -p build/examples
	@$(CC) -O2 -Wall -Wextra -pthread -I build/c/include -o $@ $< -L build/c/lib -lleafid -Wl,-rpath,$(CURDIR)/build/c/lib
endef

build/examples/orders-c: examples/orders/orders.c include/leafid.h | need/examples made/c
	$(examples_link)

# It is not worth the time of maven.
build/examples/java:
	@rm -rf $@; \
	if [ -e build/java/classes ] && $(jdk); then \
	    mkdir -p $@ && javac -d $@ -cp build/java/classes examples/orders/Orders.java; \
	else \
	    echo "== without Java: it takes a JDK, maven and make build OF=java"; \
	fi

build/examples/quickstart-c: examples/quickstart.c include/leafid.h | need/examples made/c
	$(examples_link)

build/examples/segments-c: examples/segments.c include/leafid.h | need/examples made/c
	$(examples_link)

build/examples/database_segments-c: examples/database_segments.c include/leafid.h | need/examples made/c
	$(examples_link)

build/examples/leases-c: examples/leases.c include/leafid.h | need/examples made/c
	$(examples_link)

# Node looks for packages beside the file, so the programs run where the package is installed.
build/node/orders.mjs: examples/orders/orders.mjs | made/node
	@cp $< $@

build/node/quickstart.mjs: examples/quickstart.mjs | made/node
	@cp $< $@

build/node/segments.mjs: examples/segments.mjs | made/node
	@cp $< $@

build/node/database_segments.mjs: examples/database_segments.mjs | made/node
	@cp $< $@

# The page in examples/browser: its files, and those of leafid/wasm below leafid/.
demo-browser: made/wasm
	@rm -rf build/browser && mkdir -p build/browser && cp -R examples/browser/. build/browser/
	@cp -R node/js/wasm build/browser/leafid && cp node/js/front/*.js build/wasm/leafid.wasm build/browser/leafid/
	@echo "open http://localhost:8000"
	@cd build/browser && python3 -m http.server --bind 127.0.0.1 8000
