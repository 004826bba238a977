# Kills, clocks, disks, forks in the wrong place, valgrind. As root, what is missing is installed from Debian's packages;
# otherwise a test without its tool is skipped, and says so.

system_seed = $(if $(SEED),--seed $(SEED))
system_needs := tools system-tools c-lib python-wheel node-package server-program system-programs

.PHONY: test-system power-cuts hosts system-tools system-programs agents

# Most of them wait.
test-system: $(system_needs)
	@$(MAKE) --no-print-directory pytest_of="--dist=worksteal $(system_seed) tests/system" pytest_jobs=10 pytest

# Of these tests the power cuts or the hosts alone, for longer; SEED repeats what befalls them.
power-cuts hosts: system_seconds = $(or $(SECONDS),60)
power-cuts hosts: $(system_needs)
	@SECONDS=$(system_seconds) SEED=$(SEED) $(MAKE) --no-print-directory pytest_jobs=3 pytest \
	    pytest_of="-rP -o timeout=$$((900 + 2 * $(system_seconds))) $(system_seed) tests/system/$(subst -,_,$@).py"

system-tools:
	@sh tests/debian.sh valgrind:valgrind faketime:faketime strace:strace setpriv:util-linux unshare:util-linux \
	    prlimit:util-linux mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs ip:iproute2 openssl:openssl || \
	    echo "tests that need them are skipped" >&2

system-programs: agents build/chaos/sorter
	@mkdir -p build/system
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/stall tests/system/c/stall.c
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/pretend tests/system/c/pretend.c

# What makes ids and can be killed, one a language: those of Python and Node are files.
agents: c-lib
	@mkdir -p build/agents build/system
	@cargo build --profile $(LEAFID_PROFILE) --quiet -p leafid-agent
	@cmp -s $(built)/leafid-agent build/agents/rust || cp $(built)/leafid-agent build/agents/rust
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o build/agents/c tests/agents/c/*.c \
	    -Lbuild/c/lib -lleafid -lpthread
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/apart tests/system/c/apart.c
