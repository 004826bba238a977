# Instructions of the hot paths, counted by callgrind, beside those of bench/instructions.toml: the same on any machine
# whose processor has AES instructions.
#
#   make bench-check             fails where a path is heavier than committed, or the C library larger than its bound
#   make bench-check UPDATE=1    writes the figures

check_build := build/bench

.PHONY: bench-check bench-check-tools

bench-check: bench-check-tools c-lib
	@python3 bindings/c/sizes.py check build/c/lib/libleafid.so http
	@command -v valgrind >/dev/null 2>&1 || exit 0; \
	mkdir -p $(check_build) && \
	cargo build --release --quiet -p leafid-bench-check -p leafid-one-build && \
	cp $(or $(CARGO_TARGET_DIR),target)/release/leafid-bench-check $(check_build)/ && \
	$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o $(check_build)/check-c bench/check/paths.c \
	    -Lbuild/c/lib -lleafid -Wl,-rpath,$(CURDIR)/build/c/lib && \
	python3 bench/check/check.py $(check_build) $(if $(UPDATE),--update)

bench-check-tools:
	@sh tests/debian.sh valgrind:valgrind || echo "bench-check: skipped" >&2
