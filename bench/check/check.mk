# Instructions of the hot paths, counted by callgrind, beside those of bench/instructions.toml: the same on any machine.
#
#   make bench-check             fails where a path is heavier than committed, or the C library larger than its bound
#   make bench-check UPDATE=1    writes the figures

check_build := build/bench

.PHONY: bench-check bench-check-tools

bench-check: bench-check-tools c-lib
	@python3 bindings/c/sizes.py check build/c/lib/libleafid.so http
	@command -v valgrind >/dev/null 2>&1 || exit 0; \
	mkdir -p $(check_build) && \
	cargo build --release --quiet -p leafid-bench-check && \
	cp $(or $(CARGO_TARGET_DIR),target)/release/leafid-bench-check $(check_build)/ && \
	$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o $(check_build)/check-c bench/check/paths.c \
	    -Lbuild/c/lib -lleafid -Wl,-rpath,$(CURDIR)/build/c/lib && \
	python3 bench/check/check.py $(check_build) $(if $(UPDATE),--update)

bench-check-tools:
	@command -v valgrind >/dev/null 2>&1 && exit 0; \
	mkdir -p build; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends valgrind; } \
	        >build/bench-check-tools.log 2>&1 && exit 0; \
	    echo "bench-check: skipped: could not install valgrind: see build/bench-check-tools.log" >&2; \
	else \
	    echo "bench-check: skipped: valgrind is missing, and it takes root to install it (Debian: apt install valgrind)" >&2; \
	fi
