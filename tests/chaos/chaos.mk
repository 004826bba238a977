# Real processes, killed, stopped, forked, misled: tests/chaos/run.py tells. SECONDS=120; SEED= repeats a schedule. What
# is missing is installed from Debian's packages, as root; without it, or without namespaces, the run fails.

.PHONY: chaos test-chaos

chaos: tools system-tools c-lib python-wheel node-package agents test-chaos
	@timeout --kill-after=10 $$(($(or $(SECONDS),120) + 600)) \
	    python3 tests/chaos/run.py --seconds $(or $(SECONDS),120) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep)

build/chaos/sorter: tests/chaos/sorter.c
	@mkdir -p build/chaos
	@$(or $(CC),cc) -O2 -Wall -Wextra -std=gnu11 -o $@ $<

# What the run itself is judged by.
test-chaos: build/chaos/sorter
	@$(MAKE) --no-print-directory pytest_of=tests/chaos pytest
