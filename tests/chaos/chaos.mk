# Real processes, killed, stopped, forked, misled: tests/chaos/run.py tells. SECONDS=120; SEED= repeats a schedule. What
# is missing is installed from Debian's packages, as root; without it, or without namespaces, the run fails.

.PHONY: chaos chaos-programs test-chaos

chaos: tools system-tools c-lib python-wheel node-package chaos-programs test-chaos
	@timeout --kill-after=10 $$(($(or $(SECONDS),120) + 600)) \
	    python3 tests/chaos/run.py --seconds $(or $(SECONDS),120) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep)

build/chaos/sorter: tests/chaos/sorter.c
	@mkdir -p build/chaos
	@$(or $(CC),cc) -O2 -Wall -Wextra -std=gnu11 -o $@ $<

chaos-programs: c-lib build/chaos/sorter
	@mkdir -p build/system
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/apart tests/system/c/apart.c
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o build/chaos/program tests/chaos/program.c \
	    -Lbuild/c/lib -lleafid -lpthread

# What the run itself is judged by.
test-chaos: chaos-programs
	@$(MAKE) --no-print-directory pytest_of=tests/chaos pytest
