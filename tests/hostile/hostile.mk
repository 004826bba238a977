# Kills, clocks, disks, forks in the wrong place, valgrind. As root, what is missing is installed from Debian's packages;
# otherwise a test without its tool is skipped, and says so.

hostile_target := build/hostile-target
hostile_needs := tools hostile-tools c-lib python-wheel node-package hostile-programs

.PHONY: test-hostile power-cuts hosts hostile-tools hostile-programs

test-hostile: $(hostile_needs)
	@python3 tests/hostile/run.py

# Of these tests the power cuts alone, for longer.
power-cuts: $(hostile_needs)
	@SECONDS=$(or $(SECONDS),60) python3 tests/hostile/run.py --once $(if $(SEED),--seed $(SEED)) "power cuts"

# Of these tests the hosts alone, for longer; SEED repeats what befalls them.
hosts: $(hostile_needs)
	@SECONDS=$(or $(SECONDS),60) SEED=$(SEED) python3 tests/hostile/run.py --once "hosts:"

hostile-tools:
	@mkdir -p build
	@missing=; \
	for pair in valgrind:valgrind faketime:faketime strace:strace setpriv:util-linux unshare:util-linux \
	    prlimit:util-linux mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs ip:iproute2 openssl:openssl; do \
	    PATH="$$PATH:/usr/sbin:/sbin" command -v "$${pair%%:*}" >/dev/null 2>&1 || missing="$$missing $${pair##*:}"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } \
	        >build/hostile-tools.log 2>&1 || echo "could not install$$missing: see build/hostile-tools.log" >&2; \
	else \
	    echo "not root, or no apt-get: tests that need$$missing are skipped (Debian: apt install$$missing)" >&2; \
	fi

hostile-programs: c-lib build/chaos/sorter
	@mkdir -p build/hostile
	@cargo build --release --quiet --manifest-path tests/hostile/rust/Cargo.toml --target-dir $(hostile_target)
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/hostile/stall tests/hostile/c/stall.c
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/hostile/pretend tests/hostile/c/pretend.c
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/hostile/apart tests/hostile/c/apart.c
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o build/hostile/agent \
	    tests/hostile/c/agent.c tests/hostile/c/lessee.c tests/hostile/c/rounds.c tests/hostile/c/segments.c \
	    -Lbuild/c/lib -lleafid -lpthread
